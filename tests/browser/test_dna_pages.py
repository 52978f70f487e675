"""DNA on `report.html`, as somebody looks at it: zooms, another record, figures as a table, letters, in the dark."""

import random

import pypdfium2
import pytest
from visiting import PHONE

from longseq.cli import main
from longseq.report.figures.figure import figure
from longseq.report.figures.library import STYLE, scripts
from longseq.report.figures.marks import Axis, Panel, Points, Rule, View
from longseq.report.page import page

pytestmark = pytest.mark.browser
IDEOGRAM = "#dna-ideogram"
PIXEL = """() => {
  const find = (root) => [...root.querySelectorAll("*")].flatMap(
    (one) => [...(one.tagName === "CANVAS" ? [one] : []), ...(one.shadowRoot ? find(one.shadowRoot) : [])]);
  const canvas = find(document.querySelector("#dna-ideogram"))[0];
  const copy = new OffscreenCanvas(4, 4).getContext("2d");
  copy.drawImage(canvas, 0, 0);
  return [...copy.getImageData(2, 2, 1, 1).data].slice(0, 3).join();
}"""
"""The colour of a corner of a figure."""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The page of three records, two of which are of several windows."""
    folder, draw = tmp_path_factory.mktemp("dna"), random.Random(1)
    letters = {"one": 60_000, "two&<b>": 40_000, "short": 900}
    text = "".join(f">{name}\n{''.join(draw.choices('ACGT', k=size))}\n" for name, size in letters.items())
    (folder / "a.fa").write_text(text)
    out = folder / "out"
    assert main(["summarize", str(folder / "a.fa"), "--no-model", "--window", "500", "--out", str(out), "-q"]) == 0
    return out / "report.html"


def ready(page):
    page.page.wait_for_function("document.documentElement.dataset.figures === 'drawn'")
    return page.page


def in_view(page):
    return page.locator(f"{IDEOGRAM} output").inner_text()


def press(page, name):
    before = in_view(page)
    page.click(f"{IDEOGRAM} button[aria-label='{name}']")
    page.wait_for_function(
        "([at, was]) => document.querySelector(at).textContent !== was", arg=[f"{IDEOGRAM} output", before]
    )


@pytest.mark.parametrize("dark", [False, True])
def test_no_barriers_and_nothing_sticks_out(visit, report, dark):
    page = visit(report, dark=dark)
    ready(page)
    assert page.barriers() == []
    page.shot(f"dna-{'dark' if dark else 'light'}")
    page.size(PHONE)
    assert page.wide() == [] and page.barriers() == []
    page.shot(f"dna-phone-{'dark' if dark else 'light'}")


def test_buttons_zoom_and_move(visit, report):
    page = ready(visit(report))
    assert in_view(page).startswith("In view: 1 to 60,000; a point is 500 bp. 120 windows, each is here.")
    press(page, "Zoom in")
    assert "In view: 15,001 to 45,000" in in_view(page)
    press(page, "Move left")
    assert "In view: 1 to 30,000" in in_view(page)
    press(page, "Show the whole")
    assert "In view: 1 to 60,000" in in_view(page)


def test_what_is_in_view_is_a_table(visit, report):
    page = ready(visit(report))
    press(page, "Zoom in")
    press(page, "Zoom in")
    page.click(f"{IDEOGRAM} summary:has-text('What is in view')")
    page.wait_for_selector(f"{IDEOGRAM} details tbody tr")
    rows = page.locator(f"{IDEOGRAM} details tbody tr").all_inner_texts()
    first, last = rows[0].split("\t"), rows[-1].split("\t")
    assert int(first[0].replace(",", "")) <= 22_501 and int(last[1].replace(",", "")) >= 37_500
    assert 30 < float(first[2]) < 70 and len(rows) <= 42


def test_another_record_is_chosen_by_keyboard(visit, report):
    page = visit(report)
    ready(page)
    page.page.focus(f"{IDEOGRAM} select")
    page.page.keyboard.press("ArrowDown")
    page.page.wait_for_function(f"document.querySelector('{IDEOGRAM} output').textContent.includes('40,000')")
    assert page.page.locator(f"{IDEOGRAM} option").all_inner_texts() == ["one, 60,000 bp", "two&<b>, 40,000 bp"]


def test_a_figure_that_fails_stands_alone(visit, report, tmp_path):
    text = report.read_text()
    broken = tmp_path / "broken.html"
    assert text.count('"kind":"track"') > 1
    broken.write_text(text.replace('"kind":"track"', '"kind":"hologram"', 1))
    page = ready(visit(broken, query="#%"))
    (said,) = page.locator("figure.drawn .plot p").all_inner_texts()
    assert said.startswith("This figure could not be drawn")
    page.click("#theme")
    page.evaluate("localStorage.clear()")


def test_two_choices_at_once_show_the_last(visit, report):
    page = ready(visit(report))
    page.evaluate(f"""() => {{
      const choice = document.querySelector("{IDEOGRAM} select");
      for (const one of ["1", "0", "1"]) {{ choice.value = one; choice.dispatchEvent(new Event("change")); }}
    }}""")
    page.wait_for_function(f"document.querySelector('{IDEOGRAM} output').textContent.includes('40,000')")
    page.wait_for_timeout(300)
    assert page.locator(f"{IDEOGRAM} .plot > div > .bk-Column").count() == 1


def test_the_button_recolours_the_figures(visit, report):
    page = ready(visit(report))
    light = page.evaluate(PIXEL)
    page.click("#theme")
    for _ in range(50):
        if page.evaluate(PIXEL) != light:
            break
        page.wait_for_timeout(100)
    assert sum(map(int, light.split(","))) > 600 > 200 > sum(map(int, page.evaluate(PIXEL).split(",")))
    page.evaluate("localStorage.clear()")  # the choice would hold for the next page


def test_pointing_says_what_a_window_is(visit, report):
    page = ready(visit(report))
    page.locator(IDEOGRAM).scroll_into_view_if_needed()
    box = page.locator(f"{IDEOGRAM} .plot").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 50)
    page.wait_for_function(
        """() => {
      const find = (root) => [...root.querySelectorAll("*")].flatMap(
        (one) => [...(one.shadowRoot ? [one.shadowRoot, ...find(one.shadowRoot)] : [])]);
      return find(document).some((one) => /GC: [\\d.]+ %/.test(one.textContent));
    }""",
        timeout=30_000,
    )


def test_on_paper_it_is_light(visit, report, tmp_path):
    """A picture of the printed page has next to nothing dark on it, whatever the screen shows."""
    page = visit(report, dark=True)
    ready(page)
    page.page.pdf(path=tmp_path / "a.pdf", print_background=True)
    document = pypdfium2.PdfDocument(tmp_path / "a.pdf")
    for sheet in document:
        picture = sheet.render(scale=0.5, grayscale=True).to_numpy()
        assert (picture < 80).mean() < 0.05
    assert max(map(int, page.page.evaluate(PIXEL).split(","))) < 60  # the screen is dark still


def test_names_that_look_like_formulas_are_names(visit, tmp_path):
    """The library would set them, and show a part of them."""
    marks = [Points(name="$$c$$", x=[1], y=[1], labels=["$$d$$"]), Rule(at=1.5, label="$$\\frac{a}{b}$$")]
    panel = Panel(y=Axis(label="\\[y\\]", ticks={1: "\\(a\\)"}), marks=marks)
    drawn = figure("f", [View(x=Axis(label="$$x$$"), panels=[panel])], "$$e$$")
    (tmp_path / "a.html").write_text("".join(page("$$t$$", [drawn], STYLE, scripts=scripts())))
    found = ready(visit(tmp_path / "a.html")).evaluate("""() => {
      const {views: [view]} = JSON.parse(document.querySelector("#f script").textContent);
      const [plot] = new longseqPlot.Picture(view, false, 500).plots, [up] = plot.left;
      return [plot.below[0].axis_label, up.axis_label, ...up.major_label_overrides.values(), plot.center.at(-1).text];
    }""")
    assert [text.replace("\u2060", "") for text in found] == ["$$x$$", "\\[y\\]", "\\(a\\)", "$$\\frac{a}{b}$$"]
    assert not any(mark in text for text in found for mark in ("$$", "\\[", "\\("))
