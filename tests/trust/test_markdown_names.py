"""Names of records and files in Markdown are text there: they open no fence, no link and no element."""

import pytest

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.tokens import DnaTokenizer

NAMES = ("```", "~~~", "````x", "<script>a</script>", "[a](javascript:b)", "![a](http://b)")


def test_a_name_does_not_end_the_block_that_it_stands_in(tmp_path, capsys):
    (tmp_path / "a.fa").write_text("".join(f">{name}\nACGT\n" for name in NAMES[:4]))
    assert main(["summarize", str(tmp_path / "a.fa"), "--no-model", "--format", "md", "-q"]) == 0
    lines = capsys.readouterr().out.splitlines()
    fence = lines[2].removesuffix("text")
    assert set(fence) == {"`"} and len(fence) == 5
    assert [i for i, line in enumerate(lines) if line.strip().startswith(fence)] == [2, len(lines) - 1]


@pytest.mark.parametrize("name", NAMES[3:])
def test_facts_of_a_card_are_text(name, tmp_path):
    model = LanguageModel(ModelConfig(width=8, layers=1, heads=1))
    save(tmp_path / "m", model, DnaTokenizer(), card={"inputs": f"{name}|\n# b"})
    (line,) = [line for line in (tmp_path / "m" / "README.md").read_text().splitlines() if line.startswith("| inputs")]
    assert "<" not in line and "[" not in line.replace("\\[", "") and line.endswith("\\| # b |")
