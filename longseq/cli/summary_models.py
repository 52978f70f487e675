"""The models that `summarize` is asked for, each loaded when it is needed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longseq.errors import UsageError

if TYPE_CHECKING:
    from longseq.streaming import Surprisal
    from longseq.tasks.document.written import Writer
    from longseq.tasks.summarize.classes import Classifier
    from longseq.tasks.summarize.extras import Extras
    from longseq.tasks.summarize.model import LoadedModel


@dataclass(kw_only=True)
class Models:
    """What was asked for, and what was loaded of it."""

    model: str | None
    """That reads DNA, or with `writes` writes of documents; None: the shipped one of DNA."""
    no_model: bool
    writes: bool
    classifier: str | None
    extractor: str | None
    vectors: bool
    per_base: bool
    regions_fasta: bool
    pyrodigal: bool
    computing: dict[str, Any]
    """device, threads, precision and chunk."""
    used: list[LoadedModel | Writer] = field(default_factory=list)
    """By which the results were made."""

    @property
    def readers(self) -> list[LoadedModel]:
        """Of `used`, those that read DNA."""
        return [] if self.writes else self.used  # type: ignore[return-value]

    @property
    def reads(self) -> bool:
        """Whether DNA is read by a model."""
        return not (self.no_model or self.writes)

    def named(self) -> dict[str, str | None]:
        """All of them, by what they are for."""
        reader = "dna" if self.reads and self.model is None else None if self.no_model else self.model
        return {"model": reader, "classifier": self.classifier, "extractor": self.extractor}

    def plain(self) -> dict[str, Any]:
        """All that results depend on, but for which models they are."""
        flags = {name: getattr(self, name) for name in ("no_model", "writes", "vectors", "per_base")}
        return flags | {"regions_fasta": self.regions_fasta, "pyrodigal": self.pyrodigal} | self.computing

    def surprisal(self) -> Surprisal:
        from longseq.tasks.summarize.model import load_model

        loaded = load_model("dna" if self.model is None else self.model, **self.computing)
        self.used.append(loaded)
        return loaded.surprisal

    def writer(self) -> Writer | None:
        if not self.writes:
            return None
        from longseq.tasks.document.written import Writer
        from longseq.tasks.summarize.model import load_checkpoint

        if self.model is None:
            remedy = "name one of your own: --model DIR, made by longseq train PAIRS --task seq2seq"
            raise UsageError("--method generate needs a model that writes, and none is shipped", remedy=remedy)
        checkpoint = load_checkpoint(self.model, device=self.computing["device"], threads=self.computing["threads"])
        writer = Writer(checkpoint=checkpoint, name=self.model, **self.computing)
        self.used.append(writer)
        return writer

    def extras(self) -> Extras:
        from longseq.tasks.summarize.extras import Extras
        from longseq.tasks.summarize.genes import GeneFinder

        return Extras(
            vectors=self.vectors,
            base_bits=self.per_base,
            letters=self.regions_fasta,
            quotes=self.reads,
            classifier=None if self.classifier is None else self._classifier(self.classifier),
            genes=GeneFinder() if self.pyrodigal else None,
        )

    def _classifier(self, name: str) -> Classifier:
        from longseq.streaming.hidden import HiddenReader
        from longseq.tasks.summarize.classes import Classifier
        from longseq.tasks.summarize.model import load_checkpoint

        given = self.computing
        checkpoint = load_checkpoint(name, device=given["device"], threads=given["threads"])
        return Classifier(HiddenReader(checkpoint, precision=given["precision"], chunk=given["chunk"]))
