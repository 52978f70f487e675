"""A teacher with sharp attention, and texts of its few letters."""

import json
import random

import torch
from teachers import bert_tensors, write_bert

from longseq.log import NullProgress


def write_teacher(folder):
    """A BERT whose attention is no mean: its linear form has something to learn."""
    found = bert_tensors()
    for name, tensor in found.items():
        if "self.query.weight" in name or "self.key.weight" in name:
            tensor *= 3
    return write_bert(folder, found)


def text(draw, sentences):
    """So many sentences of words of the letters a to j."""
    said = (
        [" ".join("".join(draw.choices("abcdefghij", k=draw.randint(1, 3))) for _ in range(draw.randint(2, 7)))]
        for _ in range(sentences)
    )
    return " ".join(f"{words[0]} ." for words in said)


def write_texts(file, documents=30, seed=0):
    draw = random.Random(seed)
    rows = [{"id": f"d{n}", "text": text(draw, draw.randint(1, 6))} for n in range(documents)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


class Stopping(NullProgress):
    """Asks for a stop after so many steps of the `nth` run."""

    def __init__(self, step, nth=1):
        self.left, self.runs, self.what = step, nth, ""

    def start(self, what, total=None, unit=""):
        self.what = what
        self.runs -= what == "train"

    def advance(self, amount, **facts):
        import signal

        if self.what == "train" and self.runs == 0:
            self.left -= 1
            if self.left == 0:
                signal.raise_signal(signal.SIGTERM)


def weights(folder):
    from longseq.model import load

    return {name: tensor.clone() for name, tensor in load(folder).model.state_dict().items()}


def same(one, two):
    return one.keys() == two.keys() and all(torch.equal(one[name], two[name]) for name in one)
