"""`longseq_mqc.json`: a table that MultiQC shows beside those of other tools (its docs, "Custom content")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from longseq.results.source import SourceRow

FILE = "longseq_mqc.json"
ID = "longseq_summarize"


class _Column(NamedTuple):
    title: str
    description: str
    format: str
    suffix: str = ""
    scale: str = "Blues"
    percent: bool = False
    hidden: bool = False


_WHOLE, _ONE, _TWO, _THREE = "{:,.0f}", "{:,.1f}", "{:,.2f}", "{:,.3f}"
COLUMNS = {
    "num_seqs": _Column("Records", "Sequences in the file", _WHOLE),
    "sum_len": _Column("Bases", "Letters in all", _WHOLE, " bp", "Greens"),
    "sampled": _Column("Records read", "Records of the sample; other figures than lengths are theirs", _WHOLE),
    "min_len": _Column("Shortest", "Length of the shortest sequence", _WHOLE, " bp", hidden=True),
    "avg_len": _Column("Mean length", "Mean length", _ONE, " bp", hidden=True),
    "max_len": _Column("Longest", "Length of the longest sequence", _WHOLE, " bp", "Purples"),
    "n50": _Column("N50", "Length of the shortest of the longest sequences that hold half of the bases", _WHOLE, " bp"),
    "l50": _Column("L50", "How many sequences that takes", _WHOLE, scale="Oranges", hidden=True),
    "n90": _Column("N90", "As N50, of nine tenths of the bases", _WHOLE, " bp", hidden=True),
    "au_n": _Column("auN", "Sum of squared lengths over the sum of lengths", _ONE, " bp", hidden=True),
    "gc": _Column("GC", "G + C of A, C, G and T", _TWO, "%", "RdYlBu", percent=True),
    "n_per_100kbp": _Column("N per 100 kbp", "Letters N in 100,000", _ONE, scale="Reds"),
    "gaps": _Column("Gaps", "Runs of N", _WHOLE, scale="Reds", hidden=True),
    "softmask": _Column("Soft mask", "Letters in lower case", _TWO, "%", "Greys", percent=True, hidden=True),
    "duplicate_ids": _Column("Repeated ids", "Records whose id stood before", _WHOLE, scale="Reds", hidden=True),
    "duplicate_sequences": _Column("Repeated sequences", "Records whose sequence stood before", _WHOLE, scale="Reds"),
    "empty": _Column("Empty", "Records without a letter", _WHOLE, scale="Reds", hidden=True),
    "q20": _Column("Q20", "Bases of Phred quality 20 or more", _TWO, "%", "RdYlGn", percent=True, hidden=True),
    "q30": _Column("Q30", "Bases of Phred quality 30 or more", _TWO, "%", "RdYlGn", percent=True),
    "average_quality": _Column("Quality", "Phred score of the mean error probability", _TWO, scale="RdYlGn"),
    "bits_per_base": _Column("Bits a base", "Mean bits a base of the model", _THREE, scale="PuRd"),
}
"""By name of the figure in `Totals`."""


def multiqc_table(sources: Sequence[SourceRow], samples: Sequence[str], note: str = "") -> dict[str, Any] | None:
    """The document, keyed by the names of the samples; None where no input is of DNA.

    MultiQC joins documents of one `id`, so that the folders of many runs make one table. `note` goes with the
    description. A figure that no sample has is no column.
    """
    data = {
        sample: {name: getattr(source.totals, name) for name in COLUMNS if getattr(source.totals, name) is not None}
        for source, sample in zip(sources, samples, strict=True)
        if source.totals is not None
    }
    if not data:
        return None
    used = {name for row in data.values() for name in row}
    headers = {name: _header(column) for name, column in COLUMNS.items() if name in used}
    return {
        "id": ID,
        "section_name": "longseq",
        "description": " ".join(filter(None, ("What is in the sequence files (longseq summarize).", note))),
        "plot_type": "table",
        "pconfig": {
            "id": f"{ID}_table",
            "title": "longseq: sequence files",
            "namespace": "longseq",
            "col1_header": "File",
        },
        "headers": headers,
        "data": data,
    }


def _header(column: _Column) -> dict[str, Any]:
    header: dict[str, Any] = {
        "title": column.title,
        "description": column.description,
        "format": column.format,
        "suffix": column.suffix,
        "scale": column.scale,
        "min": 0,
        "hidden": column.hidden,
    }
    return header | {"max": 100} if column.percent else header
