"""`longseq.embed`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from longseq.api.models import Named, Path, Several, asked, inputs_of, opened
from longseq.api.results import Results, Walk
from longseq.log import Progress, count
from longseq.report.frame import Table
from longseq.tasks.embed.table import Embedded

if TYPE_CHECKING:
    from longseq.tasks.embed.request import Request


class Embeddings(Results[Embedded]):
    """Vectors of units of records, in input order; those of one record together, of a long one in several parts.

    Kept, a vector takes 4 D bytes.
    """

    @property
    def vectors(self) -> np.ndarray:
        """(N, D) float32 of all units; NaN where a unit has no token that says something: no A, C, G or T."""
        parts = [part.vectors for part in self._all]
        return np.concatenate(parts) if parts else np.zeros((0, 0), np.float32)

    @property
    def table(self) -> Table:
        """A row a unit: file, record, start, end, strand, of documents in parts the section, and the vector, null where
        nothing was said."""
        vectors = self.vectors
        types = dict.fromkeys(("file", "record"), "string") | dict.fromkeys(("start", "end"), "int64")
        types |= {"strand": "string"}
        batch: dict[str, Any] = {
            name: [getattr(part, name) for part in self for _ in range(len(part.vectors))]
            for name in ("file", "record", "strand")
        }
        batch |= {name: [at for part in self for at in getattr(part, name).tolist()] for name in ("start", "end")}
        if any(part.sections is not None for part in self):
            types["section"] = "string"
            batch["section"] = [title for part in self for title in part.sections or ()]
        types["vector"] = f"float32[{vectors.shape[1]}]"
        return Table(
            f"{count(len(vectors), 'vector')} of {vectors.shape[1]:,} numbers", types, batch | {"vector": vectors}
        )


def embed(
    *inputs: Path,
    model: Named | None = None,
    per: Literal["record", "section", "sentence", "base"] = "record",
    window: int | None = None,
    layer: str = "final",
    pool: Literal["mean", "last", "max"] = "mean",
    normalize: bool = False,
    strands: Literal["forward", "both"] | None = None,
    most: int = 1_000_000,
    column: str | None = None,
    region: Several = (),
    alias: Path | None = None,
    strict: bool = False,
    on_unknown: Literal["error", "N"] = "error",
    precision: Literal["fp32", "bf16"] = "fp32",
    chunk: int | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Vectors of sequences and documents, from any layer of a model, as `longseq embed` writes them.

        longseq.embed("genome.fa.gz", window=5000).vectors  # (N, D) float32
        longseq.embed("notes.md", per="sentence").to_pandas()

    Args:
        inputs: Files, folders, patterns, or "-" for standard input.
        model: A name, a directory or a `Checkpoint`; None: "dna", or "text" where the first input is a document.
        per: What a vector is of; sections and sentences are those of documents, a base is a token of words.
        window: A vector every so many bases or tokens of a record, instead.
        layer: "final", what heads read; "0" or "embedding", "1" or "layer1", and so on.
        pool: How the vectors of a unit's tokens become one.
        normalize: Scale each vector to a length of 1.
        strands: Read forwards only, or take the mean of both; None: both where the model reads letters of DNA.
        most: Vectors at most with `per="base"`.
        column, region, alias, strict, on_unknown, precision, chunk, progress: As in `longseq.summarize`.

    Returns:
        The vectors, not read yet: see `Results` for when they are, and what then stays in memory.

    Raises:
        CheckpointError, AlphabetError: not a checkpoint. UsageError, ConfigError: an argument that cannot be, or not
            with this model. InputError: no such folder or pattern.
    """
    from longseq.errors import UsageError
    from longseq.streaming.hidden import HiddenReader
    from longseq.tasks.embed.request import Request
    from longseq.tasks.embed.run import strands_of
    from longseq.tasks.summarize.model import default_model

    if window is not None and per != "record":
        raise UsageError(f"a window and per={per!r} exclude each other", remedy="give one of them")
    files = inputs_of(inputs)
    request = Request(
        inputs=files,
        per=per if window is None else "window",
        window=window or 0,
        layer=layer,
        pool=pool,
        normalize=normalize,
        strands=strands,
        most=most,
        column=column,
        **asked(region, alias, strict=strict, on_unknown=on_unknown),
    )
    checkpoint = opened(default_model(files) if model is None else model)
    reader = HiddenReader(checkpoint, layer=layer, chunk=chunk, precision=precision)
    strands_of(request, checkpoint)
    return Embeddings(partial(_walk, request, reader, progress))


def _walk(request: Request, reader: Any, progress: Progress | None) -> Walk[Embedded]:
    from longseq.tasks.embed.run import embeddings
    from longseq.tasks.sources import require_some, sources_of

    sources = sources_of(request.inputs)
    yield from embeddings(request, reader, sources, progress)
    require_some(sources, reader.checkpoint)
    return [source.row() for source in sources]
