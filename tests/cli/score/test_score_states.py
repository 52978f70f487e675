"""`longseq score --state`: a finished record can be continued."""

import numpy as np
import pytest
from scoring import CHUNK, contents, letters

from longseq.cli import main


@pytest.mark.parametrize(("first", "second"), [(CHUNK * 20, 3000), (9001, 700), (100, 40), (5000, 6000)])
def test_an_appended_record_equals_the_joined_one(run, tmp_path, first, second):
    text = letters(first + second)
    for name, part in {"a": text[:first], "b": text[first:], "ab": text}.items():
        (tmp_path / f"{name}.fa").write_text(f">{name}\n{part}\n")
    state = tmp_path / "a.state"
    assert run(tmp_path / "a.fa", "--save-state", state)[0] == 0
    for name, options in {"ab": (), "b": ("--state", state)}.items():
        assert run(tmp_path / f"{name}.fa", "--out", tmp_path / name, "--track", *options)[0] == 0
    joined, appended = (np.load(tmp_path / name / "bits.npy") for name in ("ab", "b"))
    assert appended.tobytes() == joined[first:].tobytes()
    assert main(["info", str(state)]) == 0


def test_an_appended_record_that_was_stopped(run, tmp_path, stopping):
    text = letters(30_000)
    (tmp_path / "a.fa").write_text(f">a\n{text[:9001]}\n")
    (tmp_path / "in.fa").write_text(f">b\n{text[9001:]}\n")
    state, last = tmp_path / "a.state", tmp_path / "b.state"
    assert run(tmp_path / "a.fa", "--save-state", state)[0] == 0
    options = (tmp_path / "in.fa", "--state", state, "--save-state", last, "--track")
    assert run(*options, "--out", tmp_path / "whole")[0] == 0
    wanted = last.read_bytes()
    last.unlink()
    with stopping():
        assert run(*options, "--out", tmp_path / "out")[0] == 85
    assert run(*options, "--out", tmp_path / "out", "--resume")[0] == 0
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
    assert last.read_bytes() == wanted


def test_a_state_is_of_one_record(run, source, tmp_path, models):
    code, _, err = run(source, "--save-state", tmp_path / "s")
    assert code == 2 and "is a second record; a state belongs to one record" in err
    (tmp_path / "one.fa").write_text(">a\nACGT\n")
    assert run(tmp_path / "one.fa", "--save-state", tmp_path / "s")[0] == 0
    assert run(tmp_path / "one.fa", "--save-state", tmp_path / "s")[0] == 2
    code, _, err = run(tmp_path / "one.fa", "--state", tmp_path / "s", model="m1")
    assert code == 1 and "found one of another model" in err
    assert run(tmp_path / "one.fa", "--state", tmp_path / "s", "--strands", "both")[0] == 2
    for options, said in ((["--chunk", 256], "chunk 512"), (["--precision", "bf16"], "precision fp32")):
        code, out, err = run(tmp_path / "one.fa", "--state", tmp_path / "s", *options)
        assert (code, out) == (
            1,
            "",
        ) and f"s: expected {said}, with which the state was made, found {options[1]}" in err
    assert run(tmp_path / "one.fa", "--state", tmp_path / "s")[0] == 0
