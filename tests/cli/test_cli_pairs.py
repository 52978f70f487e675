"""From a table of pairs to answers, as a person calls it."""

import json

import pytest

from longseq.cli import main
from longseq.tasks.document.select import Budget
from longseq.tasks.document.written import fitting


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs")
    things = ["sea", "house", "lamp", "rock", "tide", "boat"]
    rows = [f"{colour} {thing},{thing}" for colour in ("red", "blue", "old", "far", "lit") for thing in things]
    (folder / "pairs.csv").write_text("\n".join(["source,target", *rows]) + "\n")
    settings = {"model.width": 16, "model.layers": 1, "pairs.unit": "words", "steps": 60, "batch": 80}
    settings |= {"data.window": 8, "optimiser.rate": 1e-2}
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    words += ["--device", "cpu", "--threads", "1", "-q"]
    assert main(["train", str(folder / "pairs.csv"), "--task", "seq2seq", "--out", str(folder / "run"), *words]) == 0
    return folder / "run" / "model"


@pytest.fixture
def ask(model, capsys):
    def call(*words):
        capsys.readouterr()
        code = main(["generate", "--model", str(model), *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_source_is_answered(ask):
    assert ask("--prompt", "old boat") == (0, "boat\n", "")
    code, out, _ = ask("--prompt", "red  lamp", "--json")
    found = json.loads(out)
    assert code == 0 and (found["text"], found["ended"], len(found["ids"])) == ("lamp", True, 2)


def test_each_line_of_a_file_is_answered(ask, tmp_path):
    file = tmp_path / "sources.txt"
    file.write_text("old boat\nlit sea\nfar rock\n")
    assert ask("--prompt-file", file) == (0, "boat\nsea\nrock\n", "")
    for words in (["--json"], ["--save-state", tmp_path / "s"]):
        code, _, err = ask("--prompt-file", file, *words)
        assert code == 2 and "take one source" in err
    file.write_text("old boat\n\nlit sea\n")
    code, out, err = ask("--prompt-file", file)
    assert (code, out) == (1, "") and "sources.txt:2: expected a source on each line" in err


def test_an_answer_goes_on_from_its_state(ask, tmp_path):
    state = tmp_path / "s"
    assert ask("--prompt", "old boat", "--length", 0, "--save-state", state)[:2] == (0, "\n")
    assert ask("--state", state) == (0, "boat\n", "")


def test_what_cannot_be_answered_is_said(ask):
    code, out, err = ask("--prompt", "old ship")
    assert (code, out) == (1, "") and "prompt: expected what the model has learned, found 'ship'" in err
    code, _, err = ask()
    assert code == 2 and "nothing is asked; give a source" in err


@pytest.fixture
def summarize(model, tmp_path, capsys):
    """`summarize(text, …)`: a document that says `text`, in the words of the model."""

    def call(text, *words, name="a.txt", using=model):
        path = tmp_path / name
        path.write_text(text)
        capsys.readouterr()
        given = [] if using is None else ["--model", str(using)]
        code = main(["summarize", str(path), "--method", "generate", *given, *map(str, words)])
        said = capsys.readouterr()
        return code, said.out, said.err

    return call


def test_a_document_in_a_models_own_words(summarize, model, tmp_path, capsys):
    code, out, err = summarize("old boat\n", "--json")
    document = json.loads(out)
    (record,) = document["records"]
    (row,) = record["sentences"]
    assert (code, err, row["text"], record["method"], record["words"]) == (0, "", "boat", "generate", 2)
    assert all(row[name] is None for name in ("start", "end", "byte_start", "byte_end", "page", "score"))
    assert record["remarks"][0].startswith("not verbatim: ")
    assert record["model"] == document["run"]["model"] == str(model) and record["model_sha256"]
    assert "boat \\[not verbatim\\]" in summarize("old boat\n", "--format", "md")[1]
    assert "[not verbatim] boat\n" in summarize("old boat\n")[1]
    page = summarize("old boat\n", "--format", "html")[1]
    assert "Not verbatim" in page and "<mark" not in page and "#d1-s1" not in page
    (tmp_path / "s.json").write_text(out)
    assert main(["verify", str(tmp_path / "s.json")]) == 3
    assert "a.txt: not verbatim\n" in capsys.readouterr().out


def test_what_cannot_be_written_is_refused(summarize, tmp_path):
    code, out, err = summarize("old boat\n", using=None)
    assert (code, out) == (2, "") and "--method generate needs a model that writes" in err and "--task seq2seq" in err
    code, out, err = summarize("old boat\n", using="dna")
    assert (code, out) == (1, "") and "dna: expected a model that learned documents and their summaries" in err
    code, out, err = summarize("old horse\n")
    assert (code, out) == (1, "") and "(a.txt): expected what the model has learned, found something else at 4-9" in err
    code, out, err = summarize(">a\nACGTACGTACGTACGTACGT\n", name="a.fa")
    assert (code, out) == (1, "") and "a.fa: expected a document to write of, found DNA" in err
    assert "there is nothing in it" in summarize("   \n \n")[1]


def test_what_is_written_keeps_to_its_budget():
    told = "The lamp was lit at dusk by the keeper. It burned until dawn over the sea. Nobody saw it go out then."
    rows, cut = fitting(told, Budget(amount=17, unit="words"), 17)
    assert rows == [
        "The lamp was lit at dusk by the keeper.",
        "It burned until dawn over the sea.",
    ]
    assert cut == "cut after 2 of 3 sentences"
    assert fitting(told, Budget(amount=4, unit="words"), 4) == (["The lamp was lit"], "cut inside a sentence")
    assert fitting(told, Budget(amount=9, unit="characters"), 9) == (["The lamp"], "cut inside a sentence")
    assert fitting(told, Budget(amount=3), 3)[1] == ""
