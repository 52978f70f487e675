"""From records to windows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from longseq.config import require
from longseq.records import Alphabet


@dataclass(frozen=True, kw_only=True)
class DataConfig:
    """From records to windows."""

    window: int = 2048
    """W, bases of a window: how far gradients reach."""
    carry: int = 1
    """Consecutive windows over which the state is carried, detached, before it starts anew; 1: every window does."""
    grow: int = 0
    """Steps over which windows grow from `shortest` to `window`, doubling, each width to the end of a passage, with as
    many tokens a step; 0: all are of `window`. To learn the next token, or hidden bases."""
    shortest: int = 64
    """Tokens of the first windows where they grow."""
    shift: int = 0
    """Letters (tokens of documents) by which a passage of a labelled record is moved at most, to either side, by a
    distance drawn anew in each epoch; what would lie outside of the record is not read. Nothing held out is moved."""
    both_strands: bool = True
    """Read each window (or run of carried windows) from a strand drawn at random; false: forward only."""
    relabel: float = 0.0
    """Share of windows in which the four bases are renamed by a permutation drawn at random, so that composition has
    to be learned from what was just read, not by heart."""
    relabel_by: Literal["any", "paired"] = "any"
    """Draw from all 24 permutations, or from the 8 that keep complements complementary."""
    ambiguity: Literal["keep", "N"] = "keep"
    """IUPAC codes other than ACGTN keep ids of their own, or are read as N. None of them is ever scored."""
    tokenizer: str | None = None
    """A tokenizer.json: learn from documents, or from DNA in words; positions then count its tokens, every document is
    a record, and DNA is read forward only. None: letters of DNA."""
    text: str | None = None
    """Column with the texts, where inputs are tables (CSV, TSV, JSON lines, Parquet, Arrow); None: `text`, else
    `sequence`, else the only column of text. A column `id` names the rows."""
    held_out: float = 0.02
    """Share of the bases kept for evaluation: whole records where some are small enough, else the end of each."""
    held_out_records: tuple[str, ...] = ()
    """Ids of the records kept for evaluation instead; every record of that id."""
    held_out_groups: tuple[str, ...] = ()
    """Groups kept for evaluation instead."""
    groups: str = "record"
    """What is held out whole or not at all: all records of an id (record), all of a file (file), or those of a group in
    this table, a TSV or CSV with ids in its first column. Where records are labelled by a table, a column `group` of it
    comes first."""
    groups_column: str | None = None
    """Column of that table with the groups, such as genus; None: `group`, or the only one that is left."""
    leakage: float = 0.5
    """Warn of records held out of which this share is learned from as well: of their 21-mers, either strand, or of runs
    of 8 tokens. Half of the 21-mers are the same at about 97 % identity. 1: do not look."""
    cache: str | None = None
    """Folder where runs share the tokens of their inputs, by digest; None: the run's own."""
    seed: int = 0
    """Of the order of windows, their offsets, strands and renamings, and of the records held out."""

    def __post_init__(self):
        require(self.window >= 2, "data.window", self.window, ">= 2 bases")
        require(self.carry >= 1, "data.carry", self.carry, ">= 1 window")
        require(self.grow >= 0, "data.grow", self.grow, ">= 0 steps")
        shorter = f">= 2 and below data.window ({self.window}), up to which windows grow"
        require(not self.grow or 2 <= self.shortest < self.window, "data.shortest", self.shortest, shorter)
        require(self.shift >= 0, "data.shift", self.shift, ">= 0 letters")
        require(0 <= self.relabel <= 1, "data.relabel", self.relabel, "a share, 0 to 1")
        require(0 <= self.held_out < 1, "data.held_out", self.held_out, "a share, 0 to below 1")
        require(bool(self.groups), "data.groups", self.groups, "'record', 'file' or a table")
        plain = self.groups in ("record", "file")
        require(not (self.groups_column and plain), "data.groups_column", self.groups_column, "a table in data.groups")
        named = self.held_out_groups
        require(not (named and self.held_out_records), "data.held_out_groups", named, "none with data.held_out_records")
        require(0 < self.leakage <= 1, "data.leakage", self.leakage, "a share, above 0 to 1")
        require(self.text != "", "data.text", self.text, "the name of a column")
        require(self.cache != "", "data.cache", self.cache, "a folder")
        require(self.seed >= 0, "data.seed", self.seed, ">= 0")
        require(not (self.tokenizer and self.relabel), "data.relabel", self.relabel, "0 with data.tokenizer")

    @property
    def narrowest(self) -> int:
        """Tokens of the narrowest windows."""
        return self.shortest if self.grow else self.window

    @property
    def alphabet(self) -> Alphabet:
        return Alphabet(ambiguity=self.ambiguity)
