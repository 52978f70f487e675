"""One more turn of a conversation whose state is kept, beside reading the conversation anew: latency.json and .md.

    LONGSEQ_DATA=/path/to/data python pipelines/dialogue/latency.py MODEL

MODEL is a checkpoint as `longseq convert` writes it. The conversation is the beginning of six novels of Jane Austen in
turns of at most 32 tokens, special ones included; the turn that follows has 32. Read anew is what came before and the
turn: as one text, in full segments, which is the least there is to do; and turn by turn. Rounds alternate, each from
the same saved state; the median counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch

import longseq
from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import Checkpoint
from longseq.streaming import Conversation

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from provenance import provenance

TURN, TOKENS, ROUNDS = 32, 4000, 9
TEXT = 1 << 16
"""Letters from which turns are made."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="of the conversation  [default: 4000]")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    if "LONGSEQ_DATA" not in os.environ:
        sys.exit("latency.py: set LONGSEQ_DATA to the data folder, the one that holds documents/")
    torch.set_num_threads(options.threads)
    checkpoint = longseq.load(options.model)
    said, turn = conversation(Path(os.environ["LONGSEQ_DATA"]), checkpoint, options.tokens)
    kept = Conversation(checkpoint)
    for text in said:
        kept.add(text)
    saved = kept.snapshot()
    ways: dict[str, Callable[[], object]] = {
        "one more turn, the state kept": lambda: Conversation(checkpoint, saved).add(turn),
        "all read anew, in full segments": lambda: Conversation(checkpoint).add(" ".join([*said, turn])),
        "all read anew, turn by turn": lambda: [*map(Conversation(checkpoint).add, [*said, turn])],
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for _ in range(options.rounds):
        for name, way in ways.items():
            start = time.perf_counter(), time.process_time()
            way()
            times[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
    config = checkpoint.config
    found = {
        "benchmark": "latency",
        "model": {
            "mixers": list(config.pattern),
            "layers": config.layers,
            "width": config.width,
            "segment": config.segment,
            "feature_map": config.feature_map,
            "sha256": checkpoint.sha256,
        },
        "conversation_tokens": kept.tokens,
        "turns": kept.turns,
        "turn_tokens": len(checkpoint.tokenizer.encode(turn)),
        "threads": options.threads,
        "rounds": options.rounds,
        "rows": [row(name, times[name]) for name in ways],
        "provenance": provenance(),
    }
    write_json(options.out, found, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(found), encoding="utf-8")


def conversation(data: Path, checkpoint: Checkpoint, tokens: int) -> tuple[list[str], str]:
    """Turns of at most 32 tokens, so many in all, and one of 32 that follows."""
    text, turns, total, held = "", [], 0, []
    with longseq.read(data / "documents" / "austen_6_novels.txt.gz", kind="document") as reading:
        for piece in next(iter(reading)).pieces:
            text += piece
            if len(text) >= TEXT:
                break
    for word in text[:TEXT].split():
        length = len(checkpoint.tokenizer.encode(" ".join([*held, word])))
        if length <= TURN:
            held.append(word)
            continue
        text, held = " ".join(held), [word]
        if (own := len(checkpoint.tokenizer.encode(text))) == TURN and total >= tokens:
            return turns, text
        if total < tokens:
            turns.append(text)
            total += own
    sys.exit(f"latency.py: the text has fewer than {tokens:,} tokens")


def row(name: str, times: list[tuple[float, float]]) -> dict:
    seconds, processor = zip(*times, strict=True)
    return {
        "name": name,
        "milliseconds": 1000 * statistics.median(seconds),
        "fastest": 1000 * min(seconds),
        "slowest": 1000 * max(seconds),
        "processor_milliseconds": 1000 * statistics.median(processor),
    }


def markdown(found: dict) -> str:
    rows, model, origin = found["rows"], found["model"], found["provenance"]
    cells = [
        [
            line["name"],
            f"{line['milliseconds']:.1f} ({line['fastest']:.1f} to {line['slowest']:.1f})",
            f"{line['processor_milliseconds']:.1f}",
            *(f"{100 * rows[0][key] / line[key]:.1f} %" for key in ("milliseconds", "processor_milliseconds")),
        ]
        for line in rows
    ]
    columns = ["read", "ms", "ms of processor", "the state kept takes of it", "of its processor time"]
    return "\n\n".join(
        [
            "# One more turn of a conversation",
            f"A turn of {found['turn_tokens']} tokens after {found['turns']} turns of {found['conversation_tokens']:,} "
            f"tokens. {', '.join(model['mixers'])}, {model['layers']} layers of {model['width']} channels, segments of "
            f"{model['segment']} tokens, threads: {found['threads']}. Medians of {found['rounds']} rounds, "
            "least and most in brackets.",
            table(columns, cells).rstrip("\n"),
            f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, load {origin['load']:.1f}, "
            f"{origin['time']}.\n",
        ]
    )


if __name__ == "__main__":
    main()
