"""A record is found under any of the names that files give it, and never under another's."""

import pytest

from longseq.errors import InputError
from longseq.formats.names import match

NCBI = "gi|88193823|ref|NC_007795.1|"


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        (NCBI, "NC_007795.1"),
        (NCBI, "NC_007795"),
        ("NC_007795.1", "NC_007795"),
        ("ref|NC_007795.1|", NCBI),
        ("gi|88193823|", NCBI),
        ("gb|CP000253.1|", "CP000253"),
        ("lcl|contig_1", "contig_1"),
        ("gnl|Prokka|contig_1", "contig_1"),
        ("ENA|CP000253|CP000253.1", "CP000253.1"),
        ("NZ_JAAABC010000001.1", "NZ_JAAABC010000001"),
        ("chr1", "1"),
        ("chr2R", "2R"),
        ("Chr1", "chr1"),
        ("chromosome1", "1"),
        ("chrM", "MT"),
        ("chrUn_KI270742", "Un_KI270742"),
    ],
)
def test_alike_either_way(wanted, known):
    for one, other in ((wanted, known), (known, wanted)):
        found = match([one], ["else", other, "chr9"])
        assert found.mapping == {one: other} and not found.missing
        assert found.notes == (f"note: names matched: {one} is {other}",)


@pytest.mark.parametrize(
    ("wanted", "known"),
    [
        ("NC_007795.1", "NC_007795.2"),  # two versions are two sequences
        ("contig.1", "contig"),  # no accession: the dot is a part of the name
        ("12345678.1", "12345678"),
        ("sample|contig1", "contig1"),  # bars, but not those of NCBI
        ("gi|1|ref|NC_000001.10|", "1"),  # a number of NCBI's is no chromosome
        ("gnl|Prokka|contig_1", "Prokka"),
        ("chr1", "chr10"),
        ("chr", "1"),
        ("x", "X"),
        ("", "chr"),
    ],
)
def test_not_alike(wanted, known):
    for one, other in ((wanted, known), (known, wanted)):
        assert match([one], [other]) == ({}, (one,), ())


def test_a_name_that_stands_in_both_is_itself():
    found = match(["1", "NC_007795"], [NCBI, "chr1", "1", "NC_007795", "1"])
    assert found == ({"1": "1", "NC_007795": "NC_007795"}, (), ())


def test_a_record_that_is_wanted_by_its_own_name_goes_to_no_other():
    assert match(["chrM", "MT"], ["MT"]) == ({"MT": "MT"}, ("chrM",), ())


def test_several_records_or_several_names_are_an_error_that_lists_them():
    with pytest.raises(InputError, match=r"a\.vcf: expected one record for 'NC_007795', found 'gi.*', 'NC_007795\.1'"):
        match(["NC_007795"], [NCBI, "NC_007795.1"], where="a.vcf")
    with pytest.raises(InputError, match=r"'NC_007795\.1', 'NC_007795\.2'; say which with --alias FILE"):
        match(["NC_007795"], ["NC_007795.1", "NC_007795.2"])
    with pytest.raises(InputError, match=r"one name for 'chr1', found '1', 'Chr1'"):
        match(["1", "Chr1"], ["chr1"])
    assert match(["1"], ["chr1", "chr1"]).mapping == {"1": "chr1"}  # one name, twice in a file


def test_an_alias_counts_before_what_is_alike_in_either_order():
    known = ["chr1", "scaffold_7", NCBI]
    for alias in ([("1", "scaffold_7")], [("scaffold_7", "1")]):
        assert match(["1"], known, alias).mapping == {"1": "scaffold_7"}
    assert match(["main"], known, [("main", "NC_007795")]).mapping == {"main": NCBI}
    assert match(["1"], known, [("1", "elsewhere")]).mapping == {"1": "chr1"}
    assert match(["chr1"], known, [("chr1", "scaffold_7")]).mapping == {"chr1": "chr1"}  # stands in both
    with pytest.raises(InputError, match="'chr1', 'scaffold_7'"):
        match(["main"], known, [("main", "scaffold_7"), ("main", "chr1")])


def test_an_alias_settles_two_names_of_one_record():
    assert match(["1", "Chr1"], ["chr1"], [("1", "chr1"), ("Chr1", "chr1")]).mapping == {"1": "chr1", "Chr1": "chr1"}


def test_notes_are_one_line_however_many_names():
    wanted = [str(i) for i in range(1, 23)]
    found = match(wanted, (f"chr{i}" for i in wanted))
    assert found.mapping == {i: f"chr{i}" for i in wanted}
    assert found.notes == ("note: names matched: 1 is chr1, 2 is chr2, 3 is chr3, 4 is chr4, 5 is chr5 … (22 in all)",)
