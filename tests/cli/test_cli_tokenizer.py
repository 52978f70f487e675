"""`longseq tokenizer` as a person calls it."""

import json
import math
from collections import Counter

import pytest
from tokenizers import Tokenizer

from longseq.cli import main


@pytest.fixture
def docs(tmp_path):
    folder = tmp_path / "docs"
    (folder / "deep").mkdir(parents=True)
    (folder / "b.txt").write_text("The lamp was lit; the lamp burned.\n" * 30)
    (folder / "deep" / "a.jsonl").write_text(
        "".join(json.dumps({"text": f"Note {i} of the keeper."}) + "\n" for i in range(30))
    )
    (folder / ".hidden").write_text("\0\0\0")
    return folder


def test_characters_and_words(docs, tmp_path, capsys):
    out = tmp_path / "t.json"
    letters = set("The lamp was lit; the lamp burned.\nNote 0123456789 of the keeper.")
    words = {"The", "lamp", "was", "lit;", "the", "burned.", "Note", "of", "keeper."}
    assert main(["tokenizer", "train", str(docs), "--out", str(out), "--unit", "characters", "-q"]) == 0
    assert main(["tokenizer", "show", str(out), "tide", "--json"]) == 0
    said = capsys.readouterr().out.splitlines()
    facts = json.loads("".join(said[1:]))
    assert said[0].startswith(f"{out}: {2 + len(letters)} ids") and facts["pieces"] == ["t", "i", "d", "e"]
    assert main(["tokenizer", "train", str(docs), "--out", str(out), "--unit", "words", "-q", "--force"]) == 0
    assert f"{out}: {2 + len(words)} ids" in capsys.readouterr().out
    assert main(["tokenizer", "train", str(docs), "--out", str(out), "--unit", "syllables"]) == 2


def test_a_folder_of_documents(docs, tmp_path, capsys):
    out = tmp_path / "tokenizer.json"
    assert main(["tokenizer", "train", str(docs), "--out", str(out), "--vocabulary", "270", "-q"]) == 0
    assert capsys.readouterr().out == f"{out}: 270 ids from 1.7 k of 1.7 k letters\n"
    text = "The keeper lit the lamp."
    assert main(["tokenizer", "show", str(out), text, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    ids = Tokenizer.from_file(str(out)).encode(text).ids
    share = [count / len(ids) for count in Counter(ids).values()]
    bits = -sum(p * math.log2(p) for p in share)
    assert (facts["for"], facts["vocabulary"], facts["end"], facts["exact"]) == ("documents", 270, 0, True)
    assert (facts["letters"], facts["tokens"]) == (len(text), len(ids)) and "".join(facts["pieces"]) == text
    assert facts["bits_per_token"] == pytest.approx(bits)
    assert facts["bits_per_letter"] == pytest.approx(bits * len(ids) / len(text))
    assert main(["tokenizer", "train", str(docs), "--out", str(out)]) == 2
    assert "--force to replace it" in capsys.readouterr().err


def test_dna(tmp_path, capsys):
    (tmp_path / "g.fa").write_text(">g\n" + "GATTACA" * 300 + "NN" + "gattaca" * 50 + "\n")
    out = str(tmp_path / "tokenizer.json")
    assert main(["tokenizer", "train", str(tmp_path / "g.fa"), "--out", out, "--vocabulary", "30", "-q"]) == 0
    assert main(["tokenizer", "show", out, "--input", str(tmp_path / "g.fa"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out.split("\n", 1)[1])
    assert (facts["for"], facts["kind"], facts["letters"]) == ("dna", "byte-pair encoding", 2452)
    assert facts["tokens"] < 2452 / 3 and "pieces" not in facts
    assert main(["tokenizer", "train", "--kmer", "4", "--ambiguity", "N", "--out", out, "--force"]) == 0
    capsys.readouterr()
    assert main(["tokenizer", "show", out, "acgtacgtRac"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("4-mers for dna, 261 ids\nIUPAC codes: read as N\n")
    assert said.endswith("\nACGT ACGT N A C\n") and "11 letters, 5 tokens, 4 ids in use" in said


@pytest.mark.parametrize(("words", "code", "message"), [
    (["train", "--out", "t.json"], 2, "nothing to learn from; name files or folders, or give --kmer K"),
    (["train", "{docs}", "--kmer", "4", "--out", "t.json"], 2, "--kmer learns nothing"),
    (["train", "--kmer", "4", "--lowercase", "--out", "t.json"], 2, "--kmer learns nothing"),
    (["train", "--kmer", "9", "--out", "t.json"], 2, "k: expected 2 to 8 bases, found 9"),
    (["train", "{docs}", "--vocabulary", "200", "--out", "t.json"], 2, "vocabulary: expected more than the 256 bytes"),
    (["train", "nowhere", "--out", "t.json"], 1, "nowhere: no such file"),
    (["train", "{folder}/empty", "--out", "t.json"], 1, "expected a folder of files, found none in it"),
    (["train", "{docs}/b.txt", "{folder}/g.fa", "--out", "t.json"], 1, "expected document, as before it, found dna"),
    (["show", "{docs}/b.txt"], 1, "expected a tokenizer.json"),
    (["show", "{folder}/k.json", "ACG!"], 1, "found '!' at base 4"),
    (["show", "{folder}/k.json", "--input", "{docs}"], 2, "expected dna, which the tokenizer is for, found document"),
    (["show", "{folder}/k.json", "ACGT", "--input", "{docs}"], 2, "a text and files exclude each other"),
    ([], 2, "missing command"),
])  # fmt: skip
def test_wrong_requests(docs, tmp_path, monkeypatch, capsys, words, code, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "g.fa").write_text(">g\nACGT\n")
    assert main(["tokenizer", "train", "--kmer", "2", "--out", "k.json"]) == 0
    capsys.readouterr()
    assert main(["tokenizer", *(word.format(docs=docs, folder=tmp_path) for word in words)]) == code
    said = capsys.readouterr()
    assert message in said.err and said.err.count("\n") == 1 and said.out == ""
    assert not (tmp_path / "t.json").exists()
