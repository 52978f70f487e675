"""What is asked of labelled records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require


@dataclass(frozen=True, kw_only=True)
class LabelConfig:
    """What is asked of labelled records: of whole ones (classify, multilabel, regress) or of every base (annotate)."""

    file: str | None = None
    """Labels: a TSV or CSV with a header line, JSON lines, Parquet, Arrow, a data set in a folder, and an input itself;
    for annotate BED, GFF3, GTF or GenBank, whose intervals are the classes."""
    id: str | None = None
    """Column with ids of records; None: the first, or in a table that is an input, whatever names its rows there."""
    by: Literal["record", "file"] = "record"
    """What an id names: a record, or an input by its path, relative to the table, with all records in it."""
    alias: str | None = None
    """Two names of one record a line, where labels and sequences name it differently. Bars of NCBI, a version that only
    one of them has, and `chr` need none; every name that was matched is said."""
    column: str | None = None
    """Column with the label; None: `label`, or the only one that is left. Several labels (multilabel) are separated
    by `;`. An empty cell and NA are no label."""
    group: str | None = None
    """Column whose groups are never divided by the held-out split; None: `group` where there is one, else the groups of
    `data.groups`."""
    unknown: Literal["error", "skip"] = "error"
    """Labels of records that no input holds: an error, or passed over and counted."""
    unlabelled: Literal["skip", "error"] = "skip"
    """Records without a label: passed over and counted, or an error. For annotate, records without an interval are
    background."""
    classes: tuple[str, ...] = ()
    """annotate: names of intervals to learn, such as CDS; empty: all but `source` and `region`, by which GenBank and
    GFF3 describe a record as a whole."""
    background: str = "background"
    """annotate: name of the class where no interval is. Where several are, the last one in the file counts,
    unless `ignore` says otherwise."""
    strands: bool = False
    """annotate: make two classes of an interval's, `name+` and `name-`, which swap when a record is read
    reversed; an interval without a strand is `name+`."""
    codons: tuple[str, ...] = ()
    """annotate: names of intervals, such as CDS, that are divided by the position in the codon: `CDS1`, `CDS2`, `CDS3`,
    by the phase in GFF3 and GTF and the codon_start of GenBank, from part to part of a joined one. Where no phase is
    told, an interval of whole codons begins with one, and of another nothing is asked."""
    ignore: tuple[Literal["pseudo", "partial", "overlaps"], ...] = ()
    """annotate: where nothing is asked, neither class nor background: intervals that are said to be pseudogenes,
    partial ones, bases of which several intervals say several classes."""
    held_out: float = 0.2
    """Share of the records (annotate: of the bases) kept for evaluation: whole groups, to classify of each class
    alike. For annotate, the end of each record where there is but one."""
    pooling: Literal["mean", "max", "last", "attention"] | None = None
    """How a record is read together; the same however it was cut. None: by attention where documents are read once
    (freeze 'encoder'), else by the mean."""
    span: int | None = None
    """Tokens whose mean is read as one before a record is read together; 0: each by itself. None: 64 where documents
    are read once, else 0."""
    weights: Literal["equal", "balanced"] = "equal"
    """Every example counts the same, or every class does: N / (C N_class) an example (multilabel: a label that is
    there counts as the records without it over those with it)."""
    smoothing: float = 0.0
    """Share of the target that is spread evenly over the classes (Szegedy et al. 2016, section 7)."""

    def __post_init__(self):
        require(0 <= self.held_out < 1, "labels.held_out", self.held_out, "a share, 0 to below 1")
        require(0 <= self.smoothing < 1, "labels.smoothing", self.smoothing, "a share, 0 to below 1")
        require(self.span is None or self.span >= 0, "labels.span", self.span, ">= 0 tokens")
        require(self.alias is None or self.by == "record", "labels.alias", self.alias, "none where labels name files")
        require(bool(self.background), "labels.background", self.background, "a name")
        others = [name for name in self.codons if self.classes and name not in self.classes]
        require(not others, "labels.codons", self.codons, "names among labels.classes")
