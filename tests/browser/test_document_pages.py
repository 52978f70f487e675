"""Documents on `report.html`, as somebody reads them: with a mouse, with a keyboard, on a telephone, in the dark."""

import json
from pathlib import Path

import pytest
from visiting import DESK, PHONE

from longseq.cli import main

pytestmark = pytest.mark.browser
LIGHTHOUSE = Path(__file__).parents[2] / "data" / "lighthouse.md"
HOSTILE = (
    '<script>alert("a")</script>',
    "</script><script>alert(2)</script><!--",
    "\"' onmouseover='alert(3)' autofocus onfocus=alert(4) x=\"",
    "<img src=x onerror=alert(5)><svg/onload=alert(6)>",
    "javascript:alert(7)",
    "]]></title></style></section><base href='https://127.0.0.1/'>",
    "{{alert(8)}} ${alert(9)} \u2028\u2029 \u202egnp.exe",
)


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """`report(name, inputs, *options)`: the page of a run, made once."""
    made = {}

    def page(name, inputs, *options):
        if name not in made:
            folder = tmp_path_factory.mktemp(name) / "out"
            assert main(["summarize", *map(str, inputs), *options, "--out", str(folder), "-q"]) == 0
            made[name] = folder / "report.html"
        return made[name]

    return page


@pytest.fixture(scope="module")
def asked(report):
    return report("asked", [LIGHTHOUSE], "--query", "Who lit the lamp?")


@pytest.fixture(scope="module")
def hostile(report, tmp_path_factory):
    """Documents whose titles, sections, names and sentences are markup and code."""
    folder = tmp_path_factory.mktemp("hostile")
    rows, sections = [], []
    for k, bad in enumerate(HOSTILE):
        text = " ".join(f"The keeper {bad} lit the lamp {n} times for {bad} on the rock." for n in range(k, k + 15))
        rows.append({"id": f"{bad} {k}", "title": bad, "text": text})
        sections.append(f"{'#' * (1 + k % 2)} {bad}\n\n{text}\n")
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "<b onload=alert(0)>'&.md").write_text("\n".join(sections))
    return report("hostile", sorted(folder.iterdir()), "--query", HOSTILE[1], "--sentences", "3")


def ready(page):
    page.page.wait_for_function("document.documentElement.dataset.figures === 'drawn'")
    return page


@pytest.mark.parametrize(("dark", "size"), [(False, DESK), (True, PHONE)])
def test_no_barriers_and_nothing_sticks_out(visit, asked, dark, size):
    page = ready(visit(asked, dark=dark, size=size))
    assert page.wide() == [] and page.barriers() == []
    page.shot(f"document-{'dark' if dark else 'light'}")


def test_a_click_on_a_sentence_shows_it_in_its_place_and_back(visit, asked):
    page = ready(visit(asked))
    mark = page.page.locator("#d1-s9")
    assert not page.seen("#d1-s9")
    page.page.click("#d1-l9 a")
    page.comes("#d1-s9")
    assert not page.seen("#d1-l9")
    said = page.page.locator("#d1-l9 bdi").inner_text()
    assert " ".join(mark.inner_text().split()) == " ".join(said.split())
    page.page.click("#d1-s9 + sup a")
    page.comes("#d1-l9")


def test_an_answer_leads_to_where_it_stands(visit, asked):
    page = ready(visit(asked))
    assert page.page.locator("ol.answers li").first.locator("b").all_inner_texts() == ["lamp", "lit"]
    for words in ("of the summary", "in context"):
        link = page.page.locator("ol.answers a", has_text=words).first
        target = link.get_attribute("href")
        link.click()
        page.comes(target)


def test_the_figure_zooms_and_moves(visit, asked):
    page = ready(visit(asked))
    said = page.page.locator("#salience-d1 output").inner_text
    picture = page.page.locator("#salience-d1 .plot").screenshot
    whole, drawn = said(), picture()
    for name in ("Zoom in", "Zoom in", "Move right"):
        before = said()
        page.page.click(f"#salience-d1 [aria-label='{name}']")
        page.turns(said, before)
    page.turns(picture, drawn)
    page.page.click("#salience-d1 [aria-label='Show the whole']")
    page.page.wait_for_function("words => document.querySelector('#salience-d1 output').innerText === words", arg=whole)


def test_light_and_dark_by_the_system_and_by_the_button(visit, asked):
    page = ready(visit(asked))
    paper = "getComputedStyle(document.body).backgroundColor"
    picture = page.page.locator("#salience-d1 .plot").screenshot
    light, drawn = page.page.evaluate(paper), picture()
    page.page.emulate_media(color_scheme="dark")
    assert page.page.evaluate(paper) != light
    page.turns(picture, drawn)
    page.page.click("#theme")
    assert page.page.evaluate(paper) == light
    page.page.reload()
    page.page.wait_for_selector("#theme:visible")
    assert page.page.evaluate(paper) == light  # as it was chosen


def test_the_keyboard_is_enough(visit, asked):
    page = ready(visit(asked))
    page.page.keyboard.press("Tab")
    assert page.focused() == 'a "Skip to the content"'
    page.page.keyboard.press("Enter")
    page.tab_to("#d1-l1 a")
    page.page.keyboard.press("Enter")
    page.comes("#d1-s1")
    page.page.keyboard.press("Tab")  # what comes next is the way back
    assert page.focused() == 'a "Sentence 1 in the summary"'
    page.page.keyboard.press("Enter")
    page.comes("#d1-l1")
    page.tab_to("#salience-d1 [aria-label='Zoom in']")
    said = page.page.locator("#salience-d1 output").inner_text
    before = said()
    page.page.keyboard.press("Enter")
    page.turns(said, before)
    page.tab_to("#salience-d1 details summary")
    page.page.keyboard.press("Enter")
    assert page.page.locator("#salience-d1 details table").is_visible()


def test_nothing_in_a_document_is_run(visit, hostile):
    page = ready(visit(hostile))
    page.page.mouse.move(400, 300)
    for picture in page.page.locator(".plot").all():
        picture.hover()  # what is said of a bar is text, too
    assert page.page.locator("main script:not([type='application/json'])").count() == 0
    assert page.page.locator("img, svg, base, iframe, [onload], [onerror], [onfocus], [onmouseover]").count() == 0
    links = page.page.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
    assert all(link.startswith("#") for link in links)
    shown = page.page.locator("body").inner_text()
    assert all(" ".join(bad.split()) in " ".join(shown.split()) for bad in HOSTILE)
    assert page.wide() == [] and page.barriers() == []


def test_many_documents_are_found_by_the_list(visit, hostile):
    page = ready(visit(hostile, size=PHONE))
    assert page.wide() == []
    page.page.click("#documents ol li:nth-child(6) a")
    page.comes("#d6 h2")
    assert not page.seen("#documents h2")


def test_on_paper(visit, asked):
    page = ready(visit(asked, dark=True))
    page.page.emulate_media(media="print")
    assert page.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.page.locator("#theme").is_visible() and page.page.locator("#d1-s1").is_visible()
    assert len(page.page.pdf()) > 20_000
