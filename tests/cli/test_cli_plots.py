"""`--plots`: what is drawn of which input, in the same bytes by one process and by shards, and what is refused."""

import random

import pytest

from longseq.cli import main


@pytest.fixture
def contigs(tmp_path):
    made = random.Random(0)
    texts = [f">c{i} d\n{''.join(made.choices('ACGT', k=n))}\n" for i, n in enumerate((2500, 1400, 90, 0))]
    (tmp_path / "a.fa").write_text("".join(texts))
    return str(tmp_path / "a.fa")


def pictures(folder):
    return {path.name: path.read_bytes() for path in (folder / "plots").iterdir()}


def test_shards_draw_the_pictures_of_one_process(contigs, tmp_path):
    asked = ["summarize", contigs, "--no-model", "--window", "200", "--plots", "svg", "-q"]
    assert main([*asked, "--out", str(tmp_path / "one")]) == 0
    found = pictures(tmp_path / "one")
    assert sorted(found) == ["gc.svg", "lengths.svg", "record_01.svg", "record_02.svg"]
    assert b"number 2 by length of 2" in found["record_02.svg"] and b"c1</text>" in found["record_02.svg"]
    assert not any(b"dc:date" in data for data in found.values())
    for part in ("1/2", "2/2"):
        assert main([*asked, "--out", str(tmp_path / "batch"), "--shard", part]) == 0
    assert main(["merge", str(tmp_path / "batch"), "--out", str(tmp_path / "merged"), "-q"]) == 0
    assert pictures(tmp_path / "merged") == found


def test_a_record_alone_has_no_lengths_and_an_earlier_run_goes(contigs, tmp_path):
    asked = ["summarize", contigs, "--no-model", "--window", "200", "--out", str(tmp_path / "o"), "-q"]
    assert main([*asked, "--region", "c0", "--plots", "png"]) == 0
    (name, data), *others = pictures(tmp_path / "o").items()
    assert name == "record_01.png" and data.startswith(b"\x89PNG") and not others
    assert main([*asked, "--force"]) == 0 and not (tmp_path / "o" / "plots").exists()


@pytest.mark.parametrize(
    ("argv", "said"),
    [
        (["summarize", "x.fa", "--plots", "pdf", "--out", "o"], "'pdf' is not one of 'png', 'svg'"),
        (["summarize", "x.fa", "--plots", "png"], "--plots needs --out DIR"),
    ],
)
def test_what_is_refused(argv, said, capsys):
    assert main(argv) == 2
    assert said in capsys.readouterr().err


def test_documents_with_enough_to_choose_from_are_drawn(tmp_path):
    (tmp_path / "short.txt").write_text("Only this stands here.\n")
    out = tmp_path / "o"
    asked = ["summarize", "data/lighthouse.md", str(tmp_path / "short.txt"), "--plots", "svg", "--out", str(out), "-q"]
    assert main(asked) == 0
    ((name, data),) = pictures(out).items()
    assert name == "document_01.svg" and b"The Light on Carrow Ness</text>" in data and b"196 sentences" in data
