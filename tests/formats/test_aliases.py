"""A file of aliases gives pairs of names, or says which line does not."""

import gzip

import pytest

from longseq.errors import InputError
from longseq.formats.aliases import read_aliases


def test_pairs_in_order(tmp_path):
    text = b"\xef\xbb\xbf# alias\tchrom\nNC_007795\tgi|88193823|ref|NC_007795.1|\r\n\n1 chr1\nan id\tother"
    pairs = (("NC_007795", "gi|88193823|ref|NC_007795.1|"), ("1", "chr1"), ("an id", "other"))
    for name, data in (("a.tsv", text), ("a.tsv.gz", gzip.compress(text))):
        (tmp_path / name).write_bytes(data)
        assert read_aliases(tmp_path / name) == pairs


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"1 chr1\nchr2\n", r"a\.tsv:2: expected two names of one record, found 1 columns"),
        (b"1\tchr1\tensembl\n", "found 3 columns; keep two columns: cut -f 1,2"),
        (b"1\t\n", "found an empty one"),
        (b"# nothing\n", "two names of one record a line, found none"),
    ],
)
def test_what_is_no_pair(tmp_path, text, said):
    (tmp_path / "a.tsv").write_bytes(text)
    with pytest.raises(InputError, match=said):
        read_aliases(tmp_path / "a.tsv")
