"""Laws of generation: n then m equals n + m; the probabilities are the model's; letters come whole."""

import itertools
from collections import Counter

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from longseq.errors import ConfigError, StateError
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.model.state import named_tensors
from longseq.records import Alphabet, Record
from longseq.streaming import Surprisal, load_snapshot, save_snapshot
from longseq.tasks.generate import Generator, Sampling, generated, prompt
from longseq.tasks.generate.spelling import Spelling
from longseq.tokens import DnaTokenizer
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.subwords import kmers
from longseq.tokens.train import Learning, learn

TEXT = "The river \u6cb3 ran \U0001f600 by the caf\u00e9; the river ran on.\n" * 30
KINDS = ("letters", "kmers", "text")
PROMPT = {"letters": [b"GATTACANNACGTR" * 4], "kmers": [b"GATTACANNACGT" * 4], "text": [TEXT[:70]]}


def tokenizer_of(kind):
    if kind == "letters":
        return DnaTokenizer()
    if kind == "kmers":
        return kmers(2, Alphabet())
    record = Record(id="x", kind="document", source="x", index=0, pieces=iter([TEXT]))
    return learn([record], Learning(vocabulary=300)).tokenizer


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory):
    """Models of random weights whose scores differ enough to be told apart."""
    found = {}
    for kind in KINDS:
        tokenizer, folder = tokenizer_of(kind), tmp_path_factory.mktemp(kind) / "model"
        config = ModelConfig(
            width=16, heads=2, layers=2, pattern=("gated", "delta"), vocabulary=tokenizer.vocabulary + 2
        )
        model = LanguageModel(config)
        torch.nn.init.normal_(model.head.score.weight, std=0.5, generator=torch.Generator().manual_seed(3))
        save(folder, model, tokenizer)
        found[kind] = load(folder)
    return found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("first", [0, 1, 17])
def test_some_and_then_more_equals_all_at_once(checkpoints, tmp_path, kind, first):
    def draw(length, name, state=None):
        pieces = prompt(None, None, dna=kind != "text") if state else iter(PROMPT[kind])
        saved = {"state": state, "save_state": str(tmp_path / name), "stop_at_end": False}
        return list(generated(checkpoints[kind], Sampling(seed=5), pieces, length, **saved))

    whole = draw(40, "whole")
    parts = draw(first, "some") + draw(40 - first, "more", str(tmp_path / "some"))
    assert parts == whole and len(whole) == 40
    assert (tmp_path / "more").read_bytes() == (tmp_path / "whole").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("chunk", [1, 7, 1000])
def test_the_scores_are_those_of_one_pass_over_all_of_it(checkpoints, kind, chunk):
    generator = Generator(checkpoints[kind], Sampling(temperature=0.7), chunk=chunk)
    count = generator.read(PROMPT[kind])
    tokenizer, model = checkpoints[kind].tokenizer, checkpoints[kind].model
    read = np.concatenate([part.ids for part in tokenizer.chunks(iter(PROMPT[kind]), 10_000)]).astype(np.int64)
    assert count == len(read) == generator.seen
    scores, drawn = [], []
    for token in itertools.islice(generator.tokens(12, stop_at_end=False), 12):
        drawn.append(token)
        scores.append(generator.scores())
    ids = torch.from_numpy(np.concatenate([read, [token.id for token in drawn], [0]]))[None]
    with torch.no_grad():
        wanted = torch.log_softmax(model(ids)[0][0, len(read) :].double(), -1).numpy()
    allowed = np.isfinite(scores[0])
    for i, token in enumerate(drawn):
        found = Sampling().probabilities(scores[i])
        expected = np.exp(wanted[i + 1]) * allowed
        np.testing.assert_allclose(found, expected / expected.sum(), atol=2e-5)
        here = np.exp(wanted[i])[allowed]
        assert token.bits == pytest.approx(-np.log2(np.exp(wanted[i][token.id]) / here.sum()), abs=1e-3)


def test_of_dna_only_bases_come_unless_told(checkpoints):
    for kind in ("letters", "kmers"):
        letters = checkpoints[kind].tokenizer.alphabet.letters
        for any_letter in (False, True):
            generator = Generator(checkpoints[kind], any_letter=any_letter)
            text = "".join(token.text for token in generator.tokens(300))
            assert set(text) <= set(letters.decode() if any_letter else "ACGT")
            assert any_letter == bool(set(text) - set("ACGT"))


def test_the_likeliest_at_temperature_zero(checkpoints):
    generator = Generator(checkpoints["letters"], Sampling(temperature=0))
    for _ in range(20):
        wanted = int(np.argmax(generator.scores()))
        assert next(generator.tokens(1)).id == wanted


@pytest.mark.parametrize("length", [30, 700, 9000])
def test_a_state_saved_by_score_goes_on(checkpoints, tmp_path, length):
    """A short record, one that was read beside others, and a long one that stopped beside its grid."""
    checkpoint = checkpoints["letters"]
    letters = np.random.default_rng(1).choice(list(b"ACGT"), length).astype(np.uint8).tobytes()
    reader = Surprisal(checkpoint, chunk=512)()
    reader.push(letters)
    reader.finish()
    save_snapshot(tmp_path / "state", reader.snapshot())
    one, other = Generator(checkpoint, start=load_snapshot(tmp_path / "state", checkpoint)), Generator(checkpoint)
    other.read([letters])
    assert one.seen == other.seen == length
    np.testing.assert_allclose(one.scores(), other.scores(), atol=1e-4)


def test_what_was_drawn_can_be_scored_on(checkpoints, tmp_path):
    checkpoint = checkpoints["letters"]
    generator = Generator(checkpoint)
    drawn = list(generator.tokens(100))
    save_snapshot(tmp_path / "state", generator.snapshot())
    reader = Surprisal(checkpoint)(load_snapshot(tmp_path / "state", checkpoint))
    more = np.concatenate([reader.push(b"ACGTAC"), reader.finish()])
    whole = Surprisal(checkpoint)()
    text = "".join(token.text for token in drawn).encode()
    np.testing.assert_allclose(np.concatenate([whole.push(text + b"ACGTAC"), whole.finish()])[-6:], more, atol=1e-4)


def test_what_it_holds_does_not_grow(checkpoints):
    generator = Generator(checkpoints["text"])
    sizes = set()
    for length in (10, 300):
        list(generator.tokens(length, stop_at_end=False))
        state = generator.snapshot().state
        sizes.add(tuple(tensor.shape for _, tensor in named_tensors(state)))
        assert len(generator.snapshot().accumulators["generate.ids"]) < 20
    assert len(sizes) == 1


def test_a_text_ends_where_the_model_ends_it(checkpoints):
    model = checkpoints["text"].model
    bias = model.head.score.bias
    before = bias[0].item()
    with torch.no_grad():
        bias[0] = 100.0
    try:
        generator = Generator(checkpoints["text"])
        assert [token.id for token in generator.tokens(5)] == [0] and generator.ended
        assert len(list(Generator(checkpoints["text"]).tokens(5, stop_at_end=False))) == 5
    finally:
        with torch.no_grad():
            bias[0] = before


@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=30))
def test_letters_are_spelled_whole_and_none_is_lost(text):
    tokenizer = _bytes()
    ids = [i for chunk in tokenizer.chunks(iter([text]), 1000) for i in chunk.ids.tolist()]
    spelling = Spelling(tokenizer)
    parts = [spelling.push(i) for i in ids]
    assert "".join(parts) + spelling.rest() == text
    assert "\ufffd" in text or not any("\ufffd" in part for part in parts)
    cut = Spelling(tokenizer)
    for i in ids[: len(ids) // 2]:
        cut.push(i)
    again = Spelling(tokenizer, cut.pending)
    assert [again.push(i) for i in ids[len(ids) // 2 :]] == parts[len(ids) // 2 :]


def test_a_decoder_that_looks_at_the_token_before_sees_it():
    """Words that carry their blank in front, as SentencePiece cuts them: none is lost behind a prompt."""
    words = Tokenizer(models.WordLevel({"\u2581the": 0, "\u2581lamp": 1, "?": 2}, unk_token="?"))
    words.pre_tokenizer, words.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer = StreamTokenizer(words)
    (chunk,) = tokenizer.chunks(iter(["the lamp the lamp"]), 100)
    spelling = Spelling(tokenizer, ([int(chunk.ids[1])], 1))
    assert [spelling.push(i) for i in chunk.ids[2:].tolist()] == [" the", " lamp"]
    fresh = Spelling(tokenizer)
    assert [fresh.push(i) for i in chunk.ids.tolist()] == ["the", " lamp", " the", " lamp"]


def _bytes(made=[]):  # noqa: B006 - made once
    if not made:
        made.append(tokenizer_of("text"))
    return made[0]


def test_a_state_with_letters_is_for_letters(checkpoints):
    snapshot = Surprisal(checkpoints["letters"])().snapshot()
    with pytest.raises(StateError, match="expected a state without letters that wait, found 3 of them"):
        Generator(checkpoints["kmers"], start=type(snapshot)(state=None, model_sha256="", position=0, carry=b"ACG"))


SCORES = np.array([1.0, 3.0, -np.inf, 2.0, 3.0, 0.0])


def test_probabilities_are_those_of_the_definition():
    """Softmax of scores over temperature, then the k likeliest, then the nucleus, each renormalised."""
    for temperature, k, p in itertools.product((0.5, 1.0, 2.0), (0, 1, 2, 4, 9), (0.01, 0.5, 0.8, 1.0)):
        raw = np.where(np.isfinite(SCORES), np.exp(SCORES / temperature), 0.0)
        left = sorted(((v, i) for i, v in enumerate(raw / raw.sum()) if v > 0), key=lambda item: (-item[0], item[1]))
        left = left[: k or None]
        whole, total, chosen = sum(v for v, _ in left), 0.0, {}
        for value, i in left:
            if total >= p - 1e-12 and chosen:
                break
            chosen[i] = value
            total += value / whole
        wanted = [chosen.get(i, 0.0) / sum(chosen.values()) for i in range(len(SCORES))]
        found = Sampling(temperature=temperature, top_k=k, top_p=p).probabilities(SCORES)
        np.testing.assert_allclose(found, wanted, atol=1e-12)
    assert Sampling(temperature=0).probabilities(SCORES).tolist() == [0, 1, 0, 0, 0, 0]


def test_draws_follow_the_probabilities_and_their_number():
    sampling = Sampling(seed=2)
    chances = np.array([0.5, 0.0, 0.3, 0.2])
    drawn = [sampling.draw(chances, number) for number in range(4000)]
    counts = Counter(drawn)
    for i, chance in enumerate(chances):  # five standard deviations
        assert abs(counts[i] - 4000 * chance) <= 5 * (4000 * chance * (1 - chance)) ** 0.5
    assert drawn[::7] == [sampling.draw(chances, number) for number in range(0, 4000, 7)]
    assert drawn != [Sampling(seed=3).draw(chances, number) for number in range(4000)]


@pytest.mark.parametrize(
    ("name", "value"), [("temperature", -1.0), ("top_k", -1), ("top_p", 0.0), ("top_p", 1.1), ("seed", -1)]
)
def test_bad_values_name_their_key(name, value):
    with pytest.raises(ConfigError, match=name.replace("_", "-")):
        Sampling(**{name: value})
