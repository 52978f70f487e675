"""The visitors of the other tests here see what is wrong with a page."""

import pytest
from visiting import PHONE

pytestmark = pytest.mark.browser
PAGE = """<!DOCTYPE html><html lang="en"><head><meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'"><title>Lamp</title>
</head><body><main><h1>Lamp</h1><a href="#b">Down</a>{}<p id="b" style="margin-top: 2000px">B</p></main></body></html>
"""


@pytest.mark.parametrize(
    ("body", "heard"),
    [
        ("<script>alert(1)</script>", "error: "),
        ("<p onclick=x()>a</p>", "error: "),
        ("<img alt='' src='https://127.0.0.1:9/a.png'>", "error: "),
        ("<iframe title=a src='a.html'></iframe>", "error: "),
    ],
)
def test_faults_are_heard(visit, tmp_path, body, heard):
    (tmp_path / "a.html").write_text(PAGE.format(body))
    page = visit(tmp_path / "a.html")
    page.turns(lambda: any(fault.startswith(heard) for fault in page.faults), False)
    page.faults.clear()


def test_requests_and_dialogs_are_heard(visit, tmp_path):
    (tmp_path / "a.html").write_text("<!DOCTYPE html><img src=b.png><script>alert(1)</script>")
    page = visit(tmp_path / "a.html")
    assert sorted(fault.split()[0] for fault in page.faults if "console" not in fault) == ["alert:", "asked", "error:"]
    page.faults.clear()


def test_eyes_and_keyboard(visit, tmp_path):
    (tmp_path / "a.html").write_text(PAGE.format('<p style="color: #999">grey</p><div style="width: 800px">wide</div>'))
    page = visit(tmp_path / "a.html", size=PHONE)
    assert [fault[:7] for fault in page.barriers()] == ["serious"]
    body, wide = page.wide()
    assert "<main>" in body and "800px" in wide
    assert not page.seen("#b")
    page.tab_to("a")
    assert page.focused() == 'a "Down"'
    page.page.keyboard.press("Enter")
    page.comes("#b")
