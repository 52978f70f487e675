"""What the documents that were held out cost a character, by kind: measure.py MODEL DATA OUT.json CARD.md.

DATA is the folder that training_data.py filled. Beside the model, whose state is carried over each document, stand
frequencies of tokens and mixtures of their orders one and two (Witten and Bell 1991), learned from the same documents.
The figures go to OUT.json, and as a table to the end of the model card.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table
from longseq.model import Checkpoint, load
from longseq.tokens.stream import StreamTokenizer

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))
from provenance import provenance

SECTION = "## Measured"
CHUNK = 2048
KINDS = {"articles": "articles, English", "novels": "novels, English", "poems": "poems, Chinese"}


def main() -> None:
    if len(sys.argv) != 5:
        sys.exit("usage: measure.py MODEL DATA OUT.json CARD.md")
    model, data, out, card = sys.argv[1:]
    torch.set_num_threads(1)
    checkpoint = load(model)
    orders, bits = Orders(checkpoint), dict[str, Counter]()
    for _, ids, _ in documents(Path(data) / "train.jsonl", checkpoint):
        orders.learn(ids)
    for kind, ids, letters in documents(Path(data) / "held_out.jsonl", checkpoint):
        found = {"documents": 1, "letters": letters, "tokens": len(ids), "model": cost(checkpoint, ids)}
        bits.setdefault(kind, Counter()).update(found | orders.cost(ids))
    names = ("model", "order0", "order1", "order2")
    rows = [
        {"kind": kind, "documents": found["documents"], "letters": found["letters"], "tokens": found["tokens"]}
        | {name: found[name] / found["letters"] for name in names}
        for kind, found in bits.items()
    ]
    result = {"model": {"sha256": checkpoint.sha256, "parameters": checkpoint.parameters}, "rows": rows}
    write_json(Path(out), result | {"provenance": provenance()}, force=True)
    facts = Path(card).read_text(encoding="utf-8").partition(SECTION)[0].rstrip("\n")
    with write_aside(card, force=True) as aside:
        aside.write_text(f"{facts}\n\n{SECTION}\n\n{described(rows)}\n", encoding="utf-8")


def documents(path: Path, checkpoint: Checkpoint) -> Iterator[tuple[str, np.ndarray, int]]:
    assert isinstance(checkpoint.tokenizer, StreamTokenizer)
    for line in path.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        yield row["kind"], checkpoint.tokenizer.encode(row["text"]).astype(np.int64), len(row["text"])


def cost(checkpoint: Checkpoint, ids: np.ndarray) -> float:
    """Bits of a document, its state carried."""
    model, state, nats = checkpoint.language_model(), None, 0.0
    with torch.inference_mode():
        for start in range(0, len(ids), CHUNK):
            lost, _, state = model.loss(torch.from_numpy(ids[start : start + CHUNK])[None], None, state)
            nats += float(lost)
    return nats / math.log(2)


class Orders:
    """Counts of tokens after none, one and two before them."""

    def __init__(self, checkpoint: Checkpoint):
        self._vocabulary = checkpoint.tokenizer.vocabulary
        self._seen: list[Counter] = [Counter(), Counter(), Counter()]
        self._after: list[Counter] = [Counter(), Counter(), Counter()]
        self._kinds: list[Counter] = [Counter(), Counter(), Counter()]

    def learn(self, ids: np.ndarray) -> None:
        words = ids.tolist()
        for order in range(3):
            for i in range(order, len(words)):
                run = tuple(words[i - order : i + 1])
                self._kinds[order][run[:-1]] += run not in self._seen[order]
                self._seen[order][run] += 1
                self._after[order][run[:-1]] += 1

    def cost(self, ids: np.ndarray) -> dict[str, float]:
        """Bits of a document by the highest order of each mixture."""
        words, total = ids.tolist(), [0.0, 0.0, 0.0]
        for i in range(len(words)):
            share = (self._seen[0][(words[i],)] + 1) / (self._after[0][()] + self._vocabulary)
            for order in range(3):
                if 0 < order <= i:
                    run = tuple(words[i - order : i + 1])
                    kinds, after = self._kinds[order][run[:-1]], self._after[order][run[:-1]]
                    share = (self._seen[order][run] + kinds * share) / (after + kinds) if after else share
                total[order] -= math.log2(share)
        return {f"order{order}": bits for order, bits in enumerate(total)}


def described(rows: list[dict]) -> str:
    head = ["held out", "documents", "characters", "characters a token", "model", "frequencies", "order 1", "order 2"]
    cells = [
        [
            KINDS.get(row["kind"], row["kind"]),
            row["documents"],
            f"{row['letters']:,}",
            f"{row['letters'] / row['tokens']:.2f}",
            *(f"{row[name]:.3f}" for name in ("model", "order0", "order1", "order2")),
        ]
        for row in rows
    ]
    return "Bits a character of documents that were not read, each from its start.\n\n" + table(head, cells)


if __name__ == "__main__":
    main()
