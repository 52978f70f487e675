"""Rows of variants against two short records."""

import random

HEAD = "##fileformat=VCFv4.2\n#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO\n"
CONTEXT = 30


def letters(length, seed):
    return "".join(random.Random(seed).choices("ACGT", k=length))


CHROMOSOME, PLASMID = letters(300, 0), letters(80, 1)
OTHER = {"A": "C", "C": "G", "G": "T", "T": "A"}


def row(record, position, ref, alt, info="."):
    return "\t".join([record, str(position), ".", ref, alt, ".", ".", info])


def at(position, length=1, sequence=CHROMOSOME):
    return sequence[position - 1 : position - 1 + length]


REASONED = [
    (row("NC_000001", 5, at(5), "."), "no_alt"),
    (row("NC_000001", 5, at(5), "*"), "star"),
    (row("NC_000001", 5, at(5), "<DEL>"), "symbolic"),
    (row("NC_000001", 5, at(5), "<*>"), "symbolic"),
    (row("NC_000001", 5, at(5), f"{at(5)}[p:3["), "breakend"),
    (row("NC_000001", 5, at(5), at(5)), "same"),
    (row("NC_000001", 5, at(5, 60), at(5, 60).lower()), "same"),
    (row("NC_000001", 5, at(5), "N"), "ambiguous"),
    (row("NC_000001", 5, at(5), "A" * 51), "too_long"),
    (row("NC_000001", 5, at(5, 51), at(5)), "too_long"),
]
FAULTY = [
    (row("NC_000001", 5, OTHER[at(5)], at(5)), "ref_mismatch"),
    (row("p", 80, at(80, 1, PLASMID) + "A", "A"), "outside"),
    (row("p", 0, "N", "A"), "outside"),
    (row("elsewhere", 5, "A", "C"), "no_record"),
]
