"""From records to a tokenizer."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from longseq.config import require
from longseq.errors import InputError
from longseq.log import NullProgress, Progress, Spot
from longseq.records import Kind, Record
from longseq.tokens.dna import DnaTokenizer
from longseq.tokens.subwords import DnaPieces, pieces
from longseq.tokens.train.config import SAMPLE, Learning
from longseq.tokens.train.normal import normalizer
from longseq.tokens.train.pieces import Sample, dna_pieces, text_pieces
from longseq.tokens.train.units import END, UNKNOWN, counted, unit_tokenizer

if TYPE_CHECKING:
    from longseq.tokens.stream import StreamTokenizer


class Learned(NamedTuple):
    tokenizer: StreamTokenizer | DnaPieces
    kind: Kind
    records: int
    letters: int
    """Bases or code points read."""
    sampled: int
    """Of these, letters that were learned from."""


def learn(records: Iterable[Record], config: Learning | None = None, progress: Progress | None = None) -> Learned:
    """A tokenizer of all these records, which are all DNA or all documents.

    The same records give the same tokenizer, however their letters come in pieces. Memory in use: the sample, and the
    words in it.

    Raises:
        InputError: no letters, too few to learn from, or DNA among documents.
        ConfigError: a vocabulary smaller than what a tokenizer begins with; characters or words of DNA.
    """
    config, progress = config or Learning(), progress or NullProgress()
    order, cuts = (np.random.default_rng([config.seed, i]) for i in range(2))
    sample, kind, count = Sample(1, order), None, 0  # type: tuple[Sample, Kind | None, int]
    progress.start("read", None, "letter")
    for record in records:
        count += 1
        if kind is None:
            kind = record.kind
            sample = Sample(config.sample or SAMPLE[kind], order)
            _require_room(config, kind)
        if record.kind != kind:
            raise InputError(where=record.where, expected=f"{kind}, as before it", found=record.kind)
        before, spot = sample.letters, Spot(record.id, record.length)
        for piece in _pieces(record, config, cuts):
            sample.add(piece)
            progress.advance(sample.letters - before, record=spot.on(sample.letters - before))
            before = sample.letters
    progress.finish()
    if kind is None or not sample.letters:
        raise InputError(expected="letters to learn from", found="none")
    if kind == "dna":
        found: StreamTokenizer | DnaPieces = _dna(sample, config)
    elif config.unit == "pieces":
        found = _text(sample, config)
    else:
        found = unit_tokenizer(counted(sample, config), config, (END, UNKNOWN))
    return Learned(found, kind, count, sample.letters, sample.kept)


def _require_room(config: Learning, kind: Kind) -> None:
    if config.unit != "pieces":
        require(kind == "document", "unit", config.unit, "'pieces' of DNA, whose letters need no tokenizer")
        require(config.vocabulary > 2, "vocabulary", config.vocabulary, "more than the end of a document and unknown")
        return
    begin = len(config.alphabet.letters) if kind == "dna" else 257
    what = f"{begin} letters of the alphabet" if kind == "dna" else "256 bytes and the end of a document"
    require(config.vocabulary > begin, "vocabulary", config.vocabulary, f"more than the {what}")


def _pieces(record: Record, config: Learning, cuts: np.random.Generator) -> Iterator[str]:
    if record.kind == "dna":
        return dna_pieces(record.pieces, DnaTokenizer(config.alphabet), cuts)  # type: ignore[arg-type]
    return text_pieces(record.pieces)  # type: ignore[arg-type]


def _dna(sample: Sample, config: Learning) -> DnaPieces:
    from tokenizers import Tokenizer, models, trainers

    tokenizer = Tokenizer(models.BPE())
    letters = config.alphabet.letters.decode()
    trainer = trainers.BpeTrainer(
        vocab_size=config.vocabulary - len(letters) + 4,  # only the four bases are in what it sees
        min_frequency=config.min_frequency,
        initial_alphabet=list("ACGT"),
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return pieces([(a, b) for a, b in merges], config.alphabet)


def _text(sample: Sample, config: Learning) -> StreamTokenizer:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    from longseq.tokens.stream import StreamTokenizer

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizer(config)
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=config.vocabulary,
        min_frequency=config.min_frequency,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        special_tokens=[END],
        show_progress=False,
    )
    tokenizer.train_from_iterator(sample, trainer)
    return StreamTokenizer(tokenizer)
