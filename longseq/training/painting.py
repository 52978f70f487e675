"""Classes of every base of a record, from annotated intervals."""

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

WHOLE = ("source", "region")
"""Keys and types by which GenBank and GFF3 describe a record as a whole; over them nothing would be background."""


class Painting:
    """Intervals of some records over a background; where several are, the last one of the file counts."""

    def __init__(self, ids: Sequence[str], lengths: np.ndarray, config: LabelConfig):
        """`ids` (R) and `lengths` (R,) of the records; those of one id have the same intervals.

        Raises:
            InputError: a file that cannot be read; an interval beyond the end of its record, or, unless they are
                passed over, of a record that is none of these; one class only.
            ConfigError: a name in `labels.classes` that no interval has.
        """
        assert config.file is not None
        self._background, self._strands = config.background, config.strands
        place_of = {name: i for i, name in enumerate(ids)}
        found: list[tuple[int, int, int, str]] = []
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
            found.append((record, feature.interval.start, feature.interval.end, self._name(feature)))
        if missing := sorted(set(config.classes) - told):
            known = some(sorted(told | passed), 20) or "none"
            raise ConfigError(
                where="labels.classes",
                expected=f"names of intervals in {config.file} ({known})",
                found=repr(missing[0]),
            )
        names = {name for *_, name in found}
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
        self.mirror = np.array([number[opposite_class(name)] if self._strands else i for name, i in number.items()])
        """(C,) what each class is called on the other strand."""
        # (R,) of records of one id the one that holds the intervals
        self._first = np.fromiter((place_of[name] for name in ids), np.int64, len(ids))
        rows = np.array([(r, a, b, number[name]) for r, a, b, name in found], np.int64).reshape(-1, 4)
        rows = rows[np.argsort(rows[:, 0], kind="stable")]
        bounds = np.searchsorted(rows[:, 0], np.arange(len(ids) + 1))
        self._rows = {r: rows[bounds[r] : bounds[r + 1], 1:] for r in range(len(ids)) if bounds[r + 1] > bounds[r]}

    def annotated(self, record: int) -> bool:
        """Whether the record has any interval."""
        return int(self._first[record]) in self._rows

    def classes(self, record: int, start: int, end: int) -> np.ndarray:
        """(end - start,) int64, the class of each base of `[start, end)`."""
        painted = np.zeros(end - start, np.int64)
        rows = self._rows.get(int(self._first[record]))
        if rows is not None:
            for a, b, name in rows[(rows[:, 0] < end) & (rows[:, 1] > start)].tolist():
                painted[max(a - start, 0) : b - start] = name
        return painted

    def counts(self, parts: Iterable[tuple[int, int, int]], step: int = 1 << 20) -> np.ndarray:
        """(C,) bases of each class in these parts (record, first, last)."""
        total = np.zeros(len(self.names), np.int64)
        for record, first, last in parts:
            for start in range(first, last, step):
                found = self.classes(record, start, min(start + step, last))
                total += np.bincount(found, minlength=len(total))
        return total

    def _name(self, feature: Feature) -> str:
        if not self._strands or feature.name == self._background:
            return feature.name
        return feature.name + ("-" if feature.interval.strand == "-" else "+")

    def _refuse(self, feature: Feature, ids: Sequence[str], config: LabelConfig) -> None:
        if config.unknown == "error":
            name, skip = feature.interval.record, "labels.unknown=skip passes over such lines"
            raise InputError(
                where=place(str(config.file), feature.line),
                expected=f"ids of records ({some(ids, 5)})",
                found=f"{name!r}, that no input holds",
                remedy=" ".join(filter(None, (near(name, ids), skip))),
            )
