"""Write a checkpoint again with bfloat16 weights, card and all: pack.py MODEL OUT."""

from __future__ import annotations

import sys

import torch

from longseq.model import load, save


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: pack.py MODEL OUT")
    source, target = sys.argv[1:]
    checkpoint = load(source)
    parts = {"labels": checkpoint.labels, "card": checkpoint.card, "soft_masked": checkpoint.soft_masked}
    save(target, checkpoint.model, checkpoint.tokenizer, dtype=torch.bfloat16, force=True, **parts)


if __name__ == "__main__":
    main()
