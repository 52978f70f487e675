"""The page of a comparison in a browser: all is drawn, a reader chooses what is shown, nothing stands in the way."""

import pytest
from compared import FACTORS, result
from visiting import PHONE

from longseq.report.compare_page import compare_page

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("story") / "compare.html"
    path.write_text("".join(compare_page(result())), encoding="utf-8")
    return path


def test_all_models_are_drawn_and_chosen_from(visit, file):
    page = visit(file)
    page.page.wait_for_function("document.documentElement.dataset.figures == 'drawn'")
    for name in ("gradients", "costs", "learning-addition", "learning-bases"):
        figure = page.page.locator(f"#{name}")
        assert all(model in figure.inner_text() for model in FACTORS)
        choice = figure.locator("select")
        last = choice.locator("option").last.inner_text()
        choice.select_option(label=last)
        assert figure.locator("canvas").count() > 0
    assert page.barriers() == []
    page.page.click("#theme")
    assert page.barriers() == []
    page.shot("story")


def test_formulas_are_set_and_a_telephone_holds_the_page(visit, file):
    page = visit(file, size=PHONE)
    heights = page.page.evaluate(
        "[...document.querySelectorAll('math')].map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) == 5 and sorted(heights)[1] > 30  # one is a line; fractions are higher than letters
    assert page.wide() == []
    page.shot("story-phone")
