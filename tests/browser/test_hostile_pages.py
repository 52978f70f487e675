"""Every page that is made of input, made of input that attacks it, in Chromium: nothing of it runs, all of it is text.

Each attack counts itself in `window.hit`. That the counter would tell is shown by a page that lets them through.
"""

import json
import random
from pathlib import Path

import pytest
import test_measured_pages as measured
from compared import result

from longseq.cli import main
from longseq.report.compare_page import compare_page
from longseq.report.conversion_page import conversion_page
from longseq.report.frame import Table
from longseq.report.page import Markup, page
from longseq.results.conversion import Conversion, ModelFacts, Skipped
from longseq.results.run import Run

pytestmark = pytest.mark.browser
DNA = Path(__file__).parents[2] / "longseq" / "model" / "pretrained" / "dna"
HIT = "window.hit=(window.hit||0)+1"
ATTACKS = {
    "element": f"<script>{HIT}</script>",
    "end of script": f"</script><script>{HIT}</script><!--",
    "end of style": f"</style></title></textarea><script>{HIT}</script>",
    "attribute": f'"><img/src="x"/onerror="{HIT}">',
    "single quote": f"'/autofocus/onfocus='{HIT}'/tabindex=1/x='",
    "back tick": f"`onmouseover={HIT}//`${{{HIT}}}",
    "image": f'<img/src="x"/onerror="{HIT}"><svg/onload="{HIT}">',
    "svg": f"<svg><script>{HIT}</script><a/xlink:href=javascript:{HIT}>a</a></svg>",
    "frame": f"<iframe/srcdoc='<script>parent.{HIT}</script>'></iframe>",
    "address": f"javascript:{HIT}",
    "data address": f"data:text/html,<script>{HIT}</script>",
    "base": "<base/href=https://127.0.0.1:9/><link/rel=stylesheet/href=//127.0.0.1:9/a.css>",
    "refresh": f"<meta/http-equiv=refresh/content=0;url=javascript:{HIT}>",
    "style": "}*{background:url(//127.0.0.1:9/a)}</style><style>@import'//127.0.0.1:9/b.css';",
    "json": f'\\"}}]}}</script><script>{HIT}</script>',
    "lines": f"a\u2028{HIT}\u2029//\u0085<!--\u0001-->",
    "template": f"{{{{{HIT}}}}}${{{HIT}}}#{{{HIT}}}<%={HIT}%>",
    "entity": f"&lt;script&gt;{HIT}&lt;/script&gt;&#60;script>",
    "formula": "$$\\href{javascript:window.hit=1}{a}$$\\[b\\]\\(c\\)@{words}$name",
    "order": "\u202e<\u2066gnp.exe>\u2069",
}
"""Without white space, since a record's name ends there; without slashes only where a file is named by them."""
COUNT = "document.querySelectorAll('{}').length"
OWN = 'script:not([type="application/json"])'
STRANGE = (
    "img, iframe, object, embed, base, link, form, input:not([type]), [onload], [onerror], [onfocus], [onmouseover]"
)


def named(bad):
    """As a file may be called."""
    return bad.replace("/", " ").replace("\0", "")[:120]


def genome(file, names):
    draw = random.Random(1)
    file.write_text("".join(f">{name} {name}\n{''.join(draw.choices('ACGT', k=1200))}\n" for name in names))
    return file


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name, each with texts that are to be seen on it."""
    folder = tmp_path_factory.mktemp("attacked")
    many = list(ATTACKS.values())
    made = {}

    def summarized(name, *words):
        assert main(["summarize", *map(str, words), "--out", str(folder / name), "-q"]) == 0
        return folder / name

    model = folder / named(ATTACKS["attribute"])
    model.symlink_to(DNA)
    inputs = [genome(folder / f"{named(bad)}.fa", many if i < 2 else many[i : i + 2]) for i, bad in enumerate(many[:6])]
    samples = [word for bad in many[:6] for word in ("--sample", bad)]
    out = summarized("dna", *inputs, *samples, "--window", "300", "--model", model, "--plots", "svg")
    made["dna"] = out / "report.html", many[:3]
    for picture in sorted(out.glob("plots/**/*.svg"))[:6]:
        made[picture.name] = picture, []
    rows = [
        {"id": bad, "title": bad, "text": " ".join(f"The keeper {bad} lit the lamp {n} times." for n in range(9))}
        for bad in many
    ]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    text = "\n\n".join(f"# {bad}\n\nThe keeper {bad} lit the lamp of {bad} on the rock at dusk." for bad in many)
    (folder / f"{named(ATTACKS['image'])}.md").write_text(f"{text}\n")
    inputs = [folder / "a.jsonl", folder / f"{named(ATTACKS['image'])}.md"]
    asked = ["--query", ATTACKS["end of script"], "--must-include", "lamp", "--sentences", "3"]
    out = summarized("documents", *inputs, *asked, "--plots", "svg")
    made["documents"] = out / "report.html", many[:8]
    for picture in sorted(out.glob("plots/**/*.svg"))[:3]:
        made[picture.name] = picture, []
    whole = "".join(many)
    run = Run(version=whole, command=whole, model=whole)
    facts = ModelFacts(name=whole, sha256=whole, parameters=1, mixers=[whole], segment=1)
    empty = {"texts": 1, "even": 1.0, "layers": [], "lengths": [], "retrieval": None, "tasks": [], "speed": None}
    skipped = [Skipped(what=whole, reason=whole)]
    table = Table.of_rows(whole, {whole: "string", "b": "string"}, [{whole: whole, "b": whole}])
    before, measured.HOSTILE, measured.RUN = (measured.HOSTILE, measured.RUN), whole, run
    try:
        written = {
            "check": measured.check(),
            "attention": measured.attention(),
            "bench": measured.bench(),
            "compare": compare_page(result(data=whole)),
            "conversion": conversion_page(Conversion(run=run, teacher=facts, student=facts, skipped=skipped, **empty)),
            "notebook": page("a", [Markup(table._repr_html_())]),
        }
        for name, pieces in written.items():
            (folder / f"{name}.html").write_text("".join(pieces), errors="backslashreplace")
            made[name] = folder / f"{name}.html", many[:2] if name in ("check", "conversion", "compare") else []
    finally:
        measured.HOSTILE, measured.RUN = before
    return made


def test_an_attack_that_is_let_through_is_counted(chromium, tmp_path):
    """With no escape and no policy; and by the policy alone none of them runs."""
    raw = "".join(f"<p>{ATTACKS[name]}</p>\n" for name in ("element", "attribute", "image", "frame"))
    (tmp_path / "a.html").write_text(f"<!DOCTYPE html><body>{raw}")
    (tmp_path / "b.html").write_text("".join(page("b", [Markup(raw)])))
    hits = []
    for name in "ab":
        tab = chromium.new_page()
        tab.goto((tmp_path / f"{name}.html").as_uri())
        tab.wait_for_timeout(1000)  # of a page where all is well nothing comes that could be waited for
        hits.append(tab.evaluate("window.hit || 0"))
        tab.close()
    assert hits[0] >= 2 and hits[1] == 0


def test_nothing_runs_and_all_is_text(visit, pages):
    assert len(pages) > 12 and sum(name.endswith(".svg") for name in pages) > 3
    for name, (file, texts) in pages.items():
        opened = visit(file)
        tab = opened.page
        if name.endswith(".svg"):
            assert tab.evaluate("window.hit || 0") == 0, name
            assert tab.evaluate(COUNT.format("script, a, foreignObject, [onload], [onclick]")) == 0, name
            continue
        if tab.locator("figure.drawn").count():
            tab.wait_for_function("document.documentElement.dataset.figures === 'drawn'")
        for one in tab.locator("details").all()[:20]:
            one.evaluate("one => { one.open = true; }")
        for picture in tab.locator(".plot").all()[:6]:
            picture.hover()  # what is said of a point is text too
        for choice in tab.locator("figure select").all()[:4]:
            choice.select_option(index=choice.locator("option").count() - 1)
        tab.wait_for_timeout(200)
        assert tab.evaluate("window.hit || 0") == 0, name
        assert tab.evaluate(COUNT.format(f"main {OWN}")) == tab.evaluate(COUNT.format(STRANGE)) == 0, name
        links = tab.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        assert all(link.startswith("#") for link in links), name
        shown = "".join(tab.evaluate("document.body.textContent").split())
        assert [bad for bad in texts if "".join(bad.split()) not in shown] == [], name


def test_what_a_page_may_do_is_said_by_itself(pages):
    for file, _ in pages.values():
        if file.suffix == ".html":
            head = file.read_text().partition("</head>")[0]
            assert "default-src &#x27;none&#x27;" in head and "unsafe-eval" not in head, file.name
            policy = head.partition("Content-Security-Policy")[2].partition(">")[0]
            assert "unsafe-inline" not in policy.partition("script-src")[2]
