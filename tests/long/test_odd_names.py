"""Files and folders of any name that a file system takes."""

import json
import os
import shutil

import pytest

from longseq.cli import main
from longseq.formats.paths import LONGEST_NAME, hidden, hidden_alike
from longseq.report.samples import sample_names

NAMES = {
    "undecodable": os.fsdecode(b"a\xffb"),
    "marks": "-a 'b' \"c\" #%s*[x]~{}\\n\n\t. ",
    "longest": "n" * LONGEST_NAME,
    "tilde": "~",
}
LETTERS = "ACGTTGCAAC" * 60
TEXT = "# Log\n\nThe tide was out. A lamp burned in the lighthouse all night. Nobody came back from the island.\n"


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    import torch

    from longseq.model import LanguageModel, ModelConfig, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return folder


@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES)
def test_inputs_outputs_and_models(name, model, tmp_path, monkeypatch, capsys):
    def run(*words):
        code = main([str(word) for word in words])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        return out

    for folder in ("in", "text", "out"):
        (tmp_path / folder).mkdir()
    monkeypatch.chdir(tmp_path / "in")
    with open(name, "w") as file:
        file.write(f">r\n{LETTERS}\n")
    assert json.loads(run("summarize", "--no-model", "--json", "-q", "--", name))["files"][0]["file"] == name
    run("embed", "--model", model, "--window", 100, f"--out={tmp_path}/v.parquet", "-q", "--", name)
    assert json.loads(run("info", "--json", "--", name))["path"] == name

    monkeypatch.chdir(tmp_path / "text")
    with open(name, "w") as file:
        file.write(TEXT)
    run("summarize", "-q", f"--out={tmp_path}/s", "--", name)
    assert json.loads((tmp_path / "s" / "summary.json").read_text())["records"][0]["file"] == name
    assert len((tmp_path / "s" / "files.tsv").read_text().split("\n")) == 3
    run("verify", "-q", tmp_path / "s")

    monkeypatch.chdir(tmp_path / "out")
    source = tmp_path / "x.fa"
    source.write_text(f">r\n{LETTERS}\n")
    run("summarize", "--no-model", f"--out={name}", "-q", source)
    run("summarize", "--no-model", f"--out={name}", "-q", "--force", source)
    shutil.rmtree(name)
    run("score", "--model", model, f"--out={name}", "--snapshot-every", 100, "-q", source)
    shutil.rmtree(name)
    run("embed", "--model", model, f"--out={name}", "-q", source)
    run("info", "--", name)
    os.unlink(name)
    run("score", "--model", model, f"--save-state={name}", "-q", source)
    run("score", "--model", model, f"--state={name}", "-q", source)
    os.unlink(name)
    shutil.copytree(model, name)
    run("score", f"--model={name}", "-q", source)


def test_a_path_of_more_than_a_thousand_letters(tmp_path, capsys):
    deep = tmp_path.joinpath(*("d" * 90 for _ in range(12)))
    deep.mkdir(parents=True)
    (deep / "x.fa").write_text(f">r\n{LETTERS}\n")
    assert main(["summarize", "--no-model", str(deep / "x.fa"), "--out", str(deep / "out"), "-q"]) == 0
    capsys.readouterr()
    assert json.loads((deep / "out" / "run.json").read_text())["files"][0]["file"] == str(deep / "x.fa")


def test_two_names_that_differ_in_a_byte_that_is_no_text(tmp_path, capsys):
    names = [os.fsdecode(os.fsencode(tmp_path) + b"/a%c.fa" % byte) for byte in (0xFE, 0xFF)]
    for name in names:
        with open(name, "w") as file:
            file.write(f">r\n{LETTERS}\n")
    assert main(["summarize", "--no-model", *names, "--out", str(tmp_path / "o"), "-q"]) == 0
    capsys.readouterr()
    assert [one["file"] for one in json.loads((tmp_path / "o" / "summary.json").read_text())["files"]] == names
    rows = (tmp_path / "o" / "files.tsv").read_text().splitlines()
    assert len({row.split("\t")[0] for row in rows}) == len({row.split("\t")[1] for row in rows}) == 3
    assert len(list((tmp_path / "o" / "tracks").iterdir())) == 2


def test_hidden_names_fit_and_differ(tmp_path):
    long = [tmp_path / ("n" * 250 + letter) for letter in "ab"]
    made = [path(one, ".partial") for one in long for path in (hidden, hidden_alike)]
    assert all(len(one.name) <= LONGEST_NAME and one.name.startswith(".n") for one in made)
    assert len(set(made)) == 2
    assert hidden_alike(tmp_path / "x.tsv", ".1").name == ".x.1.tsv"
    assert len(hidden_alike(tmp_path / f"x.{'y' * 253}", ".1").name) <= LONGEST_NAME


def test_names_of_many_samples_in_folders_called_alike():
    """Were each compared with all others, this would take longer than a test may."""
    files = [f"/runs/s{i}/spades/contigs.fasta" for i in range(50_000)]
    names = sample_names([*files, *files[:1] * 20_000])
    assert names[7] == "s7 | spades | contigs" and len(set(names)) == 70_000
