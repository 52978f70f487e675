"""A stream's vectors are those of one reading, wherever it stops and goes on, in calls that do not grow."""

import random

import numpy as np
import pytest
import torch

import longseq
from longseq.errors import OutputExistsError, StateError, UsageError
from longseq.model import HeadConfig, ModelConfig, RecordModel, load, save
from longseq.streaming.hidden import HiddenReader
from longseq.tokens import DnaTokenizer

LETTERS = "".join(random.Random(0).choices("ACGTN", k=700))


def whole(model, letters=LETTERS, **options):
    """Vectors (T, D) of one stream, whose passages tile the letters."""
    at, found = 0, []
    for start, end, offsets, hidden in longseq.stream(model, letters, **options):
        assert start == at and hidden.shape == (end - start, 16) and hidden.dtype == torch.float32 and offsets is None
        at = end
        found.append(hidden)
    assert at == len(letters)
    return torch.cat(found)


def test_it_is_the_encoder(model):
    ids = torch.from_numpy(model.tokenizer.encode(LETTERS.encode())[0].astype(np.int64))[None]
    with torch.inference_mode():
        torch.testing.assert_close(whole(model, chunk=64), model.model.encoder(ids)[0][0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("cut", [0, 1, 63, 64, 65, 200, 700])
def test_it_goes_on_from_a_state_on_disk_as_if_it_had_never_stopped(cut, model, tmp_path):
    one = whole(model, chunk=64)
    first = longseq.stream(model, [LETTERS[:cut].encode()[:7], LETTERS[:cut].encode()[7:]], chunk=64)
    given = [passage.hidden for passage in first]
    first.save(tmp_path / "state")
    rest = longseq.stream(model, iter([LETTERS[cut:]]), state=tmp_path / "state", chunk=64)
    passages = list(rest)
    assert [(p.start, p.end) for p in passages][:1] in ([], [(cut, min(cut + 64 - cut % 64, 700))])
    assert sum(len(hidden) for hidden in given) == cut
    later = [passage.hidden for passage in passages]
    assert torch.equal(torch.cat([one[:0], *later]), one[cut:])  # whole chunks again: to the bit
    torch.testing.assert_close(torch.cat([one[:0], *given]), one[:cut], rtol=1e-4, atol=1e-5)
    assert not list(longseq.stream(model, "", state=rest.state, chunk=64))
    assert torch.equal(whole(model, bytearray(LETTERS.encode()), chunk=64), one)


def test_it_stops_in_the_middle(model):
    first = longseq.stream(model, LETTERS, chunk=64)
    head = [next(first).hidden, next(first).hidden]
    rest = longseq.stream(model, "", state=first.state, chunk=64)
    assert torch.equal(torch.cat([*head, *(passage.hidden for passage in rest)]), whole(model, chunk=64))


def test_segments_are_read_whole(tmp_path):
    torch.manual_seed(0)
    config = ModelConfig(width=16, layers=1, heads=1, visibility="segment", segment=48, pattern=("linear",))
    model = RecordModel(config, HeadConfig(task="classify", outputs=2), ("a", "b"))
    save(tmp_path / "m", model, DnaTokenizer())
    found = load(tmp_path / "m")
    sizes = [end - start for start, end, _, _ in longseq.stream(found, LETTERS, chunk=50)]
    assert sizes == [96] * 7 + [28]
    torch.testing.assert_close(whole(found, chunk=48), whole(found), rtol=1e-4, atol=1e-5)


def test_a_record_of_a_file_and_any_layer(model, genome):
    for record in longseq.read(genome):
        found = torch.cat([passage.hidden for passage in longseq.stream(model, record, layer="0")])
        rows = model.model.encoder.embedding.weight
        letters = next(one for one in longseq.read(genome) if one.id == record.id)
        ids = model.tokenizer.encode(b"".join(letters.pieces))[0].astype(np.int64)
        torch.testing.assert_close(found, rows[torch.from_numpy(ids)].detach())


def test_no_call_grows_with_the_record(model, monkeypatch):
    sizes, step = [], HiddenReader.step
    monkeypatch.setattr(HiddenReader, "step", lambda self, ids, *more: sizes.append(ids.size) or step(self, ids, *more))
    stream = longseq.stream(model, (LETTERS for _ in range(20)), chunk=256)
    assert sum(len(passage.hidden) for passage in stream) == 14_000
    assert max(sizes) == 256 and len(stream.state.carry) < 256


def test_texts_have_offsets_and_no_state_on_their_way():
    text = "The keeper lit the lamp. " * 9
    stream = longseq.stream("text", [text[:40], text[40:]])
    (passage,) = stream
    assert (passage.start, passage.end) == (0, len(text)) and len(passage.hidden) == len(passage.offsets)
    assert "".join(text[start:end] for start, end in passage.offsets) == text
    with pytest.raises(UsageError, match="Conversation goes on with texts"):
        stream.save("state")
    with pytest.raises(UsageError, match="expected letters of DNA, found int"):
        next(longseq.stream("dna", [65, 67]))
    with pytest.raises(UsageError, match="expected text as str, found bytes"):
        next(longseq.stream("text", b"the"))


def test_what_cannot_be_is_refused(model, genome, tmp_path):
    stream = longseq.stream(model, LETTERS, chunk=64)
    list(stream)
    stream.save(tmp_path / "state")
    with pytest.raises(OutputExistsError):
        stream.save(tmp_path / "state")
    with pytest.raises(StateError, match="expected chunk 64"):
        longseq.stream(model, "", state=tmp_path / "state")
    with pytest.raises(StateError, match="one of another model"):
        longseq.stream("dna", "", state=stream.state)
    with pytest.raises(longseq.LongseqError, match="expected a DNA letter, found 'e' at base 702"):
        list(longseq.stream(model, "genome.fa", state=stream.state, chunk=64))
    with pytest.raises(UsageError, match="expected letters of DNA, found a document"):
        longseq.stream(model, next(iter(longseq.read(genome, kind="document"))))
