"""A conversation that is never read again: each turn is embedded, set beside earlier ones, and classified, as it comes.

    python pipelines/dialogue/dialogue.py talk/ --model converted/ < turns.txt

A line of standard input is a turn; a line of JSON on standard output answers it. `talk/` keeps the conversation: what
the model has left behind and a vector a turn in `state`, the words in `turns.jsonl`. Both are written before a turn is
answered, so that a later call, or one after a kill, goes on where the last answer was given.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

import longseq
from longseq.errors import LongseqError
from longseq.formats.table import read_table
from longseq.model import Checkpoint
from longseq.streaming import Conversation, Turn, load_snapshot, save_snapshot

WORDS = "turns.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("talk", type=Path, help="folder of the conversation; made where there is none")
    parser.add_argument("--model", required=True, help="a checkpoint of documents, as longseq convert writes it")
    parser.add_argument("--examples", type=Path, help="TSV with columns text and label: turns get a label")
    parser.add_argument("--nearest", type=natural, default=3, help="earlier turns that are told of  [default: 3]")
    parser.add_argument("--vectors", action="store_true", help="tell the vectors of the turn and of the conversation")
    options = parser.parse_args()
    try:
        answers(options)
    except (LongseqError, OSError) as error:
        sys.exit(f"dialogue.py: {error}")


def natural(text: str) -> int:
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"expected 0 or more, found {text}")
    return number


def answers(options: argparse.Namespace) -> None:
    checkpoint = longseq.load(options.model)
    label = None
    if options.examples is not None:
        # A text by itself is a conversation of one turn.
        label = by_examples(options.examples, lambda text: Conversation(checkpoint).add(text).vector)
    with Talk(options.talk, checkpoint) as talk:
        for line in sys.stdin:
            if not line.strip():
                continue
            start = time.perf_counter()
            turn = talk.add(line.rstrip("\n"))
            milliseconds = (time.perf_counter() - start) * 1000
            answer: dict[str, object] = {
                "turn": turn.number,
                "tokens": turn.tokens,
                "milliseconds": round(milliseconds, 2),
            }
            answer["nearest"] = [
                {"turn": near.number, "similarity": near.similarity, "text": talk.texts[near.number]}
                for near in talk.conversation.nearest(turn.number, options.nearest)
            ]
            if label is not None and turn.tokens:
                answer |= label(turn.vector)
            if options.vectors and turn.tokens:
                answer |= {"vector": turn.vector.tolist(), "conversation": talk.conversation.vector.tolist()}
            print(json.dumps(answer, ensure_ascii=False), flush=True)


class Talk:
    """A conversation and its words, in a folder."""

    def __init__(self, folder: Path, checkpoint: Checkpoint):
        """Raises StateError: what stands there is damaged, or of another model."""
        folder.mkdir(parents=True, exist_ok=True)
        self._state, start = folder / "state", None
        if self._state.exists():
            start = load_snapshot(self._state, checkpoint)
        self.conversation = Conversation(checkpoint, start)
        self._file = open(folder / WORDS, "a+b")  # noqa: SIM115 - closed by __exit__
        # What was written after the last state is no part of it: that turn was not answered.
        self._file.truncate(start.spools[WORDS] if start is not None else 0)
        self._file.seek(0)
        self.texts: list[str] = [json.loads(line)["text"] for line in self._file]

    def __enter__(self) -> Talk:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, text: str) -> Turn:
        turn = self.conversation.add(text)
        self.texts.append(text)
        self._file.write(json.dumps({"text": text}, ensure_ascii=False).encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())
        spools = {WORDS: self._file.tell()}
        save_snapshot(self._state, replace(self.conversation.snapshot(), spools=spools), force=True)
        return turn


def by_examples(file: Path, embed: Callable[[str], np.ndarray]) -> Callable[[np.ndarray], dict]:
    """Of a vector, the label whose examples have the mean that is most like it, and the cosines of all labels.

    Raises:
        LongseqError: no table with a text and a label in each row.
    """
    rows = [(row.cells["text"], row.cells["label"]) for row in read_table(file, {"text", "label"}).rows]
    names = sorted({name for _, name in rows})
    vectors = unit(embed(text) for text, _ in rows)
    means = unit(vectors[[of == name for _, of in rows]].mean(0) for name in names)

    def label(vector: np.ndarray) -> dict:
        cosines = means @ unit([vector])[0]
        return {"label": names[int(cosines.argmax())], "labels": dict(zip(names, cosines.tolist(), strict=True))}

    return label


def unit(vectors: Iterable[np.ndarray]) -> np.ndarray:
    found = np.stack([*vectors]).astype(np.float64)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
