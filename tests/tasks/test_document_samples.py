"""Documents written by us, of many languages and kinds: split where a reader would, and quoted as they stand."""

import json
from pathlib import Path

import pytest

from longseq.cli import main
from longseq.tasks.document.candidates import find_sentences

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
def test_a_summary_quotes_them_as_they_stand(name, capsys):
    file = SAMPLES / f"{name}.txt"
    data = file.read_bytes()
    assert main(["summarize", str(file), "--sentences", "4", "--json"]) == 0
    (summary,) = json.loads(capsys.readouterr().out)["records"]
    known = {sentence for _, sentence in listed(name)}
    assert len(summary["sentences"]) == 4 and summary["coverage"] == 1.0 and not summary["wrapped"]
    for row in summary["sentences"]:
        assert row["text"] == data.decode()[row["start"] : row["end"]]
        assert row["text"].encode() == data[row["byte_start"] : row["byte_end"]]
        assert folded(row["text"]) in known
