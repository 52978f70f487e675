"""Comparisons made up by hand, of which every figure is known."""

from longseq.results.compare import (
    ADDITION,
    BASES,
    Compare,
    CompareMachine,
    Cost,
    CostRow,
    Learned,
    Point,
    Reach,
    TaskFacts,
)
from longseq.results.run import Run

DISTANCES = (1, 2, 4, 8, 16, 32, 64, 128)
FACTORS = {"rnn": 0.5, "lstm": 0.9, "gru": 0.5, "softmax": 1.0, "linear": 1.0}
RIGHT = {"rnn": 0.995, "lstm": 0.2, "gru": 0.999, "softmax": 0.97, "linear": 0.6}
BITS = {"rnn": 1.95, "lstm": 1.951, "gru": 1.94, "softmax": 1.93, "linear": 1.92}


def learned(model, task, *, factor=None, right=None, bits=None):
    factor, right, bits = factor or FACTORS[model], right or RIGHT[model], bits or BITS[model]
    norms = tuple(0.3 * factor**d for d in DISTANCES)
    curve = [Point(step=s, tokens=10 * s, seconds=s / 4, bits=2.0, right=r) for s, r in ((10, 0.1), (20, right))]
    curve.append(Point(step=30, tokens=300, seconds=7.5, bits=bits, right=right))
    return Learned(
        model=model,
        task=task,
        parameters=1000,
        steps=30,
        tokens=300,
        seconds=7.5,
        curve=tuple(curve),
        reach=Reach(distances=DISTANCES, initial=norms, trained=norms),
    )


def cost(model):
    grows = 1000 if model == "softmax" else 0
    rows = [(64, 2.0), (4096, 9.0 if grows else 2.0)]
    return Cost(
        model=model,
        rows=tuple(
            CostRow(
                length=n,
                state_bytes=8000 + grows * n,
                token_ms=ms,
                step_bytes=5000 * n,
                step_tokens_per_s=2e4,
            )
            for n, ms in rows
        ),
    )


def result(models=tuple(FACTORS), tasks=(ADDITION, BASES), data="9,000 pairs"):
    facts = {
        ADDITION: TaskFacts(
            name=ADDITION, data=data, held_out="1,000 of 10,000 pairs", frequency_bits=3.1, frequency_right=0.01
        ),
        BASES: TaskFacts(
            name=BASES,
            data="150,000 bases",
            held_out="the end",
            frequency_bits=1.96,
            frequency_right=0.32,
            counted_bits=1.935,
            counted_order=5,
        ),
    }
    return Compare(
        run=Run(version="1", command="longseq compare", seconds=60.0),
        machine=CompareMachine(processor="A machine", cores=2, torch="2"),
        config={
            "layers": 2,
            "width": 64,
            "seed": 0,
            "steps": {ADDITION: 30, BASES: 30},
            "addition": {"digits": 2, "batch": 64, "rate": 0.004},
            "bases": {"window": 512, "batch": 4, "rate": 0.004},
            "reach": {"examples": 8},
        },
        tasks=[facts[task] for task in tasks],
        learned=[learned(model, task) for task in tasks for model in models],
        costs=[cost(model) for model in models],
    )
