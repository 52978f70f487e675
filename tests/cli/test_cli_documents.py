"""`longseq summarize` of documents: pages, folders and patterns, the text kept."""

import hashlib
import io
import json
import os

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from longseq.cli import main

PROSE = ["The lamp of the tower was lit at dusk by its keeper.", "The keeper of the tower cut its wick every night."]


@pytest.fixture
def run(capsys):
    def call(*arguments):
        code = main(["summarize", *map(str, arguments)])
        return code, *capsys.readouterr()

    return call


def pdf(pages: str) -> bytes:
    """A page for each letter: a page of text, or a scan."""
    file = io.BytesIO()
    canvas = Canvas(file, invariant=1)
    for i, page in enumerate(pages):
        if page == "t":
            canvas.drawString(72, 700, PROSE[i % 2])
        else:
            canvas.drawImage(ImageReader(Image.new("L", (9, 9))), 0, 0, 600, 850)
        canvas.showPage()
    canvas.save()
    return file.getvalue()


def test_pages_without_text_are_named_and_the_code_is_3(run, tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("tsst"))
    code, out, err = run(path, "--json")
    assert code == 3
    assert err == (
        f"longseq: {path}: expected text on its 4 pages, found none on 2: 2-3 (image);"
        " run OCR over it first: ocrmypdf --skip-text IN OUT\n"
    )
    (record,) = json.loads(out)["records"]
    assert record["coverage"] == 0.5 and [row["page"] for row in record["sentences"]] == [1, 4]
    assert run(path)[1].splitlines()[1] == f"  [p. 1, 0-52] {PROSE[0]}"
    assert f"{PROSE[1]} \\[page 4, 54-103\\]" in run(path, "--format", "md")[1]


def test_a_pdf_of_scans_is_bad_data(run, tmp_path):
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf("ss"))
    code, out, err = run(path)
    assert (code, out) == (1, "") and "expected pages with text, found 2 without (image)" in err


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "in" / "a.pdf").write_bytes(pdf("tt"))
    (tmp_path / "in" / "b.txt").write_text(PROSE[0] + "\n")
    (tmp_path / "in" / "deep" / "b.txt").write_bytes("灯塔每天晚上都会点亮，因为守塔人住在那里。\n".encode("gb18030"))
    return tmp_path / "in"


@pytest.mark.parametrize("how", ["folder", "pattern"])
def test_a_folder_and_a_pattern(run, folder, how):
    code, out, _ = run(folder if how == "folder" else f"{folder}/**/*.[tp]*", "--json")
    names = [os.path.relpath(record["file"], folder) for record in json.loads(out)["records"]]
    assert code == 0 and names == ["a.pdf", "b.txt", "deep/b.txt"]


def test_a_pattern_that_nothing_matches(run, tmp_path):
    code, _, err = run(tmp_path / "*.pdf")
    assert (
        code == 1 and err == f"longseq: {tmp_path}/*.pdf: expected a pattern that files match, found none that does\n"
    )


def test_the_text_is_kept(run, folder, tmp_path):
    kept = tmp_path / "kept"
    code, out, _ = run(folder, "--save-text", kept, "--json")
    assert code == 0 and sorted(os.listdir(kept)) == ["a.pdf.txt", "b.txt-2.txt", "b.txt.txt"]
    for record in json.loads(out)["records"]:
        data = (kept / record["text_file"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == record["sha256"]
        text = data.decode()
        assert record["length"] == len(text) and record["sentences"]
        assert all(text[row["start"] : row["end"]] == row["text"] for row in record["sentences"])
    assert run(folder, "--save-text", kept)[0] == 2
    assert run(folder, "--save-text", kept, "--force")[0] == 0


def test_bad_bytes_are_said(run, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("Größe. ".encode() * 20 + b"\xff\n")
    code, out, _ = run(path)
    assert code == 0 and "note: 1 byte is no utf-8 and stand as \ufffd" in out


def test_a_terminal_obeys_no_document(run, tmp_path, capsys):
    path = tmp_path / "esc.txt"
    red = "The keeper wrote \x1b[31mred\x1b[0m letters on the door."
    path.write_text(f"{red}\n\nThe \x9b2Jlamp was lit at dusk by its keeper.", encoding="utf-8")
    code, out, _ = run(path)
    assert code == 0 and "wrote \\x1b[31mred\\x1b[0m letters" in out and "The \\x9b2Jlamp" in out
    summary = tmp_path / "esc.json"
    summary.write_text(run(path, "--json")[1])
    assert "\x1b[31mred" in json.loads(summary.read_text())["records"][0]["sentences"][0]["text"]
    path.write_text("It is \x1b[31mgone.")
    assert main(["verify", str(summary)]) == 1
    assert "\x1b" not in capsys.readouterr().out
