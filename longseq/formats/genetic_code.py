"""Genetic codes by their NCBI number, from Biopython's tables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from longseq.errors import UsageError

STARTS = ("ATG", "GTG", "TTG")
"""Codons at which genes of bacteria begin; rarer ones of a table would only add false starts."""
UNKNOWN, STOP = "X", "*"


@dataclass(frozen=True, kw_only=True)
class GeneticCode:
    """What codons of A, C, G and T mean."""

    number: int
    """NCBI's `transl_table`."""
    name: str
    amino_acids: dict[str, str]
    """Letter of each of the 64 codons, `*` for a stop."""
    starts: tuple[str, ...] = STARTS

    @property
    def stops(self) -> tuple[str, ...]:
        """Codons that end a protein, in the order of the table."""
        return tuple(codon for codon, letter in self.amino_acids.items() if letter == STOP)

    def translate(self, letters: bytes, *, starts: bool) -> str:
        """The protein of whole codons, without the stop at its end.

        Args:
            letters: (3 n,) in reading direction, any case, U as T. A codon with any other letter is X.
            starts: the first codon is a start, which is read as methionine.

        Raises:
            ValueError: no whole number of codons.
        """
        if len(letters) % 3:
            raise ValueError(f"{len(letters)} bases are no whole number of codons")
        text = letters.decode("ascii").upper().replace("U", "T")
        found = [self.amino_acids.get(text[i : i + 3], UNKNOWN) for i in range(0, len(text), 3)]
        if starts and found:
            found[0] = "M"
        return "".join(found[:-1] if found and found[-1] == STOP else found)


@cache
def genetic_code(number: int) -> GeneticCode:
    """A code by number: 11 of bacteria, 4 of mycoplasmas, 1 the standard one, and NCBI's others.

    Raises:
        UsageError: no such number; a code in which a codon is a stop and an amino acid both.
    """
    from Bio.Data import CodonTable

    tables = CodonTable.unambiguous_dna_by_id
    if number not in tables:
        known = ", ".join(map(str, sorted(tables)))
        raise UsageError(where="--genetic-code", expected=f"one of {known}", found=str(number))
    table = tables[number]
    if both := sorted(set(table.stop_codons) & set(table.forward_table)):
        raise UsageError(
            where="--genetic-code",
            expected="a code in which each codon has one meaning",
            found=f"{number}, where {both[0]} is a stop and {table.forward_table[both[0]]}",
        )
    return GeneticCode(
        number=number,
        name=table.names[0],
        amino_acids={**table.forward_table, **dict.fromkeys(table.stop_codons, STOP)},
    )
