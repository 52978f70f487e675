"""FASTA: every record comes out, letter for letter, wherever lines and blocks end."""

import gzip
import hashlib
import tracemalloc
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longseq.errors import AlphabetError, InputError, UsageError
from longseq.formats import read
from longseq.formats.containers import open_bytes
from longseq.formats.fasta import records

DATA = Path(__file__).parents[2] / "data"
BLOCKS = [1, 2, 3, 7, 64, 1 << 18]


def plainly(text: bytes) -> list[tuple[str, str, bytes]]:
    """The oracle: (id, description, letters) of a FASTA file, line by line."""
    found: list[list] = []
    for line in text.replace(b"\r\n", b"\n").split(b"\n"):
        if line.startswith(b">"):
            name, _, rest = line[1:].decode().partition(" ")
            found.append([name, rest, b""])
        elif found:
            found[-1][2] += line.replace(b" ", b"").replace(b"\t", b"")
    return [tuple(record) for record in found]


@pytest.mark.parametrize("read_block", BLOCKS)
def test_awkward_file(read_block):
    path = DATA / "awkward.fa"
    got = [(r.id, r.description, b"".join(r.pieces)) for r in read(path, read_block=read_block)]
    assert got == plainly(path.read_bytes())
    assert len(got) == 16
    assert [name for name, _, _ in got].count("plain") == 2 and "" in dict.fromkeys(n for n, _, _ in got)


def test_awkward_facts():
    facts = {}
    for record in read(DATA / "awkward.fa"):
        for _ in record.pieces:
            pass
        facts.setdefault(record.id, record)
    assert facts["plain"].line == 2 and facts["plain"].length == 23 and facts["plain"].index == 0
    assert facts["crlf"].line == 6
    assert facts["empty"].length == 0
    assert facts["gi|0|ref|XX_000000.1|"].topology == "circular"
    assert facts["one"].topology is None
    assert facts["last"].index == 15 and not facts["last"].truncated
    assert facts["last"].where.endswith("awkward.fa:44 (last)")


letters = st.text("ACGTRYSWKMBDHVNUacgtryswkmbdhvnu", max_size=60).map(str.encode)
names = st.from_regex(r"[!-~é]{0,8}", fullmatch=True)


@given(st.data(), st.lists(st.tuples(names, letters), max_size=5), st.integers(1, 40), st.booleans())
def test_round_trip(held, data, wanted, read_block, final_feed):
    end = data.draw(st.sampled_from([b"\n", b"\r\n"]))
    lines = []
    for name, sequence in wanted:
        lines.append(b">" + name.encode())
        while sequence:
            width = data.draw(st.integers(0, 25))
            lines.append(sequence[:width])
            sequence = sequence[width:]
    text = end.join(lines) + (end if final_feed else b"")
    got = [(r.id, b"".join(r.pieces)) for r in records(held(text), read_block=read_block)]
    assert got == [(name, sequence) for name, sequence in wanted]


def toy(wrong: bytes) -> bytes:
    """Record chrM, header in line 4, lines of 60; `wrong` in place of base 431, which is in line 12."""
    sequence = b"ACGTA" * 86 + wrong + b"CGTAACGTAA"
    lines = [sequence[i : i + 60] for i in range(0, len(sequence), 60)]
    return b"\n".join([b">chr1 first", b"ACGT", b"AC", b">chrM second", *lines, b">chr3", b"GGGG", b""])


@pytest.mark.parametrize("read_block", BLOCKS)
def test_illegal_letter_says_where_and_what_to_do(make, monkeypatch, tmp_path, read_block):
    make("toy.fa.gz", gzip.compress(toy(b"!")))
    monkeypatch.chdir(tmp_path)
    reading = read("toy.fa.gz", read_block=read_block)
    assert b"".join(next(reading).pieces) == b"ACGTAC"
    bad = next(reading)
    with pytest.raises(AlphabetError) as caught:
        b"".join(bad.pieces)
    assert str(caught.value) == (
        "toy.fa.gz:12 (chrM): expected a DNA letter, found '!' at base 431; --on-unknown N reads it as N"
    )
    after = next(reading)  # one bad record does not take the others with it
    assert (after.id, b"".join(after.pieces)) == ("chr3", b"GGGG")
    assert list(reading) == []


@pytest.mark.parametrize("wrong", [b".", b"-", b"*", b"7", b"E", b"x", b"!", b";", b"\xe9"])
def test_other_letters_are_errors_or_n(make, walk, wrong):
    path = make("a.fa", toy(wrong))
    with pytest.raises(AlphabetError, match=r"a\.fa:12 \(chrM\).* at base 431;"):
        walk(read(path))
    got, notes = {}, {}
    for record in read(path, on_unknown="N", read_block=50):
        got[record.id], notes[record.id] = b"".join(record.pieces), record.notes
    assert got["chrM"] == b"ACGTA" * 86 + (b"n" if wrong == b"x" else b"N") + b"CGTAACGTAA"
    assert notes == {"chr1": {}, "chrM": {"read_as_N": 1}, "chr3": {}}


@pytest.mark.parametrize("on_unknown", ["error", "N"])
@pytest.mark.parametrize("read_block", BLOCKS)
def test_header_joined_to_a_line_is_no_letter(make, on_unknown, read_block):
    path = make("a.fa", b">a\nACGT>b\nGGGG\n>c\nTT\n")
    reading = read(path, on_unknown=on_unknown, read_block=read_block)
    with pytest.raises(AlphabetError, match=r"a\.fa:2 \(a\): .*found '>' at base 5; a header must begin its line"):
        b"".join(next(reading).pieces)
    assert next(reading).id == "c"


PROTEIN = b"MKVLAAGIVGLFEPQILKSTNWYHDRC*"


@pytest.mark.parametrize("on_unknown", ["error", "N"])
def test_a_file_of_protein_is_one_error(make, on_unknown):
    path = make("a.faa", b">p\n" + PROTEIN + b"\n>q\n" + PROTEIN.lower() + b"\n")
    with pytest.raises(InputError, match=r"a\.faa: expected DNA, found protein; give the nucleotide sequences"):
        next(read(path, on_unknown=on_unknown))


@pytest.mark.parametrize("on_unknown", ["error", "N"])
def test_a_protein_among_dna_is_called_protein(make, on_unknown):
    reading = read(make("a.fa", b">d\n" + b"ACGT" * 100 + b"\n>p\n" + PROTEIN + b"\n>e\nAC\n"), on_unknown=on_unknown)
    assert b"".join(next(reading).pieces) == b"ACGT" * 100
    with pytest.raises(AlphabetError, match=r"\(p\): .*found 'L' at base 4; this looks like protein"):
        b"".join(next(reading).pieces)
    assert b"".join(next(reading).pieces) == b"AC"


def test_dna_of_ambiguity_codes_is_no_protein(make):
    codes = b"ACGTRYSWKMBDHVNU" * 4
    assert b"".join(next(read(make("a.fa", b">a\n" + codes + b"\n"))).pieces) == codes
    with pytest.raises(AlphabetError, match="found 'E' at base 65; --on-unknown N reads it as N"):
        b"".join(next(read(make("b.fa", b">b\n" + codes + b"E\n"))).pieces)


def test_what_is_not_walked_is_skipped_unchecked(make):
    path = make("a.fa", b">a\nAC!GT\n>b\nACGTACGT\n>c\nTT\n")
    for read_block in BLOCKS:
        seen = []
        for record in read(path, read_block=read_block):
            if record.id == "b":
                seen.append(next(record.pieces)[:1])  # the rest is left
            elif record.id == "c":
                seen.append(b"".join(record.pieces))
        assert seen == [b"A", b"TT"]


def test_pieces_of_an_earlier_record_are_refused_not_empty(make):
    first, second = read(make("a.fa", b">a\nACGT\n>b\nTT\n"))
    with pytest.raises(UsageError, match="moved on"):
        next(first.pieces)
    assert list(second.pieces) == []


def test_reader_may_be_dropped_before_its_record(make):
    record = next(read(make("a.fa", b">a\n" + b"ACGT\n" * 100_000), read_block=1000))
    assert sum(map(len, record.pieces)) == 400_000
    assert record.length == 400_000


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"ACGTACGT\nACGT\n", r":1: expected a FASTA header that begins with '>', found 'ACGTACGT'"),
        (b"\n\nACGTACGTACGT", r":3: expected a FASTA header"),
        (b"notes\n>chr1\nACGTACGTACGT\n", r":1: expected a FASTA header that begins with '>', found 'notes'"),
        (b"; comment\n>chr1\nACGTACGTACGT\n", r":1: expected a FASTA header that begins with '>', found '; comment'"),
        (b">a\rACGT\r", r":1: expected lines that end in a line feed, found a bare carriage return"),
        (b">" + b"a" * (2 << 20) + b"\nACGT\n", r":1: expected a line of at most 1,048,576 bytes"),
    ],
)
def test_no_fasta(make, text, message):
    with pytest.raises(InputError, match=r"a\.fa" + message):
        list(read(make("a.fa", text)))


def test_comment_inside_is_an_illegal_letter(make):
    with pytest.raises(AlphabetError, match=r":3 \(a\).*found ';' at base 5"):
        b"".join(next(read(make("a.fa", b">a\nACGT\n;comment\nACGT\n"))).pieces)


def test_headers(make):
    text = b"\xef\xbb\xbf>id\ttabbed description \r\nAC\n> spaced\nGT\n>\xe9t\xe9\nA\n>\nC\n"
    text += b">x [topology=linear]\nG\n>y circular=true\nT"
    found = list(read(make("a.fa", text)))
    assert [r.id for r in found] == ["id", "spaced", "été", "", "x", "y"]
    assert found[0].description == "tabbed description"
    assert [r.topology for r in found] == [None, None, None, None, "linear", "circular"]


@pytest.mark.parametrize("cut", ["letters", "header"])
def test_truncated_file_gives_all_and_marks_the_last(make, cut):
    first = b">a\nACGT\n>b\n"
    kept = first + b"ACGT" * 1000 if cut == "letters" else first + b"AC\n>chrome"
    packed = gzip.compress(kept + b"ACGTACGTAA" * 1000)
    shorter = next(n for n in range(len(packed), 0, -1) if len(drained(make("cut.gz", packed[:n]))) <= len(kept))
    path = make("a.fa.gz", packed[:shorter])
    assert open_bytes(path).read(8) == first[:8]
    reading = read(path)
    flags = {}
    for record in reading:
        b"".join(record.pieces)
        flags[record.id] = record.truncated
    assert list(flags.values()) == [False] * (len(flags) - 1) + [True]
    assert reading.truncated


def drained(path):
    with open_bytes(path) as stream:
        return b"".join(iter(stream.read, b""))


@pytest.mark.parametrize("container", ["plain", "gzip"])
def test_no_record_is_held(make, pack, container):
    line = hashlib.sha256(b"").hexdigest().translate(str.maketrans("0123456789abcdef", "ACGT" * 4)).encode() + b"\n"
    path = make("a.fa", pack(container, b">a\n" + line * 400_000))
    tracemalloc.start()
    total = sum(len(piece) for record in read(path) for piece in record.pieces)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert total == 64 * 400_000
    assert peak < 8 << 20


def test_bad_options(make):
    path = make("a.fa", b">a\nA\n")
    with pytest.raises(UsageError, match="on_unknown: expected 'error' or 'N', found 'X'"):
        read(path, on_unknown="X")
    with pytest.raises(UsageError, match="kind: expected 'dna' or 'document', found 'rna'"):
        read(path, kind="rna")
