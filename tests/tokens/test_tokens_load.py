"""`tokens.load`: the right tokenizer for a file, or a line that says why not."""

import json
import subprocess
import sys

import numpy as np
import pytest
from tokenizers import Tokenizer
from trained_tokenizers import LINES, trained

from longseq.errors import CheckpointError
from longseq.records import Alphabet
from longseq.tokens import DnaTokenizer, load
from longseq.tokens.stream import StreamTokenizer
from longseq.tokens.stream.pattern import Pattern
from longseq.tokens.subwords import kmers


def test_the_schema_decides(tmp_path):
    DnaTokenizer().save(tmp_path / "dna.json")
    trained("unigram").save(str(tmp_path / "text.json"))
    assert isinstance(load(tmp_path / "dna.json"), DnaTokenizer)
    assert isinstance(load(str(tmp_path / "text.json")), StreamTokenizer)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"", "expected a tokenizer.json"),
        (b"\x1f\x8b\x08rubbish", "expected a tokenizer.json"),
        (b"[1, 2]", "found neither"),
        (b'{"vocab": {}}', "found neither"),
        (b'{"schema": "longseq.tokenizer/9"}', "found schema 'longseq.tokenizer/9'"),
        (b'{"model": {"type": "Abacus"}}', "expected a tokenizer"),
    ],
)
def test_other_files_are_refused_by_name(tmp_path, content, found):
    path = tmp_path / "tokenizer.json"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: ") as caught:
        load(path)
    assert found in str(caught.value) and "\n" not in str(caught.value)


def _foreign(**parts):
    """A tokenizer of words with these parts."""
    plain = dict.fromkeys(("truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"))
    model = {"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1}, "unk_token": "[UNK]"}
    return {"version": "1.0", "added_tokens": [], **plain, "model": model, **parts}


def _split(pattern):
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"pre_tokenizer": _split(r"(A+)+$")}, "retry-limit-in-match over"),
        ({"pre_tokenizer": _split(r"A*A*A*\d")}, "a tokenizer that ends soon"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "AAAAAA=="}}, "index out of bounds"),
        (
            {"model": {"type": "WordLevel", "vocab": {"[UNK]": 4_000_000_000}, "unk_token": "[UNK]"}},
            "found 4,000,000,000",
        ),
    ],
    ids=["doubly endless", "a high power", "a map of nothing", "an absurd id"],
)
def test_what_would_never_end_or_fails_inside_the_library_is_refused_in_a_line(tmp_path, capfd, parts, found):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(_foreign(**parts)))
    with pytest.raises(CheckpointError, match=r"tokenizer\.json: ") as caught:
        load(path)
    assert found in str(caught.value) and "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""  # what the library's runtime says of it


def test_patterns_of_any_size_and_depth_are_looked_at_for_a_moment():
    assert Pattern.of("(" * 2000 + "a" + ")" * 2000) is None
    assert Pattern.of("(?:" + "|".join("abcdefghij" * 50) + ")+") is None


@pytest.mark.parametrize("change", [{"AA": 99}, {"AA": "4"}, {"AX": 5}, {"AAAAAAAAAAAAAAAAAAAAAAA": 31}])
def test_words_of_bases_are_those_that_there_are(tmp_path, change):
    path = tmp_path / "tokenizer.json"
    kmers(2, Alphabet()).save(path)
    document = json.loads(path.read_text())
    document["model"]["vocab"] |= change
    path.write_text(json.dumps(document))
    with pytest.raises(CheckpointError, match="words"):
        load(path)


def test_a_missing_file_and_a_folder_are_refused_by_name(tmp_path):
    for path in (tmp_path / "none.json", tmp_path):
        with pytest.raises(CheckpointError, match=path.name):
            load(path)


def test_saving_keeps_the_tokenizer_as_it_was(tmp_path):
    original = trained("word-piece")
    original.enable_truncation(7)
    stream = StreamTokenizer(original)
    stream.save(tmp_path / "tokenizer.json")
    again = load(tmp_path / "tokenizer.json")
    assert again.digest() == stream.digest() != StreamTokenizer(trained("unigram")).digest()
    assert json.loads(Tokenizer.from_file(str(tmp_path / "tokenizer.json")).to_str()) == json.loads(original.to_str())


@pytest.mark.parametrize("kind", ["byte-level", "unigram", "byte-level, added tokens"])
def test_ids_and_decoding_are_those_of_the_library(kind):
    tokenizer = trained(kind)
    stream = StreamTokenizer(tokenizer)
    assert stream.vocabulary == tokenizer.get_vocab_size()
    every = np.arange(stream.vocabulary)
    assert stream.decode(every) == tokenizer.decode(every.tolist(), skip_special_tokens=False)
    (chunk,) = stream.chunks(iter([LINES[0]]), 1000)
    assert chunk.ids.tolist() == tokenizer.encode(LINES[0], add_special_tokens=False).ids


def test_dna_needs_no_tokenizer_library():
    code = (
        "import sys, longseq.tokens; longseq.tokens.DnaTokenizer().encode(b'ACGT'); print('tokenizers' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
