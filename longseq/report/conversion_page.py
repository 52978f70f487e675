"""`report.html` of a conversion: what was kept of the teacher and what was gained, with every figure's meaning."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from longseq.log import count, memory
from longseq.report.figures.figure import figure
from longseq.report.figures.library import STYLE, scripts
from longseq.report.figures.marks import Axis, Line, Panel, Rule, View, named
from longseq.report.page import Markup, element, page, table
from longseq.results.conversion import STREAMED, TEACHER, WHOLE, Conversion, ModelFacts, Speed
from longseq.results.evaluation import Figure


def conversion_page(found: Conversion) -> Iterator[str]:
    """The page in pieces."""
    title = f"Report card of {found.student.name}"
    parts = [_head(found), _retrieval(found), _tasks(found), _lengths(found), _layers(found)]
    if found.speed is not None:
        parts += [_speed(found.speed), _latency(found.speed)]
    body = (f"{part}\n" for part in [*parts, _foot(found)] if part)
    drawn = found.speed is not None or found.lengths
    yield from page(title, body, STYLE, scripts=scripts() if drawn else ())


def crossing(speed: Speed) -> str:
    """Where the student gets ahead of the whole teacher, in words."""
    ratios = speed.ratios()
    if speed.crossover is None:
        return f"slower up to {max(ratios):,} tokens"
    if speed.crossover == min(ratios):
        return f"faster from {speed.crossover:,} tokens on, the fewest measured"
    return f"faster from about {speed.crossover:,} tokens on"


def _head(found: Conversion) -> Markup:
    rows = [_facts("teacher", found.teacher), _facts("student", found.student)]
    head = ["", "name", "mixers", "segment", "parameters", "sha256"]
    what = "The student is a linear, recurrent model made of the teacher, whose attention is softmax."
    return _section("Models", [element("p", what), table(head, rows)])


def _facts(what: str, model: ModelFacts) -> list[str]:
    mixers = " and ".join(model.mixers)
    return [what, model.name, mixers, f"{model.segment:,} tokens", f"{model.parameters:,}", model.sha256[:12]]


def _retrieval(found: Conversion) -> Markup:
    near = found.retrieval
    if near is None:
        return Markup("")
    rows = [
        ["cosine to the teacher's vector of the same text", _figure(near.cosine)],
        ["cosine of the teacher's vectors of two different texts", f"{near.apart:.3f}"],
        ["Spearman correlation of the similarities of all pairs", f"{near.spearman:.3f}"],
        ["nearest other text is the teacher's", _figure(near.neighbour)],
    ]
    what = f"{count(near.texts, 'text')}; a vector is the mean over the first segment of a text."
    return _section("Vectors of texts", [element("p", what, class_="facts"), table(["", "student"], rows)])


def _tasks(found: Conversion) -> Markup:
    if not found.tasks:
        return Markup("")
    rows = [
        [
            task.file,
            f"{task.texts:,}",
            str(task.classes),
            *(f"{task.accuracy[name]:.3f} / {task.macro_f1[name]:.3f}" for name in ("teacher", "student")),
            _figure(task.difference, "+"),
            f"{task.frequent:.3f}",
        ]
        for task in found.tasks
    ]
    head = ["file", "texts", "classes", "teacher", "student", "student less teacher", "most frequent class"]
    what = (
        f"Accuracy / macro F1 of logistic regression on the vectors, in {found.tasks[0].folds} folds that both share."
    )
    return _section("Classes", [element("p", what, class_="facts"), table(head, rows)])


def _lengths(found: Conversion) -> Markup:
    if not found.lengths:
        return Markup("")
    rows = [
        # Of one text there is no interval over texts.
        [
            f"{r.tokens:,}",
            f"{r.texts:,}",
            *(_figure(f) if r.texts > 1 else f"{f.value:.3f}" for f in (r.pooled, r.token)),
        ]
        for r in found.lengths
    ]
    tokens = [r.tokens for r in found.lengths]
    lines = [
        Line(name="mean vector of a text", x=tokens, y=[r.pooled.value for r in found.lengths], dots=True),
        Line(name="vector of a token", x=tokens, y=[r.token.value for r in found.lengths], dots=True, colour=1),
    ]
    what = (
        f"Final vectors beside the teacher's. Beyond a segment of {found.teacher.segment:,} tokens the teacher reads "
        "in windows; the student sees what came before as far as its gates to it are open."
    )
    head = ["tokens", "texts", "cosine of mean vectors", "cosine of vectors of a token"]
    picture = _against("agreement", "tokens of a text", "cosine to the teacher", tokens, lines)
    return _section("Agreement and length", [element("p", what, class_="facts"), picture, table(head, rows)])


def _layers(found: Conversion) -> Markup:
    if not found.layers:
        return Markup("")
    stages = list(found.layers[0].stages)
    head = ["layer", "transfer error", *(f"after {name}" for name in stages), "vectors behind it"]
    rows = [
        [
            str(row.layer),
            f"{row.transfer_error:.4f}",
            *(f"{row.stages[name]:.4f}" for name in stages),
            f"{row.hidden:.3f}",
        ]
        for row in found.layers
    ]
    heads = len(found.layers[0].entropy)
    entropy = [
        [
            str(row.layer),
            *(
                element("strong", f"{nats:.2f}") if head in row.spiky else f"{nats:.2f}"
                for head, nats in enumerate(row.entropy, 1)
            ),
        ]
        for row in found.layers
    ]
    what = (
        "Transfer error: the squared error of a layer's mixer, fed what the teacher's is fed, by the squares of the "
        "teacher's output"
        + ("; after each stage of the conversion, on texts held out of its training" if stages else "")
        + ". Vectors behind a layer: their mean cosine to the teacher's, each model reading by itself."
    )
    spiky = sum(len(row.spiky) for row in found.layers)
    sharp = (
        f"Entropy of the teacher's attention in nats, for each attention head; {found.even:.2f} is attention that "
        f"looks at all of a segment alike. {count(spiky, 'spiky head')}, of less than half of that: in bold."
    )
    return _section(
        "Layers",
        [
            element("p", what, class_="facts"),
            table(head, rows),
            element("p", sharp, class_="facts"),
            table(["layer", *(f"head {i + 1}" for i in range(heads))], entropy),
        ],
    )


def _speed(speed: Speed) -> Markup:
    by_place = {(row.reader, row.length): row for row in speed.rows}
    readers = [name for name in (STREAMED, WHOLE, TEACHER) if any(row.reader == name for row in speed.rows)]
    ratios, rows = speed.ratios(), []
    for length in sorted({row.length for row in speed.rows}):
        some = [by_place.get((name, length)) for name in readers]
        fast = ["" if row is None else f"{row.tokens_per_s:,.0f}" for row in some]
        big = ["" if row is None or row.peak_mb is None else memory(row.peak_mb) for row in some]
        rows.append([f"{length:,}", *fast, f"{ratios[length]:.2f}×" if length in ratios else "", *big])
    if not rows:
        return Markup("")
    head = ["tokens", *(f"{name}: tokens/s" for name in readers), "as fast, streamed"]
    head += [f"{name}: memory" for name in readers]
    marked = [] if speed.crossover is None else [Rule(at=float(speed.crossover), label=f"{speed.crossover:,}")]
    loads = ["not known" if load is None else f"{load:.1f}" for load in (speed.load_before, speed.load_after)]
    what = (
        f"{speed.processor}, {count(speed.threads, 'thread')}, load {loads[0]} before and {loads[1]} after; batch 1, "
        f"fp32, medians of {count(max(len(row.seconds) for row in speed.rows), 'round')} side by side. Streamed: in "
        f"chunks of {speed.chunk:,} tokens, with the state carried. Whole teacher: every token sees every other. "
        "Memory: what it grew by over the loaded model."
    )
    parts = [element("p", what, class_="facts")]
    if ratios:
        parts.append(element("p", f"The student, streamed, is {crossing(speed)}."))
    parts += [
        _measured("speed", "tokens/s", speed, readers, "tokens_per_s", marked),
        _measured("memory", "memory, MiB", speed, readers, "peak_mb"),
        table(head, rows),
    ]
    return _section("Speed and memory", parts)


def _measured(
    name: str, what: str, speed: Speed, readers: Sequence[str], field: str, marked: Sequence[Rule] = ()
) -> Markup:
    """A figure of the rows of each reader that have a value; nothing without any."""
    lines = []
    for number, reader in enumerate(readers):
        rows = sorted(
            (row for row in speed.rows if row.reader == reader and getattr(row, field)), key=lambda r: r.length
        )
        if rows:
            values = [getattr(row, field) for row in rows]
            lines.append(Line(name=reader, x=[row.length for row in rows], y=values, colour=number, dots=True))
    return _against(name, "tokens", what, sorted({row.length for row in speed.rows}), [*lines, *marked], True)


def _against(
    name: str, x: str, y: str, places: Sequence[int], marks: Sequence[Line | Rule], logarithmic: bool = False
) -> Markup:
    """Against a number of tokens."""
    if not any(isinstance(mark, Line) for mark in marks):
        return Markup("")
    across = Axis(label=x, logarithmic=True, ticks=named(places))
    view = View(x=across, panels=[Panel(y=Axis(label=y, logarithmic=logarithmic), marks=marks)])
    return figure(name, [view], f"{y[0].upper()}{y[1:]} against {x}.")


def _latency(speed: Speed) -> Markup:
    turn = speed.latency
    middle = {name: statistics.median(getattr(turn, name)) for name in ("kept", "again", "teacher")}
    rows = [
        ["student, state kept", f"{1000 * middle['kept']:,.1f} ms"],
        ["student, reading all again", f"{1000 * middle['again']:,.1f} ms"],
        ["teacher, reading all again in windows", f"{1000 * middle['teacher']:,.1f} ms"],
        ["kept by all again", f"{100 * turn.share:.1f} %"],
    ]
    what = f"A turn of {turn.turn:,} tokens in a conversation of {turn.conversation:,}; medians."
    return _section("One more turn", [element("p", what, class_="facts"), table(["", "time"], rows)])


def _foot(found: Conversion) -> Markup:
    left = [element("li", f"{row.what}: {row.reason}") for row in found.skipped]
    parts = [element("p", "Left out:"), element("ul", *left)] if left else []
    made = f"longseq {found.run.version}, {count(found.texts, 'text')} given, {found.run.seconds:.0f} s. "
    says = "Brackets: bootstrap intervals of 95 % over texts."
    return element(
        "footer", *parts, element("p", made, says), *([element("pre", found.run.command)] if found.run.command else [])
    )


def _section(title: str, parts: Sequence[Markup]) -> Markup:
    return element("section", element("h2", title), *(Markup(f"\n{part}") for part in parts))


def _figure(found: Figure, sign: str = "") -> str:
    return f"{found.value:{sign}.3f} [{found.low:{sign}.3f}, {found.high:{sign}.3f}]"
