"""Pictures of names from files: whatever these hold, a picture is one, and SVG is XML."""

from xml.etree import ElementTree

import pytest

from longseq.report.plots.canvas import KINDS, save, sheet


@pytest.mark.parametrize(
    ("name", "shown"), [("a\x1b[31m\x00", "a\ufffd[31m\ufffd"), ("a\udcff", "a\ufffd"), ("<&$x$", "<&$x$")]
)
def test_a_name_from_outside(name, shown, tmp_path):
    def draw():
        drawn = sheet(1, 1)
        drawn.text(0.1, 0.1, name)
        return drawn

    save(tmp_path, "x", KINDS, draw)
    assert shown in "".join(ElementTree.parse(tmp_path / "x.svg").getroot().itertext())
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")
