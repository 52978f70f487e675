"""How the models learned: sections on sums and on next bases, with their curves."""

from __future__ import annotations

from longseq.report.compare import percent
from longseq.report.compare_page.load import busy
from longseq.report.compare_page.words import colour, each, listed, paragraph, section, times
from longseq.report.figures.figure import figure
from longseq.report.figures.marks import Axis, Line, Mark, Panel, Rule, View
from longseq.report.page import Markup, table
from longseq.results.compare import ADDITION, BASES, Compare, Learned, TaskFacts

ENOUGH = 0.99
"""Of the sums: learned."""
SOME = 0.5
NEAR = 0.005
"""Bits a base; models that are nearer to one another are said to be level."""
NOTED = 1.2
"""Times of learning are told where the longest is longer than the shortest by this."""
NETS = ("rnn", "lstm", "gru")
LITTLE = 0.2
"""Bits a base, of 2: few are saved."""


def adding(found: Compare) -> Markup:
    task, learned = _parts(found, ADDITION)
    config = found.config["addition"]
    digits = config["digits"]
    a, b = 35 % 10**digits, 7 % 10**digits
    shown = f"{a:0{digits}}+{b:0{digits}}"
    answer = f"{a + b:0{digits + 1}}"[::-1]
    steps = next(iter(learned.values())).steps
    return section(
        "adding",
        "First task: to add, character by character",
        paragraph(
            f"Each model reads two numbers as characters, {shown}, and tells their sum digit by digit, from the"
            " units on,"
            f" {answer}. It learns from {task.data}; {task.held_out} are never learned from, and a sum counts where all"
            f" of its digits are right. The most frequent answer is right for {percent(task.frequency_right)}."
        ),
        _figure(found, task, learned, "sums right, %", "bits a digit"),
        paragraph(_reached(learned, steps), _speed(found, learned)),
        paragraph(
            "A sum is short: nothing lies farther back than a dozen characters, so that even a net without gates can"
            " learn it. What differs is how soon."
            if _nets_can(learned)
            else ""
        ),
    )


def foretelling(found: Compare) -> Markup:
    task, learned = _parts(found, BASES)
    bits = {name: one.last.bits for name, one in learned.items()}
    order = sorted(bits, key=lambda name: bits[name])
    best, worst = order[0], order[-1]
    level = [name for name in order if bits[name] - bits[best] <= NEAR]
    if len(level) == len(order) > 1:
        told = f"After these steps all lie within {NEAR:g} bits of each other, at about {bits[best]:.3f} bits a base."
    elif len(level) > 1:
        told = (
            f"After these steps {listed(level)} are level at the front, {bits[best]:.3f} bits a base at best; {worst} "
            f"ends at {bits[worst]:.3f}."
        )
    else:
        told = (
            f"After these steps {best} is ahead with {bits[best]:.3f} bits a base; {worst} ends at {bits[worst]:.3f}."
        )
    return section(
        "foretelling",
        "Second task: to foretell the next base",
        paragraph(
            f"Each model reads a genome, windows of {found.config['bases']['window']:,} bases, and says before"
            " every base"
            f" how likely A, C, G and T are. It learns from {task.data}; held out: {task.held_out}. To know nothing at"
            f" all is 2 bits a base; to know how frequent each base is, {task.frequency_bits:.3f} (dashed); the most"
            f" frequent base is right for {percent(task.frequency_right)}."
        ),
        _figure(found, task, learned, "bases right, %", "bits a base"),
        paragraph(told, _beside(task, bits), _rest(bits)),
        paragraph(_short(task, level)),
    )


def _parts(found: Compare, name: str) -> tuple[TaskFacts, dict[str, Learned]]:
    return next(task for task in found.tasks if task.name == name), found.of(name)


def since(one: Learned, enough: float) -> int | None:
    """The first step from which on every evaluation had as much right; None: the last one had not."""
    step = None
    for point in reversed(one.curve):
        if point.right < enough:
            break
        step = point.step
    return step


def _reached(learned: dict[str, Learned], steps: int) -> str:
    right = {name: percent(one.last.right) for name, one in learned.items()}
    told = (
        f"After {steps:,} steps, the same pairs in the same order for all, the share of sums right is: {each(right)}."
    )
    at = {name: step for name, one in learned.items() if (step := since(one, ENOUGH)) is not None}
    if at:
        order = sorted(at, key=lambda name: at[name])
        when = listed(f"from step {at[name]:,} on in {name}" for name in order)
        told += f" {ENOUGH:.0%} and more were right {when}."
    short = [name for name, one in learned.items() if one.last.right < SOME]
    if short:
        verb = "has" if len(short) == 1 else "have"
        told += f" {listed(short)} {verb} not learned to add in these steps; more pairs may do it, or other rates."
    elif not at:
        told += f" No model has reached {ENOUGH:.0%} in so few steps."
    return told


def _speed(found: Compare, learned: dict[str, Learned]) -> str:
    order = sorted(learned, key=lambda name: learned[name].seconds)
    fast, slow = learned[order[0]], learned[order[-1]]
    if busy(found) or not fast.seconds or slow.seconds < NOTED * fast.seconds:
        return ""
    told = (
        f"So many steps cost them differently: {fast.model} took {fast.seconds:.0f} s, {slow.model}"
        f" {slow.seconds:.0f} s,"
        f" {times(slow.seconds / fast.seconds)} as long."
    )
    if fast.model not in NETS or slow.model in NETS:
        return told
    return f"{told} On sequences as short as these to work out all tokens side by side gains nothing."


def _nets_can(learned: dict[str, Learned]) -> bool:
    return "rnn" in learned and learned["rnn"].last.right >= SOME


def _beside(task: TaskFacts, bits: dict[str, float]) -> str:
    if task.counted_bits is None:
        return ""
    better = [name for name, value in bits.items() if value < task.counted_bits]
    count = f"The best table of counts, of what follows {task.counted_order} bases, has {task.counted_bits:.3f}"
    if not better:
        return f"{count}: no model is better yet. Counting is a strong opponent on so little data."
    if len(better) == len(bits):
        return f"{count}: all models are better."
    return f"{count}: {listed(better)} {'is' if len(better) == 1 else 'are'} better."


def _short(task: TaskFacts, level: list[str]) -> str:
    """Why a net that forgets may be the best one."""
    if not set(level) <= set(NETS) or task.counted_order is None:
        return ""
    return (
        f"That {listed(level)} {'is' if len(level) == 1 else 'are'} ahead does not gainsay the gradients: the"
        f" best count looks back {task.counted_order}"
        " bases, and"
        " what is learned first lies as near. For that a net that forgets is enough, and it need not learn where to"
        " look."
    )


def _rest(bits: dict[str, float]) -> str:
    saved = 2 - min(bits.values())
    if not 0 < saved < LITTLE:
        return ""
    return f"Most of a genome cannot be foretold from what precedes: of 2 bits the best model saves {saved:.2f}."


def _figure(found: Compare, task: TaskFacts, learned: dict[str, Learned], right: str, bits: str) -> Markup:
    views = []
    for axis, called in (("steps", "by steps"), ("seconds of one thread", "by time")):
        lines: dict[str, list[Mark]] = {"right": [], "bits": []}
        for name, one in learned.items():
            x = [point.step if axis == "steps" else point.seconds for point in one.curve]
            for which, scale in (("right", 100.0), ("bits", 1.0)):
                y = [scale * getattr(point, which) for point in one.curve]
                lines[which].append(Line(name=name, x=x, y=y, colour=colour(found.models, name), dots=True))
        lines["right"].append(Rule(at=100 * task.frequency_right, label="most frequent answer", along="y"))
        lines["bits"].append(Rule(at=task.frequency_bits, label="by frequencies", along="y"))
        if task.counted_bits is not None:
            words = f"by counts, order {task.counted_order}"
            lines["bits"].append(Rule(at=task.counted_bits, label=words, along="y"))
        low, high = (0.0, 102.0) if task.name == ADDITION else _ends(lines["right"])
        least, most = _ends(lines["bits"])
        panels = [
            Panel(y=Axis(label=right, low=low, high=high), marks=lines["right"], height=280),
            Panel(y=Axis(label=bits, low=least, high=most), marks=lines["bits"], height=280),
        ]
        views.append(View(x=Axis(label=axis, low=0), panels=panels, name=called))
    rows = [
        [name, f"{p.step:,}", f"{p.seconds:.1f} s", percent(p.right), f"{p.bits:.4f}"]
        for name, one in learned.items()
        for p in one.curve
    ]
    caption = (
        "On what is held out, while it is learned: above the share that is right, more is better; below, bits, less is "
        "better. Dashed: what is reached without a model."
    )
    heads = ["model", "step", "time", right.removesuffix(", %"), bits]
    return figure(f"learning-{task.name}", views, caption, table(heads, rows, "Curves of learning"), choose="Curves")


def _ends(marks: list[Mark]) -> tuple[float, float]:
    """Of an axis that shows all lines and rules, with some room."""
    lines = [value for mark in marks if isinstance(mark, Line) for value in mark.y]
    values = [*lines, *(mark.at for mark in marks if isinstance(mark, Rule))]
    room = 0.06 * (max(values) - min(values))
    return min(values) - room, max(values) + room
