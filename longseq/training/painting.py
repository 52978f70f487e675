"""Classes of every base of a record, from annotated intervals, by the position in the codon where that is wanted."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from longseq.errors import ConfigError, InputError, place
from longseq.formats.features import Feature, read_features
from longseq.log import count
from longseq.records import opposite_class
from longseq.training.config import LabelConfig
from longseq.training.holding_out import near, some
from longseq.training.labels import match_labels

NOTHING = -1
"""Of a base: no class, and not the background; nothing is asked."""
WHOLE = ("source", "region")
"""Keys and types by which GenBank and GFF3 describe a record as a whole; over them nothing would be background."""


class Painting:
    """Intervals of some records over a background; where several are, the last one of the file counts, or none."""

    def __init__(self, ids: Sequence[str], lengths: np.ndarray, config: LabelConfig):
        """`ids` (R) and `lengths` (R,) of the records; those of one id have the same intervals.

        Raises:
            InputError: a file that cannot be read; an interval beyond the end of its record, or, unless they are
                passed over, of a record that is none of these; one class only.
            ConfigError: a name in `labels.classes` that no interval has.
        """
        assert config.file is not None
        self._background, self._strands, self._codons = config.background, config.strands, config.codons
        self._ignore = config.ignore
        place_of = {name: i for i, name in enumerate(ids)}
        found: list[tuple[int, Feature]] = []
        told: set[str] = set()
        self.skipped = 0
        """Intervals of unknown records."""
        passed: set[str] = set()
        features: list[Feature] = []
        for feature in read_features(config.file):
            if feature.name not in config.classes if config.classes else feature.name in WHOLE:
                passed.add(feature.name)
            else:
                features.append(feature)
        matched = match_labels(dict.fromkeys(feature.interval.record for feature in features), ids, config)
        self.notes = matched.notes
        """Names that were matched though they are spelled differently."""
        for feature in features:
            record = place_of.get(matched.mapping.get(feature.interval.record, ""))
            if record is None:
                self._refuse(feature, ids, config)
                self.skipped += 1
                continue
            if feature.interval.end > lengths[record]:
                raise InputError(
                    where=place(config.file, feature.line),
                    expected=f"an interval inside {ids[record]}, which has {count(int(lengths[record]), 'base')}",
                    found=f"an end at {feature.interval.end:,}",
                )
            told.add(feature.name)
            found.append((record, feature))
        if missing := sorted({*config.classes, *config.codons} - told):
            known = some(sorted(told | passed), 20) or "none"
            raise ConfigError(
                where="labels.classes" if missing[0] in config.classes else "labels.codons",
                expected=f"names of intervals in {config.file} ({known})",
                found=repr(missing[0]),
            )
        names = {name for _, feature in found for name in self._of_codon(feature)}
        if self._strands:
            names |= {opposite_class(name) for name in names}
        self.names = (config.background, *sorted(names - {config.background}))
        """C classes, the background first."""
        if len(self.names) < 2:
            raise InputError(
                where=config.file,
                expected="intervals of some class in the records that were read",
                found=f"only {', '.join(sorted(passed))}" if passed else "none",
                remedy="labels.classes names those to learn" if passed else None,
            )
        self.whole = () if config.classes else tuple(sorted(passed))
        """Names of intervals that were left out because they describe whole records."""
        number = {name: i for i, name in enumerate(self.names)}
        opposite = [number[opposite_class(name)] if self._strands else i for name, i in number.items()]
        self.mirror = np.array([*opposite, NOTHING])
        """(C + 1,) what each class is called on the other strand; `NOTHING`, which counts from the end, is itself."""
        # (R,) of records of one id the one that holds the intervals
        self._first = np.fromiter((place_of[name] for name in ids), np.int64, len(ids))
        rows = np.array([(r, *self._row(feature, number)) for r, feature in found], np.int64).reshape(-1, 6)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        bounds = np.searchsorted(rows[:, 0], np.arange(len(ids) + 1))
        self._rows = {r: rows[bounds[r] : bounds[r + 1], 1:] for r in range(len(ids)) if bounds[r + 1] > bounds[r]}

    def annotated(self, record: int) -> bool:
        """Whether the record has any interval."""
        return int(self._first[record]) in self._rows

    def classes(self, record: int, start: int, end: int) -> np.ndarray:
        """(end - start,) int64, the class of each base of `[start, end)`, or `NOTHING`."""
        painted = np.zeros(end - start, np.int64)
        rows = self._rows.get(int(self._first[record]))
        if rows is not None:
            for a, b, *codon in rows[(rows[:, 0] < end) & (rows[:, 1] > start)].tolist():
                first, last = max(a, start), min(b, end)
                below = painted[first - start : last - start]
                classes = np.array(codon)[np.arange(first - a, last - a) % 3]
                if "overlaps" in self._ignore:
                    classes[(below != 0) & (below != classes)] = NOTHING
                below[:] = classes
        return painted

    def counts(self, parts: Iterable[tuple[int, int, int]], step: int = 1 << 20) -> np.ndarray:
        """(C,) bases of each class in these parts (record, first, last); those of `NOTHING` do not count."""
        total = np.zeros(len(self.names), np.int64)
        for record, first, last in parts:
            for start in range(first, last, step):
                found = self.classes(record, start, min(start + step, last))
                total += np.bincount(found[found != NOTHING], minlength=len(total))
        return total

    def _of_codon(self, feature: Feature) -> tuple[str, str, str]:
        """Classes of the first, second and third base of a codon."""
        names = [f"{feature.name}{i}" if feature.name in self._codons else feature.name for i in (1, 2, 3)]
        if self._strands and feature.name != self._background:
            names = [name + ("-" if feature.interval.strand == "-" else "+") for name in names]
        return names[0], names[1], names[2]

    def _row(self, feature: Feature, number: dict[str, int]) -> tuple[int, int, int, int, int]:
        """Start, end, and the classes of the bases at start, start + 1, start + 2 and every three bases on."""
        place, divided, codon = feature.interval, feature.name in self._codons, feature.codon
        ignored = ("pseudo" in self._ignore and feature.pseudo) or ("partial" in self._ignore and feature.partial)
        if ignored or (divided and codon is None and len(place) % 3):
            return place.start, place.end, NOTHING, NOTHING, NOTHING
        classes = [number[name] for name in self._of_codon(feature)]
        codon = codon or 0
        if place.strand == "-":
            first, second, third = (classes[(codon + len(place) - 1 - i) % 3] for i in range(3))
        else:
            first, second, third = (classes[(codon + i) % 3] for i in range(3))
        return place.start, place.end, first, second, third

    def _refuse(self, feature: Feature, ids: Sequence[str], config: LabelConfig) -> None:
        if config.unknown == "error":
            name, skip = feature.interval.record, "labels.unknown=skip passes over such lines"
            raise InputError(
                where=place(str(config.file), feature.line),
                expected=f"ids of records ({some(ids, 5)})",
                found=f"{name!r}, that no input holds",
                remedy=" ".join(filter(None, (near(name, ids), skip))),
            )
