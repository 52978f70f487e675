"""A comparison as a page to show: the story from recurrent nets to linear attention, told by the run's own figures."""

from __future__ import annotations

from collections.abc import Iterator

from longseq.log import count, duration
from longseq.report.compare import TITLES, percent, size
from longseq.report.compare_page import models
from longseq.report.compare_page.learning import adding, foretelling
from longseq.report.compare_page.load import busy
from longseq.report.compare_page.looking_back import far, looking_back, task
from longseq.report.compare_page.paying import both, remembering
from longseq.report.compare_page.words import listed, paragraph, section, written
from longseq.report.figures.library import STYLE as FIGURES
from longseq.report.figures.library import scripts
from longseq.report.page import Markup, element, page, table
from longseq.results.compare import ADDITION, BASES, Compare

TITLE = "From recurrent nets to linear attention"
STYLE = (
    FIGURES
    + """
main p, main li { max-width: 46em; } math { font-size: 1.15em; margin: .8em 0; overflow-x: auto; }
td:not(:first-child) { font-variant-numeric: tabular-nums; } """
)


def compare_page(found: Compare) -> Iterator[str]:
    """The page in pieces."""
    there = set(found.models)
    tasks = [one.name for one in found.tasks]
    parts = [("models", "The models", _models(found))]
    if there & {*models.RECURRENT, *models.GATED_NETS}:
        parts.append(("looking-back", "Recurrent nets", looking_back(found)))
    if "softmax" in there:
        parts.append(("remembering", "Softmax attention", remembering(found)))
    if there & {*models.LINEAR}:
        parts.append(("both", "Linear attention", both(found)))
    if ADDITION in tasks:
        parts.append(("adding", "Learning to add", adding(found)))
    if BASES in tasks:
        parts.append(("foretelling", "The next base", foretelling(found)))
    parts += [("together", "All together", _together(found)), ("method", "How it was done", _method(found))]
    parts.append(("sources", "Sources", _sources(found)))
    facts = [
        f"{count(len(found.models), 'model')} of {round(found.parameters):,} parameters, side by side on "
        f"{listed(TITLES[name] for name in tasks)}; measured in {duration(found.run.seconds)} on"
        f" {found.machine.processor},"
        f" longseq {found.run.version}."
    ]
    contents = [(place, words) for place, words, _ in parts]
    body = (f"{part}\n" for _, _, part in parts)
    yield from page(TITLE, body, STYLE, facts=facts, contents=contents, scripts=scripts())


def _models(found: Compare) -> Markup:
    config = found.config
    rows = [
        [
            name,
            models.MODELS[name].called,
            models.MODELS[name].what,
            *(f"{found.of(t.name)[name].parameters:,}" for t in found.tasks),
        ]
        for name in found.models
    ]
    head = ["model", "known as", "how it reads", *(f"parameters, {TITLES[t.name]}" for t in found.tasks)]
    apart = (
        f"Their numbers of parameters lie {percent(found.spread)} apart at most: the width of the feed-forward network"
        " makes up for what a way of reading needs."
        if len(found.models) > 1
        else ""
    )
    return section(
        "models",
        "One skeleton, and how tokens see one another",
        paragraph(
            f"Here {'is' if len(found.models) == 1 else 'are'} {written(len(found.models))} small "
            f"{'model' if len(found.models) == 1 else 'models'} of the same skeleton:"
            f" {count(config['layers'], 'layer')}"
            f" of {config['width']} channels, each of a part by which tokens see one another and of a"
            " feed-forward network"
            " that reads every token by itself. They differ in the first part alone.",
            apart,
        ),
        table(head, rows, "The models"),
    )


def _together(found: Compare) -> Markup:
    where = task(found)
    learned = found.of(where)
    distance = far(next(iter(learned.values())).reach)[0]
    lengths = [row.length for row in found.costs[0].rows]
    ends = sorted({lengths[0], lengths[-1]})
    head = ["model"]
    for one in found.tasks:
        head += ["sums right"] if one.name == ADDITION else ["bits a base", "bases right"]
    head += [f"state, {n:,} tokens" for n in ends] + [f"one more token, behind {ends[-1]:,}"]
    head += [f"training step, {ends[-1]:,} tokens", f"gradient {distance:,} back"]
    rows = []
    for name in found.models:
        row = [name]
        for one in found.tasks:
            last = found.of(one.name)[name].last
            row += [percent(last.right)] if one.name == ADDITION else [f"{last.bits:.3f}", percent(last.right)]
        at = [cost for cost in found.cost(name).rows if cost.length in ends]
        row += [size(cost.state_bytes) for cost in at] + [f"{at[-1].token_ms:.2g} ms"]
        row += [f"{at[-1].step_tokens_per_s:,.0f} tokens/s", f"{learned[name].reach.share(distance):.1e}"]
        rows.append(row)
    what = "Gradient: what is left of it so many tokens back, of the neighbour's, after training."
    return section("together", "All together", table(head, rows, "All models"), element("p", what, class_="facts"))


def _method(found: Compare) -> Markup:
    config, steps = found.config, found.config["steps"]
    batches = {
        ADDITION: f"{config['addition']['batch']} pairs a step",
        BASES: f"{config['bases']['batch']} windows of {config['bases']['window']:,} bases a step",
    }
    lines = [
        f"{TITLES[one.name]}: {count(steps[one.name], 'step')}, {batches[one.name]}, AdamW at"
        f" {config[one.name]['rate']:g}"
        " at most, with warm-up and cosine decay."
        for one in found.tasks
    ]
    lines += [
        f"All models learn from the same data in the same order for as many steps, seed {config['seed']}; not for the"
        " same time, which the curves by time show.",
        "Each learns in a process of one thread, as many side by side as there are cores "
        f"({found.machine.cores}); costs are measured one after the other, in processor time.",
        "The learning rate is the same for all, tuned for none. One seed is one draw: of two models that lie close"
        " together, another seed may turn the order.",
        f"Gradients are worked out in float64. torch {found.machine.torch}, {found.machine.processor}.",
        *(
            [
                f"The machine had other work to do (load {found.machine.load_before:.1f} before the run): the times of "
                "learning are longer than they would be alone, and cannot well be compared."
            ]
            if busy(found)
            else []
        ),
        f"Made by: {found.run.command}",
    ]
    return section(
        "method",
        "How it was done, and how far to trust it",
        paragraph(
            "These are small models on small tasks, trained for minutes. They show how the ways of reading behave; they"
            " do not say which is best at scale."
        ),
        element("ul", *(element("li", line) for line in lines)),
    )


def _sources(found: Compare) -> Markup:
    keys = dict.fromkeys([*models.ALWAYS, *(models.MODELS[name].source for name in found.models)])
    order = [key for key in models.SOURCES if key in keys]
    return section("sources", "Sources", element("ul", *(element("li", models.SOURCES[key]) for key in order)))
