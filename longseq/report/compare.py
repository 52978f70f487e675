"""A comparison of models as text for a terminal: how they learned each task, how far they look back, what they cost."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.log import count, duration
from longseq.report.bench import aligned
from longseq.results.compare import ADDITION, BASES, Compare, TaskFacts

TITLES = {ADDITION: "addition", BASES: "next base"}
LEAST = 1e-12
"""A gradient below it leaves every picture: beside the largest it is nothing in float32."""


def compare_text(found: Compare) -> str:
    """Plain text, ended by a line feed."""
    parts = [_head(found), *(_task(found, task) for task in found.tasks), _reach(found), _costs(found)]
    return "\n".join("\n".join(part) + "\n" for part in parts)


def size(number: float) -> str:
    """Bytes: `776 B`, `17.7 kB`, `4.21 MB`."""
    for scale, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if number >= 0.9995 * scale:
            return f"{number / scale:.3g} {unit}"
    return f"{number:.0f} B"


def percent(share: float) -> str:
    """`97.4%`, with a second decimal where one would round it to all or to nothing."""
    digits = 2 if share and (share < 0.01 or 0.995 < share < 1) else 1
    return f"{100 * share:.{digits}f}%"


def gradient(norm: float) -> str:
    """`0.53`, `1.2e-9`."""
    return f"{norm:.2g}"


def _head(found: Compare) -> Iterator[str]:
    config, machine = found.config, found.machine
    load = "" if machine.load_before is None else f", load {machine.load_before:.1f} before"
    yield f"{machine.processor}, {count(machine.cores, 'core')}{load}, torch {machine.torch}; one thread a model"
    yield (
        f"{count(len(found.models), 'model')} of {count(config['layers'], 'layer')} × {config['width']} channels, "
        f"{round(found.parameters):,} parameters (at most {percent(found.spread)} apart), seed {config['seed']}, "
        f"{duration(found.run.seconds)} in all"
    )


def _task(found: Compare, task: TaskFacts) -> Iterator[str]:
    learned = found.of(task.name)
    of = "sums right" if task.name == ADDITION else "bases right"
    bits = "bits a digit" if task.name == ADDITION else "bits a base"
    steps = next(iter(learned.values())).steps
    yield f"{TITLES[task.name]}: {count(steps, 'step')} of {task.data}; held out: {task.held_out}"
    rows = [
        (
            model,
            f"{one.parameters:,}",
            percent(one.last.right),
            f"{one.last.bits:.3f}",
            f"{one.tokens_per_s:,.0f}",
            f"{one.seconds:.1f} s",
        )
        for model, one in learned.items()
    ]
    nothing = [("by frequencies", "", percent(task.frequency_right), f"{task.frequency_bits:.3f}", "", "")]
    if task.counted_bits is not None:
        nothing.append((f"Markov, order {task.counted_order}", "", "", f"{task.counted_bits:.3f}", "", ""))
    yield from aligned([("model", "parameters", of, bits, "tokens/s", "time"), *rows, *nothing])


def _reach(found: Compare) -> Iterator[str]:
    task = found.tasks[-1].name
    learned = found.of(task)
    distances = next(iter(learned.values())).reach.distances
    shown = [i for i, d in enumerate(distances) if d & (d - 1) == 0 and d.bit_length() % 2] or [0]
    yield f"gradient of a token's loss at so many tokens before it ({TITLES[task]}, after training)"
    head = ("model", *(f"{distances[i]:,}" for i in shown))
    yield from aligned([head, *((m, *(gradient(one.reach.trained[i]) for i in shown)) for m, one in learned.items())])


def _costs(found: Compare) -> Iterator[str]:
    lengths = [row.length for row in found.costs[0].rows]
    ends = sorted({lengths[0], lengths[-1]})
    yield f"state, time of one more token, and a training step, at {' and '.join(f'{n:,}' for n in ends)} tokens"
    head = ["model"]
    for name in ("state", "a token", "kept to learn", "learning"):
        head += [name, *[""] * (len(ends) - 1)]
    rows = []
    for cost in found.costs:
        at = [row for row in cost.rows if row.length in ends]
        rows.append(
            (
                cost.model,
                *(size(row.state_bytes) for row in at),
                *(f"{row.token_ms:.2g} ms" for row in at),
                *(size(row.step_bytes) for row in at),
                *(f"{row.step_tokens_per_s:,.0f}/s" for row in at),
            )
        )
    yield from aligned([tuple(head), *rows])
