"""The report card of a conversion as files, and as a few lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from longseq.formats.atomic import free_file, write_aside
from longseq.formats.jsonfile import write_json
from longseq.log import count, duration
from longseq.report.conversion_page import conversion_page, crossing
from longseq.results.conversion import HTML, JSON, Conversion, Speed


def write_conversion(found: Conversion, folder: str | Path, *, force: bool = False) -> None:
    """Write report.json and report.html into a folder that stands.

    Raises:
        OutputExistsError: one of them stands already and `force` is off.
    """
    free_report(folder, force=force)
    write_json(Path(folder) / JSON, found.to_json(), force=force, given=False)
    with (
        write_aside(Path(folder) / HTML, force=force, given=False) as aside,
        open(aside, "w", encoding="utf-8") as file,
    ):
        file.writelines(conversion_page(found))


def free_report(folder: str | Path, *, force: bool = False) -> None:
    """Raise OutputExistsError if a report stands in the folder already and `force` is off."""
    for name in (JSON, HTML):
        free_file(Path(folder) / name, force=force, given=False)


def conversion_text(found: Conversion) -> str:
    """What was kept and what it brought, ended by a line feed."""
    return "\n".join([*_kept(found), *([] if found.speed is None else _faster(found.speed)), *_left_out(found)]) + "\n"


def _kept(found: Conversion) -> Iterator[str]:
    if found.retrieval is not None:
        near = found.retrieval
        yield (
            f"{count(near.texts, 'text')}: cosine to the teacher's vector {near.cosine.value:.3f} "
            f"[{near.cosine.low:.3f}, {near.cosine.high:.3f}], of two different texts {near.apart:.3f}; Spearman of "
            f"similarities {near.spearman:.3f}; nearest neighbour kept {near.neighbour.value:.3f}"
        )
    if found.lengths:
        some = ", ".join(f"{row.tokens:,}: {row.pooled.value:.3f}" for row in found.lengths)
        yield f"cosine by tokens of a text: {some}"
    if found.layers:
        yield f"transfer error of layers: {', '.join(f'{row.transfer_error:.3f}' for row in found.layers)}"
    for task in found.tasks:
        yield (
            f"{task.file}: accuracy {task.accuracy['student']:.3f}, teacher {task.accuracy['teacher']:.3f}, "
            f"most frequent class {task.frequent:.3f}"
        )


def _faster(speed: Speed) -> Iterator[str]:
    ratios = speed.ratios()
    if ratios:
        some = ", ".join(f"{length:,}: {times:.2f}×" for length, times in ratios.items())
        yield f"as fast as the whole teacher, by tokens: {some}; {crossing(speed)}"
    turn = speed.latency
    yield (
        f"{turn.turn} more tokens behind {turn.conversation:,}: {100 * turn.share:.1f} % of the time of reading all "
        f"again"
    )


def _left_out(found: Conversion) -> Iterator[str]:
    yield from (f"left out: {row.what}: {row.reason}" for row in found.skipped)
    yield f"report card in {duration(found.run.seconds)}"
