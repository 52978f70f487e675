"""Documents written by us, of many languages and kinds: split where a reader would, and quoted as they stand."""

from pathlib import Path

import pytest

from longseq.formats import read
from longseq.tasks.summarize.candidates import find_sentences
from longseq.tasks.summarize.document import summarize_document
from longseq.tasks.summarize.select import Budget

SAMPLES = Path(__file__).parent / "samples"
NAMES = ["opinion", "deposition", "judgment", "chinese", "japanese", "arabic", "hindi"]


def folded(text: str) -> str:
    return " ".join(text.split())


def listed(name: str) -> list[tuple[str, str]]:
    """(section, sentence), as NAME.sentences.txt has them: `# ` begins a section."""
    section, found = "", []
    for line in (SAMPLES / f"{name}.sentences.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("# "):
            section = line[2:]
        else:
            found.append((section, folded(line)))
    return found


@pytest.mark.parametrize("size", [1, 10_000])
@pytest.mark.parametrize("name", NAMES)
def test_sentences_and_sections_are_those_that_a_reader_sees(name, size):
    text = (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")
    found = list(find_sentences(text[i : i + size] for i in range(0, len(text), size)))
    assert [
        (f.section, folded(f.sentence.text)) for f in found if f.part not in ("heading", "table", "blank")
    ] == listed(name)


@pytest.mark.parametrize("name", NAMES)
def test_a_summary_quotes_them_as_they_stand(name):
    file = SAMPLES / f"{name}.txt"
    text = file.read_bytes().decode()
    (record,) = read(str(file))
    summary = summarize_document(record, Budget(amount=4))
    known = {sentence for _, sentence in listed(name)}
    assert len(summary.sentences) == 4 and summary.coverage == 1.0 and not summary.wrapped
    for row in summary.sentences:
        assert row.text == text[row.start : row.end] == file.read_bytes()[row.byte_start : row.byte_end].decode()
        assert folded(row.text) in known
