"""A reading of a record: the same however letters come, and it goes on from a snapshot."""

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from Bio import SeqIO
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from longseq.errors import AlphabetError, StateError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.state import named_tensors
from longseq.streaming import Snapshot, Surprisal, load_snapshot, save_snapshot
from longseq.streaming.snapshot import read_snapshot
from longseq.tokens import DnaTokenizer

DATA = Path(__file__).parents[2] / "data"


def checkpoint(folder, seed=0):
    save(folder, LanguageModel(ModelConfig(width=8, heads=2, layers=2, seed=seed)), DnaTokenizer())
    return load(folder)


@pytest.fixture
def surprisal(tmp_path):
    return Surprisal(checkpoint(tmp_path / "m"), chunk=500)


@pytest.fixture(scope="module")
def letters():
    with gzip.open(DATA / "T4.gbff.gz", "rt") as file:
        sequence = bytes(next(SeqIO.parse(file, "genbank")).seq[:9600])
    return sequence[:1000] + b"NNnnRacgt" + sequence[1000:]


def read(reader, letters, size):
    parts = [reader.push(letters[i : i + size]) for i in range(0, len(letters), size)]
    return np.concatenate([*parts, reader.finish()])


def test_bits_are_those_of_the_whole_record(surprisal, letters):
    ids, _ = surprisal.tokenizer.encode(letters)
    tokens = torch.from_numpy(ids.astype(np.int64))[None]
    with torch.inference_mode():
        logits, _ = surprisal.checkpoint.model.double()(tokens)
    wanted = -logits[0].log_softmax(-1).gather(1, tokens[0, :, None])[:, 0].numpy() / np.log(2)
    surprisal.checkpoint.model.float()
    found = read(surprisal(), letters, 700)
    counted = ids < 4
    assert len(found) == len(letters)
    assert np.array_equal(np.isnan(found), ~counted)
    np.testing.assert_allclose(found[counted], wanted[counted], rtol=1e-5)


@pytest.mark.parametrize("size", [7, 499, 500, 501, 5000])
def test_same_bytes_however_letters_come(surprisal, letters, size):
    assert read(surprisal(), letters, size).tobytes() == read(surprisal(), letters, 997).tobytes()


def test_goes_on_from_a_snapshot_with_the_same_bytes(surprisal, letters, tmp_path):
    whole = read(surprisal(), letters, 997)
    reader = surprisal()
    first = reader.push(letters[:8734])
    save_snapshot(tmp_path / "s.state", reader.snapshot())
    again = surprisal(load_snapshot(tmp_path / "s.state", surprisal.checkpoint))
    assert again.position == 8500
    rest = read(again, letters[8734:], 100)
    assert np.concatenate([first, rest]).tobytes() == whole.tobytes()


@pytest.mark.parametrize("length", [40, 1000, 8192, 8193, 9000])
@pytest.mark.parametrize("appended", [0, 1, 500, 1300])
def test_an_appended_record_equals_the_joined_one(surprisal, letters, tmp_path, length, appended):
    """To the bit, on the chunk grid (9,000) and off it, from one way of reading into another (8,192)."""
    joined = read(surprisal(), letters[: length + appended], 997)
    reader = surprisal()
    read(reader, letters[:length], 400)
    save_snapshot(tmp_path / "s.state", reader.snapshot())
    again = surprisal(load_snapshot(tmp_path / "s.state", surprisal.checkpoint))
    found = read(again, letters[length : length + appended], 300)
    assert found.tobytes() == joined[length:].tobytes()


@pytest.mark.parametrize("before", [0, 120, 9000])
def test_a_bad_letter_is_named_by_its_place_in_the_record(surprisal, letters, tmp_path, before):
    """In a long record, in one that waits, at its start, and where a reading went on."""
    reader = surprisal()
    first = reader.push(letters[:before])
    save_snapshot(tmp_path / "s.state", reader.snapshot())
    for one in (reader, surprisal(load_snapshot(tmp_path / "s.state", surprisal.checkpoint))):
        with pytest.raises(AlphabetError, match=f"found '!' at base {before + 3}$"):
            one.push(b"AC!T")
    rest = read(reader, letters[before:], 700)
    assert np.concatenate([first, rest]).tobytes() == read(surprisal(), letters, 997).tobytes()


@pytest.mark.parametrize("length", [40, 9000])
def test_a_state_goes_on_in_its_own_chunks_and_precision(surprisal, letters, tmp_path, length):
    reader = surprisal()
    read(reader, letters[:length], 700)
    snapshot = reader.snapshot()
    for _, track in surprisal.many([("a", [letters[:length]])]):  # one
        list(track)
    for one in (snapshot, track.snapshot()):
        assert (one.chunk, one.precision) == (500, "fp32")
        for options, found in (({"chunk": 501}, "501"), ({"chunk": 500, "precision": "bf16"}, "bf16")):
            other = Surprisal(surprisal.checkpoint, **options)
            with pytest.raises(StateError, match=f"with which the state was made, found {found}"):
                other(one)
            with pytest.raises(StateError, match=f"with which the state was made, found {found}"):
                list(other.many([("b", [b"ACGT"])], one))
    older = replace(snapshot, chunk=None, precision=None)
    save_snapshot(tmp_path / "s.state", older)
    facts, _ = read_snapshot(tmp_path / "s.state")
    assert not {"chunk", "precision"} & facts.keys()
    again = Surprisal(surprisal.checkpoint, chunk=501)(load_snapshot(tmp_path / "s.state", surprisal.checkpoint))
    assert len(read(again, b"ACGT", 4)) == 4


def test_a_state_of_another_model_is_refused(surprisal, letters, tmp_path):
    reader = surprisal()
    reader.push(letters)
    save_snapshot(tmp_path / "s.state", reader.snapshot())
    other = checkpoint(tmp_path / "other", seed=1)
    with pytest.raises(StateError, match=r"expected a state of model .*other .*found one of another model"):
        load_snapshot(tmp_path / "s.state", other)


def test_damaged_states_are_refused(surprisal, letters, tmp_path):
    file = tmp_path / "s.state"
    reader = surprisal()
    reader.push(letters)
    save_snapshot(file, reader.snapshot())
    whole = file.read_bytes()
    file.write_bytes(whole[:-8] + bytes(8))
    with pytest.raises(StateError, match="expected the bytes that were written, found others"):
        load_snapshot(file, surprisal.checkpoint)
    file.write_bytes(whole[:100])
    with pytest.raises(StateError, match="expected a saved state"):
        load_snapshot(file, surprisal.checkpoint)
    file.write_bytes(whole)
    with safe_open(file, "pt") as found:
        facts = found.metadata()
    save_file(
        load_file(file), file, metadata=facts | {"facts": facts["facts"].replace("longseq.state/1", "longseq.state/0")}
    )
    with pytest.raises(StateError, match=r"schema longseq\.state/1"):
        load_snapshot(file, surprisal.checkpoint)


def test_any_bit_of_a_state_that_changed_is_found(surprisal, tmp_path):
    file, model = tmp_path / "s.state", surprisal.checkpoint
    tensors = {"x": torch.arange(5.0), "y": torch.tensor([3, 1])}
    place = {"file": "gen\u00f6me.fa", "record": 3}
    save_snapshot(
        file,
        Snapshot(state=None, model_sha256=model.sha256, position=0, carry=b"ACGT", accumulators=tensors, place=place),
    )
    whole = file.read_bytes()
    read_snapshot(file)
    for at in range(len(whole)):
        for bit in range(8):
            changed = bytearray(whole)
            changed[at] ^= 1 << bit
            file.write_bytes(changed)
            with pytest.raises(StateError):
                read_snapshot(file)


def test_a_state_of_other_tensors_or_no_numbers_is_refused(surprisal, letters, tmp_path):
    file, model = tmp_path / "s.state", surprisal.checkpoint
    with torch.inference_mode():
        state = model.model.encoder(torch.zeros(1, 4, dtype=torch.long))[1]
    whole = Snapshot(state=state, model_sha256=model.sha256, position=4)
    for changed, said in (
        (state._replace(last=state.last * torch.nan), "finite numbers, found NaN or infinity"),
        (state._replace(last=state.last[:, 1:]), r"state\.last\): expected a state \(1, "),
        (state._replace(seen=state.seen.double()), r"state\.seen\): expected a state \(1,\), found float64"),
    ):
        save_snapshot(file, replace(whole, state=changed), force=True)
        with pytest.raises(StateError, match=said):
            load_snapshot(file, model)
    save_snapshot(file, replace(whole, position=-1), force=True)
    with pytest.raises(StateError, match="the fact position, found another kind of it"):
        load_snapshot(file, model)


@pytest.mark.parametrize("length", [60, 1000, 9000])
def test_bf16_stays_near_and_its_memories_are_float32(letters, tmp_path, length):
    model = checkpoint(tmp_path / "m")
    readers = [Surprisal(model, chunk=512, precision=precision)() for precision in ("fp32", "bf16")]
    a, b = (read(reader, letters[:length], 999) for reader in readers)
    assert np.array_equal(np.isfinite(b), np.isfinite(a)) and (a != b).any()
    a, b = np.nan_to_num(a), np.nan_to_num(b)
    assert np.sqrt(np.mean((a - b) ** 2)) < 0.02 * np.sqrt(np.mean(a**2))
    if readers[1].state is not None:
        kinds = {name: tensor.dtype for name, tensor in named_tensors(readers[1].state) if ".memory." in name}
        assert len(kinds) == 6 and set(kinds.values()) == {torch.float32, torch.int32}
