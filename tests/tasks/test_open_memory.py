"""Laws of a memory that is opened: what stood before is of use, a first segment stays as it was, a resume is exact."""

import json

import pytest
import torch
from teachers import WIDTH, bert_tensors, write_bert
from transfer import Stopping, same, weights, write_texts

from longseq.config import load
from longseq.errors import CheckpointError, ConfigError, OutputExistsError, StoppedError, UsageError
from longseq.model import load as load_model
from longseq.tasks.convert import OpeningSettings, Settings, Source, linearise, open_memory

SEGMENT, TEACHERS = 12, 22
FEW = {"threads": 1, "texts.held_out": 0.2, "texts.every": 10, "save_every": 8, "opening.batch": 240}


def write_averaging(folder):
    """A BERT that hears the mean of all it reads, wherever that stands: half of it, in a second segment, stood in the
    first."""
    found = bert_tensors()
    for name, tensor in found.items():
        if "self.query" in name or "self.key" in name:
            tensor.zero_()
        if "self.value.weight" in name or "attention.output.dense.weight" in name:
            tensor *= 3
    found["embeddings.position_embeddings.weight"] = torch.zeros(TEACHERS, WIDTH)
    return write_bert(folder, found, max_position_embeddings=TEACHERS)


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """A linear model as it is made, its teacher, and texts."""
    folder = tmp_path_factory.mktemp("given")
    bert = str(write_averaging(folder / "bert"))
    settings = load(Settings, None, ["transfer.steps=0", "distil.steps=0"])
    linearise(Source(model=bert, segment=SEGMENT), settings, folder / "student")
    return str(folder / "student"), bert, str(write_texts(folder / "texts.jsonl"))


def opened(given, out, student=None, **changes):
    options = {name: changes.pop(name) for name in ("resume", "force", "progress") if name in changes}
    changes = {key.replace("__", "."): value for key, value in changes.items()}
    tree = {"inputs": [given[2]], "teacher": given[1], "opening.steps": 30, "opening.rate": 0.1, **FEW, **changes}
    settings = load(OpeningSettings, None, [f"{key}={json.dumps(value)}" for key, value in tree.items()])
    return open_memory(student or given[0], settings, out, **options)


@pytest.fixture(scope="module")
def whole(given, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "out"
    return out, opened(given, out)


def lines(out):
    found = [json.loads(line) for line in (out / "training" / "opening" / "metrics.jsonl").open()]
    return [{k: v for k, v in line.items() if k not in ("seconds", "tokens_per_s", "memory_mib")} for line in found]


def test_what_stood_before_is_of_use(whole):
    """Of a mean over two segments each is about a half."""
    out, made = whole
    error = {name: came.figures["error"] for name, came in made.came.items()}
    assert list(error) == ["teacher", "closed", "opening"] and made.segments == 2
    assert error["closed"] == pytest.approx(error["teacher"], rel=1e-3) and error["closed"] > 0.005
    assert error["opening"] < 0.25 * error["closed"]
    assert made.came["opening"].figures["cosine"] > made.came["closed"].figures["cosine"]
    assert all(0 < gate < 0.75 for layer in made.gates for gate in layer) and max(made.gates[-1]) > 0.4
    kept = json.loads((out / "training" / "stages.json").read_text())
    assert kept["opening"]["figures"] == dict(made.came["opening"].figures) and kept["closed"]["figures"]
    told = [line for line in lines(out) if "held_out_error" in line]
    assert [line["step"] for line in told] == [10, 20, 30]
    card = load_model(out).card
    assert card.startswith("# Model card") and "| converted from | bert, bert |" in card
    assert "| opening | 30 steps, " in card and card.count("| gates of layer ") == 2


def test_only_gates_move_and_a_first_segment_stays(whole, given):
    before, after = weights(given[0]), weights(whole[0])
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed == {name for name in before if name.endswith(".gate")} and len(changed) == 2
    ids = torch.randint(5, 25, (3, 2 * SEGMENT), generator=torch.Generator().manual_seed(0))
    one, two = (load_model(path).model(ids)[0] for path in (given[0], whole[0]))
    assert torch.equal(one[:, :SEGMENT], two[:, :SEGMENT])
    assert not torch.allclose(one[:, SEGMENT:], two[:, SEGMENT:], atol=1e-2)


def test_read_at_once_or_segment_after_segment(whole):
    model = load_model(whole[0]).model.double()
    ids = torch.randint(5, 25, (2, 3 * SEGMENT + 5), generator=torch.Generator().manual_seed(1))
    at_once, state, found = model(ids)[0], None, []
    for at in range(0, ids.shape[1], SEGMENT):
        hidden, state = model(ids[:, at : at + SEGMENT], state)
        found.append(hidden)
    assert torch.allclose(torch.cat(found, 1), at_once, atol=1e-9)


def test_stopped_and_resumed_it_is_the_same_opening(whole, given, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(StoppedError, match="all of it is saved; --resume goes on"):
        opened(given, out, progress=Stopping(13))
    assert not (out / "model.safetensors").exists()
    with pytest.raises(OutputExistsError, match="holds a conversion already; --resume goes on with it"):
        opened(given, out)
    with pytest.raises(ConfigError, match=r"opening.batch: expected 240, found 120; a resumed conversion keeps it"):
        opened(given, out, opening__batch=120, resume=True)
    made = opened(given, out, resume=True)
    assert same(weights(out), weights(whole[0])) and lines(out) == lines(whole[0])
    assert made.came["closed"].figures == whole[1].came["closed"].figures and made.gates == whole[1].gates


def test_an_opened_memory_is_opened_further(whole, given, tmp_path):
    made = opened(given, tmp_path / "out", str(whole[0]), opening__steps=2, opening__rate=1e-4)
    assert list(made.came) == ["teacher", "closed", "before", "opening"]
    assert made.came["before"].figures["error"] == pytest.approx(whole[1].came["opening"].figures["error"], rel=1e-3)
    assert load_model(tmp_path / "out").card.count("## Memory opened") == 2


@pytest.mark.parametrize("trained", ["maps", "all"])
def test_more_than_the_gates_is_learned(given, tmp_path, trained):
    made = opened(given, tmp_path / "out", opening__trained=trained, opening__steps=3, texts__held_out=0)
    before, after = weights(given[0]), weights(tmp_path / "out")
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    gates = {name for name in before if name.endswith(".gate")}
    assert gates <= changed and all(trained == "all" or name.endswith(".gate") or ".map." in name for name in changed)
    assert any(".feedforward." in name for name in changed) == (trained == "all")
    assert not any(came.figures for came in made.came.values())


def test_teachers_and_students_that_do_not_fit(given, tmp_path):
    student, bert = given[:2]
    linear = load(Settings, None, ["transfer.steps=0", "distil.steps=0", "memory_gate=false"])
    linearise(Source(model=bert, segment=SEGMENT), linear, tmp_path / "gateless")
    with pytest.raises(CheckpointError, match="expected a converted model with gates to earlier segments"):
        opened(given, tmp_path / "out", str(tmp_path / "gateless"))
    long = load(Settings, None, ["transfer.steps=0", "distil.steps=0"])
    linearise(Source(model=bert, segment=13), long, tmp_path / "long")
    problem = (
        r"bert: expected at least 24 positions, for the text of two segments of 13 tokens, found 22; convert it with "
        r"--segment 12 or less"
    )
    with pytest.raises(CheckpointError, match=problem):
        opened(given, tmp_path / "out", str(tmp_path / "long"))
    with pytest.raises(ConfigError, match=r"opening.segments: expected at most 2, for which the teacher has positions"):
        opened(given, tmp_path / "out", opening__segments=3)
    other = write_bert(tmp_path / "other", bert_tensors(1))
    (other / "vocab.txt").write_text((other / "vocab.txt").read_text().replace("j\n##a", "z\n##a"))
    with pytest.raises(
        CheckpointError, match=r"expected the model that .*student was converted from, found .* another"
    ):
        opened(given, tmp_path / "out", teacher=str(other))
    with pytest.raises(UsageError, match=r"is a file of weights, where a directory is needed; .*--keep-softmax"):
        opened(given, tmp_path / "out", teacher=f"{bert}/model.safetensors")
    with pytest.raises(UsageError, match="holds the model that is read"):
        opened(given, bert, force=True)
    with pytest.raises(UsageError, match="holds the model that is read"):
        opened(given, student, force=True)
    assert not (tmp_path / "out").exists() and load_model(student)
    (tmp_path / "begun" / "training").mkdir(parents=True)
    (tmp_path / "begun" / "training" / "convert.toml").write_text("")
    with pytest.raises(OutputExistsError):
        opened(given, tmp_path / "begun")
