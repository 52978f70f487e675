"""One Chromium for all tests here, and a page of its own for each."""

import os
import shutil

import pytest
from visiting import DESK, FLAGS, PATIENCE, Visit


@pytest.fixture(scope="session")
def chromium():
    from playwright.sync_api import sync_playwright

    assert "LONGSEQ_AXE" in os.environ, "LONGSEQ_AXE has to name axe-core's axe.min.js"
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield browser.new_context(offline=True)
        browser.close()


@pytest.fixture
def visit(chromium):
    """`visit(file, dark=False, size=(width, height))` opens a page; when the test is over, nothing may have gone wrong
    on any: no error or warning on the console, no request that leaves the page, no dialog."""
    visits = []

    def opened(file, *, dark=False, size=DESK, query=""):
        page = chromium.new_page()
        page.set_default_timeout(1000 * PATIENCE)
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.emulate_media(color_scheme="dark" if dark else "light")
        visits.append(Visit(page, file, query))
        return visits[-1]

    yield opened
    for one in visits:
        one.page.evaluate("localStorage.clear()")  # pages on one disk share it
        one.page.close()
    assert [fault for one in visits for fault in one.faults] == []
