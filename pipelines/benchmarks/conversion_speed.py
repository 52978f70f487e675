"""Speed and memory of a converted model beside its teacher, a further turn of a conversation, and a very long text."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from longseq.formats.markdown import table
from longseq.log import memory
from longseq.results.conversion import STREAMED, TEACHER, WHOLE

LENGTHS = (256, 1024, 4096, 16384)
ROUNDS, BUDGET = 5, 3600.0
DOCUMENTS = 16
"""Stretches of 512 to 8,192 tokens."""
BEGINNING, LONG = 100_000, 1_000_000
"""Tokens of a text after which memory is read for the first time, and of all of it."""
AIMS = {4096: 1.6, 16384: 4.0}
"""Times as fast as the whole teacher, the student whole."""
GROWTH, TURN = 16.0, 0.15
"""MiB at most; share of the time of reading again at most."""


class LongText:
    """A checkpoint that reads a long text of random tokens in chunks, in a process of its own."""

    def __init__(self, folder: str):
        from longseq.model import load
        from longseq.ops.machine import prepare
        from longseq.streaming.hidden import HiddenReader

        prepare(1)
        self._reader = HiddenReader(load(folder))

    def growth(self) -> dict:
        """How many MiB more than after `BEGINNING` tokens were resident at most until `LONG`, and how many more are in
        use at the end: the rest is free memory that the process keeps."""
        import torch

        from longseq.tasks.bench.memory import MemoryMeter, in_use_mb

        draw, state, meter, used, at = np.random.default_rng(0), None, None, None, 0
        total = np.zeros(self._reader.encoder.config.width)
        while at < LONG:
            if meter is None and at >= BEGINNING:
                meter, used = MemoryMeter(torch.device("cpu")), in_use_mb()
            ids = draw.integers(0, self._reader.encoder.config.vocabulary, (1, min(self._reader.chunk, LONG - at)))
            hidden, state = self._reader.step(ids, state)
            total += hidden[0].double().sum(0).numpy()
            at += ids.shape[1]
        assert meter is not None and np.isfinite(total).all()
        last = in_use_mb()
        more = None if used is None or last is None else last - used
        return {"tokens": at, "growth_mb": meter.peak_mb(), "in_use_mb": more}


def measured_speed(teacher: Path, student: Path, texts: list[str]) -> dict:
    """The report card of a pair, and the long text; the card that the conversion wrote beside the student stays."""
    from longseq.model import load
    from longseq.tasks.bench.worker import Worker
    from longseq.tasks.convert.card import CardConfig, measured
    from longseq.tasks.convert.work import stage_errors

    config = CardConfig(texts=len(texts), documents=DOCUMENTS, lengths=LENGTHS, rounds=ROUNDS, budget=BUDGET)
    ours = load(student)
    found = measured(load(teacher), ours, texts, config, stages=stage_errors(student, ours.config.layers)).to_json()
    for who, folder in (("teacher", teacher), ("student", student)):
        found[who]["name"] = folder.name  # where it stood concerns nobody
    found["run"]["model"] = student.name
    with Worker(LongText, str(student)) as worker:
        return found | {"long": worker.ask("growth")}


def described(found: Mapping) -> list[str]:
    """Lines of the page."""
    speed = found["speed"]
    by_place = {(row["reader"], row["length"]): row for row in speed["rows"]}
    rows = []
    for length in sorted({row["length"] for row in speed["rows"]}):
        some = [by_place.get((name, length)) for name in (STREAMED, WHOLE, TEACHER)]
        fast = ["" if row is None else f"{row['tokens_per_s']:,.0f}" for row in some]
        big = ["" if row is None or row["peak_mb"] is None else memory(row["peak_mb"]) for row in some]
        rows.append([f"{length:,}", *fast, *(times(by_place, name, length) for name in (STREAMED, WHOLE)), *big])
    head = ["tokens", *(f"{name}: tokens/s" for name in (STREAMED, WHOLE, TEACHER)), "streamed: times as fast", "whole"]
    head += [f"{name}: memory" for name in (STREAMED, WHOLE, TEACHER)]
    turn, long = speed["latency"], found["long"]
    kept, again = (1000 * statistics.median(turn[name]) for name in ("kept", "again"))
    lengths = [[f"{r['tokens']:,}", str(r["texts"]), cell(r["pooled"]), cell(r["token"])] for r in found["lengths"]]
    layers = [[str(r["layer"]), f"{r['transfer_error']:.4f}", f"{r['hidden']:.3f}"] for r in found["layers"]]
    crossing = f"from {speed['crossover']:,} tokens on" if speed["crossover"] else "at none of these lengths"
    loads = " and ".join(known(speed[name]) for name in ("load_before", "load_after"))
    aims = ", ".join(f"{n:,} tokens {aim:g}×" for n, aim in AIMS.items())
    return [
        table(head, rows),
        f"Medians of {max(len(r['seconds']) for r in speed['rows'])} rounds side by side, one thread, load {loads}; "
        f"the teacher whole, with every token seen by every other. Aimed at, the student whole: {aims}. The streamed "
        f"student is the faster one {crossing}.",
        "",
        f"A turn of {turn['turn']} tokens behind {turn['conversation']:,}: {kept:.1f} ms with the state kept, "
        f"{again:,.1f} ms by reading all again, {100 * turn['share']:.1f} % (aimed at: {100 * TURN:.0f} % at most).",
        "",
        f"Memory of {long['tokens']:,} tokens grew by {known(long['growth_mb'])} MiB from {BEGINNING:,} tokens on "
        f"(aimed at: {GROWTH:g} at most), what of it is in use by {known(long['in_use_mb'])}: the rest is free memory "
        "that the process keeps, in pieces of a tensor's size.",
        "",
        "Agreement with the teacher, in windows where a text is longer than a segment:",
        "",
        table(["tokens of a text", "texts", "cosine of mean vectors", "cosine of vectors of a token"], lengths),
        "Layers, on full segments:",
        "",
        table(["layer", "transfer error", "cosine of vectors behind it"], layers),
    ]


def times(by_place: Mapping, name: str, length: int) -> str:
    """How many times as fast as the teacher: median over the rounds."""
    ours, theirs = by_place.get((name, length)), by_place.get((TEACHER, length))
    if ours is None or theirs is None:
        return ""
    return f"{statistics.median(b / a for a, b in zip(ours['seconds'], theirs['seconds'], strict=True)):.2f}"


def known(figure: float | None) -> str:
    """One that not every system tells."""
    return "not known" if figure is None else f"{figure:.1f}"


def cell(figure: Mapping) -> str:
    return f"{figure['value']:.3f} [{figure['low']:.3f}, {figure['high']:.3f}]"
