"""Options of `longseq summarize` beside which others, or the inputs, leave them nothing to say."""

import pytest


@pytest.fixture
def sequence(make):
    return make("x.fa", ">a\nACGTTGCA\n")


@pytest.fixture
def text(make):
    return make("t.txt", "A sentence is here. Another one is there.\n")


@pytest.mark.parametrize("option", ["--strands=both", "--device=cpu", "--precision=fp32", "--chunk=512", "--model=dna"])
def test_an_option_of_models_without_a_model_is_refused(run, sequence, option):
    code, out, err = run(sequence, option)
    name = option.split("=")[0]
    assert (code, out, err) == (
        2,
        "",
        f"longseq: {name} cannot be combined with --no-model; leave one of them out\n",
    )


def test_with_a_classifier_there_is_something_to_compute(run, sequence, tmp_path):
    code, _, err = run(sequence, "--classifier", tmp_path / "none", "--device", "cpu")
    assert code == 1 and "--device" not in err
    code, _, err = run(sequence, "--classifier", tmp_path / "none", "--strands", "both")
    assert code == 2 and "--strands" in err


@pytest.mark.parametrize(
    ("kind", "option"),
    [("document", "--window=500"), ("document", "--min-contig=5"), ("dna", "--words=5"), ("dna", "--save-text=texts")],
)
def test_an_option_of_the_other_kind_is_refused(run, text, kind, option, tmp_path):
    code, out, err = run(text, "--kind", kind, option)
    assert (code, out) == (2, "") and f"{option.split('=')[0]} cannot be combined with --kind {kind}" in err
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]


def test_what_had_no_effect_is_said(run, sequence, text):
    said = "longseq: no input holds a document: --sentences had no effect\n"
    assert run(sequence, "--sentences", 3)[::2] == (0, said)
    said = "longseq: no input holds DNA: --window, --seed had no effect\n"
    assert run(text, "--window", 500, "--seed", 1)[::2] == (0, said)
    assert run(sequence, text, "--sentences", 3, "--window", 500)[::2] == (0, "")
