"""`longseq generate` as a person calls it."""

import io
import json

import pytest

from longseq.cli import main
from longseq.model import LanguageModel, ModelConfig, save
from longseq.records import Record
from longseq.tokens import DnaTokenizer
from longseq.tokens.train import Learning, learn


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    shape = {"width": 16, "heads": 2, "layers": 1}
    save(folder / "dna", LanguageModel(ModelConfig(**shape)), DnaTokenizer())
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter(["The tide was out. " * 50]))
    tokenizer = learn([record], Learning(vocabulary=270)).tokenizer
    save(folder / "text", LanguageModel(ModelConfig(vocabulary=tokenizer.vocabulary, **shape)), tokenizer)
    return folder


@pytest.fixture
def run(models, capsys):
    def call(*words, model="dna"):
        code = main(["generate", "--model", str(models / model), *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_the_continuation_and_nothing_else(run):
    code, out, err = run("--prompt", "GATTACA", "--length", 50)
    assert (code, err) == (0, "") and len(out) == 51 and set(out.strip()) <= set("ACGT")
    assert run("--prompt", "gattaca", "--length", 50)[1] == out
    assert run("--prompt", "GATTACA", "--length", 50, "--seed", 1)[1] != out
    assert run("--prompt", "GATTACA", "--length", 0) == (0, "\n", "")


def test_from_a_saved_state(run, tmp_path):
    state = tmp_path / "s"
    _, whole, _ = run("--prompt", "GATTACA", "--length", 50)
    _, some, _ = run("--prompt", "GATTACA", "--length", 20, "--save-state", state)
    code, more, _ = run("--state", state, "--length", 30)
    assert code == 0 and some[:-1] + more == whole
    code, _, err = run("--save-state", state)
    assert code == 2 and "exists already; give another name, or --force to replace it" in err
    assert run("--save-state", state, "--force")[0] == 0
    code, _, err = run("--state", state, model="text")
    assert code == 1 and "found one of another model" in err


def test_a_prompt_from_a_file_and_standard_input(run, tmp_path, monkeypatch):
    (tmp_path / "p.fa").write_text(">p\nGATTACA\n")
    few = ("--length", 20)
    wanted = run("--prompt", "GATTACA", *few)
    assert run("--prompt-file", tmp_path / "p.fa", *few) == wanted
    with open(tmp_path / "p.fa", "rb") as file:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(file))
        assert run("--prompt-file", "-", *few) == wanted
    (tmp_path / "p.txt").write_text("The tide was")
    wanted = run("--prompt", "The tide was", *few, model="text")
    assert run("--prompt-file", tmp_path / "p.txt", *few, model="text") == wanted


def test_json_is_one_document(run):
    code, out, _ = run("--prompt", "The tide", "--length", 40, "--json", "--ignore-end", model="text")
    found = json.loads(out)
    assert code == 0 and found["schema"] == "longseq.generate/1" and found["run"]["tokens"] == 40
    assert len(found["ids"]) == len(found["bits"]) == 40 and all(bits >= 0 for bits in found["bits"])
    plain = run("--prompt", "The tide", "--length", 40, "--ignore-end", model="text")[1]
    assert plain == found["text"] + "\n"


@pytest.mark.parametrize(("words", "code", "said"), [
    (["--prompt", "ACGT", "--prompt-file", "x"], 2, "--prompt and --prompt-file exclude each other"),
    (["--prompt", "AC!T"], 1, "longseq: prompt: expected a DNA letter, found '!' at base 3"),
    (["--prompt-file", "nowhere.fa"], 1, "nowhere.fa: no such file"),
    (["--prompt-file", "two.fa"], 2, "is a second record; a prompt is one record"),
    (["--prompt-file", "t.txt"], 1, "expected DNA, which the model reads, found document"),
    (["--temperature", "-1"], 2, "temperature: expected >= 0"),
    (["--top-p", "0"], 2, "top-p: expected above 0, at most 1"),
    (["--top-k", "-1"], 2, "top-k: expected >= 0 tokens"),
    (["--length", "-1"], 2, "--length"),
    (["--state", "t.txt"], 1, "t.txt: expected a saved state"),
    (["--device", "abacus"], 2, "--device"),
])  # fmt: skip
def test_wrong_requests(run, tmp_path, monkeypatch, words, code, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two.fa").write_text(">a\nACGT\n>b\nACGT\n")
    (tmp_path / "t.txt").write_text("A sentence of words.\n")
    found, out, err = run(*words)
    assert (found, out) == (code, "") and said in err and err.count("\n") == 1
