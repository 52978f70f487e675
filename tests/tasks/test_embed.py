"""Laws of embeddings: a record's are its own, however it is read, cut and accompanied; the file keeps its word."""

import random
import tracemalloc

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

from longseq.cli import main
from longseq.errors import OutputExistsError, UsageError
from longseq.formats import read
from longseq.model import LanguageModel, ModelConfig, load, save
from longseq.records import reverse_complement
from longseq.streaming.hidden import HiddenReader
from longseq.tasks.embed import Request, embed, embeddings
from longseq.tasks.sentence_places import Sentences
from longseq.tasks.sources import Source
from longseq.tasks.summarize.model import default_model
from longseq.tokens import DnaTokenizer
from longseq.tokens.train import Learning, learn


@pytest.fixture(scope="module")
def dna(tmp_path_factory):
    folder = tmp_path_factory.mktemp("embed") / "m"
    save(folder, LanguageModel(ModelConfig(width=16, heads=2, layers=2)), DnaTokenizer())
    return load(folder)


def letters(length, seed=0, alphabet="ACGTACGTACGTNRacgt"):
    return "".join(random.Random(seed).choices(alphabet, k=length)).encode()


def fasta(path, *records):
    path.write_bytes(b"".join(b">r%d\n%s\n" % (i, record) for i, record in enumerate(records)))
    return str(path)


def vectors(checkpoint, file, chunk=2048, layer="final", **request):
    asked = Request(inputs=(file,), **request)
    reader = HiddenReader(checkpoint, chunk=chunk, layer=layer)
    found: dict[str, list] = {}
    for part in embeddings(asked, reader, [Source(file)]):
        found.setdefault(part.record, []).append(part.vectors)
    return {name: np.concatenate(parts) for name, parts in found.items()}


def naive(checkpoint, record, window, pool, both, layer):
    """Whole records in one call of the encoder, pooled in plain loops."""

    def one(text):
        ids = torch.from_numpy(checkpoint.tokenizer.encode(text)[0].astype(np.int64))[None]
        with torch.no_grad():
            encoder = checkpoint.model.encoder
            if layer == "embedding":
                return encoder.embedding(ids)[0].numpy()
            if layer == "layer1":
                return encoder.layers[0](encoder.embedding(ids))[0][0].numpy()
            return encoder(ids)[0][0].numpy()

    def pooled(hidden, places):
        if not len(places):
            return np.full(hidden.shape[1], np.nan)
        rows = hidden[places]
        return {"mean": rows.mean(0), "max": rows.max(0), "last": rows[-1]}[pool]

    n = len(record)
    forward, backward = one(record), one(reverse_complement(record))
    out = []
    for start in range(0, n, window or n):
        places = [i for i in range(start, min(start + (window or n), n)) if record[i : i + 1].upper() in b"ACGT"]
        vector = pooled(forward, places)
        if both:
            vector = (vector + pooled(backward, [n - 1 - i for i in reversed(places)])) / 2
        out.append(vector)
    return np.array(out)


@pytest.mark.parametrize("pool", ["mean", "max", "last"])
@pytest.mark.parametrize(
    ("per", "window", "strands", "layer"),
    [
        ("record", 0, "both", "final"),
        ("window", 13, "both", "layer1"),
        ("window", 64, "forward", "final"),
        ("base", 1, "both", "embedding"),
    ],
)
def test_definition(dna, tmp_path, pool, per, window, strands, layer):
    record = letters(90, 1) + b"N" * 70 + letters(141, 2)
    file = fasta(tmp_path / "x.fa", record)
    found = vectors(dna, file, per=per, window=window, strands=strands, pool=pool, layer=layer)["r0"]
    wanted = naive(dna, record, window, pool, strands == "both", layer)
    assert found.shape == wanted.shape and np.array_equal(np.isnan(found), np.isnan(wanted))
    assert np.nanmax(np.abs(found - wanted)) < 2e-5


def test_chunks_change_nothing_of_long_records(dna, tmp_path):
    file = fasta(tmp_path / "x.fa", letters(8999, 3))
    wanted = vectors(dna, file, per="window", window=1000)["r0"]
    for chunk in (300, 1 << 14):
        found = vectors(dna, file, chunk=chunk, per="window", window=1000)["r0"]
        assert found.shape == (9, 16) and np.abs(found - wanted).max() < 2e-5


def test_neighbours_change_nothing_to_the_bit(dna, tmp_path):
    records = [letters(n, n) for n in (3, 64, 65, 700, 8200, 1, 300, 40)] + [b"", b"NNN"]
    together = vectors(dna, fasta(tmp_path / "all.fa", *records), per="window", window=50)
    assert list(together) == [f"r{i}" for i in range(len(records))]
    for i, record in enumerate(records):
        alone = vectors(dna, fasta(tmp_path / "one.fa", record), per="window", window=50)["r0"]
        assert np.array_equal(alone, together[f"r{i}"], equal_nan=True)
    assert np.isnan(together["r8"]).all() and np.isnan(together["r9"]).all()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_record_or_with_their_number(dna, tmp_path, monkeypatch):
    """Three or six times as much to read: but for a row a window, nothing more is held. The encoder is left out; a
    piece of a file is a million bases, and two million are looked at to estimate the rest."""
    monkeypatch.setattr(HiddenReader, "step", lambda self, ids, state: (torch.ones(*ids.shape, 16), state))

    def peak(*records):
        file, out = fasta(tmp_path / "x.fa", *records), tmp_path / "e.parquet"
        tracemalloc.start()
        _, rows = embed(Request(inputs=(file,), per="window", window=10_000), dna, out, chunk=1 << 14, force=True)
        held = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert rows == sum(-(-len(record) // 10_000) for record in records)
        return held

    peak(letters(1_000))  # what is kept for good is not counted
    long, short = letters(40_000) * 60, b"ACGT" * 20
    for few, many in (([long], [3 * long]), ([short] * 500, [short] * 3_000)):
        most, least = peak(*many), peak(*few)
        assert most - least < 1 << 20


def test_too_many_bases_are_refused_before_they_are_read(dna, tmp_path, monkeypatch):
    read = []
    step = HiddenReader.step

    def counted(self, ids, state):
        read.append(ids.size)
        return step(self, ids, state)

    monkeypatch.setattr(HiddenReader, "step", counted)
    file = fasta(tmp_path / "x.fa", letters(200_000))
    with pytest.raises(UsageError, match="at most 3,000 vectors"):
        embed(Request(inputs=(file,), per="base", most=3000), dna, tmp_path / "no.parquet")
    assert sum(read) < 100_000


def test_strands_mirror(dna, tmp_path):
    record = letters(240, 5)
    file = fasta(tmp_path / "x.fa", record, reverse_complement(record))
    for request in ({"per": "record"}, {"per": "window", "window": 60}, {"per": "base"}):
        found = vectors(dna, file, **request)
        assert np.array_equal(found["r0"], found["r1"][::-1], equal_nan=True)


def test_the_file(dna, tmp_path):
    file = fasta(tmp_path / "x.fa", letters(23, 1), b"NNNN")
    out, npy = tmp_path / "e.parquet", tmp_path / "e.npy"
    request = Request(inputs=(file,), per="window", window=10)
    rows, count = embed(request, dna, out, npy=npy)
    table = pq.read_table(out)
    assert count == table.num_rows == 4 and rows[0].records == 2 and rows[0].length == 27
    found = table.to_pydict()
    assert found["file"] == [file] * 4 and found["record"] == ["r0", "r0", "r0", "r1"]
    assert list(zip(found["start"], found["end"], strict=True)) == [(0, 10), (10, 20), (20, 23), (0, 4)]
    assert set(found["strand"]) == {"both"} and set(found["layer"]) == {"final"} and set(found["model"]) == {dna.sha256}
    assert str(table.schema.field("vector").type) == "fixed_size_list<element: float>[16]"
    array = np.load(npy)
    assert array.shape == (4, 16) and found["vector"][3] is None and np.isnan(array[3]).all()
    assert np.array_equal(np.array(found["vector"][:3], np.float32), array[:3])
    with pytest.raises(OutputExistsError):
        embed(request, dna, out)
    with pytest.raises(UsageError, match="at most 20 vectors"):
        embed(Request(inputs=(file,), per="base", most=20), dna, tmp_path / "no.parquet")
    assert not (tmp_path / "no.parquet").exists() and len(list(tmp_path.iterdir())) == 3


def test_documents(tmp_path):
    text = "# One\n\nSome words stand here.\n\n# Two\n\nOther words stand there, and more of them. \n"
    (tmp_path / "d.md").write_text(text)
    with read(tmp_path / "d.md") as records:
        tokenizer = learn(records, Learning(vocabulary=262)).tokenizer
    model = LanguageModel(ModelConfig(vocabulary=tokenizer.vocabulary, width=8, heads=2, layers=1))
    save(tmp_path / "m", model, tokenizer)
    checkpoint = load(tmp_path / "m")
    file = str(tmp_path / "d.md")
    for request, number in (({"per": "record"}, 1), ({"per": "section"}, 2), ({"per": "window", "window": 5}, None)):
        (part,) = embeddings(Request(inputs=(file,), **request), HiddenReader(checkpoint), [Source(file)])
        assert part.strand == "." and number in (None, len(part.start))
        assert part.start[0] == 0 and part.end[-1] == len(text) and (part.start[1:] == part.end[:-1]).all()
        if request["per"] == "section":
            assert part.sections == ("One", "Two") and text[part.start[1] :].startswith("# Two")
    ids = torch.from_numpy(checkpoint.tokenizer.encode(text).astype(np.int64))[None]
    with torch.no_grad():
        wanted = checkpoint.model.encoder(ids)[0][0].numpy()
    assert len(part.vectors) == -(-len(wanted) // 5)
    assert np.abs(part.vectors[0] - wanted[:5].mean(0)).max() < 2e-5
    with pytest.raises(UsageError, match="a model of letters of DNA"):
        next(embeddings(Request(inputs=(file,), strands="both"), HiddenReader(checkpoint), [Source(file)]))


def test_the_model_is_that_for_what_the_first_input_holds(tmp_path):
    sequence = fasta(tmp_path / "x.fa", b"ACGT")
    (tmp_path / "d.md").write_text("# One\n\nSome words stand here.\n")
    inputs = [sequence, str(tmp_path / "d.md"), "-", str(tmp_path / "none")]
    assert [default_model([name]) for name in inputs] == ["dna", "text", "dna", "dna"]


SENTENCES = ["# One", "Some words stand here.", "他们都在这里。", "Others, too, by Mr. Smith!", "## Two", "Last one"]


@pytest.mark.parametrize("gap", ["\n\n", "\n\n \n\n\n"])
def test_a_vector_a_sentence(tmp_path, gap):
    """Each is the mean over the tokens whose last letter stands in it or in the white space behind it."""
    text = gap + gap.join(SENTENCES) + gap
    (tmp_path / "d.md").write_text(text)
    with read(tmp_path / "d.md") as records:
        tokenizer = learn(records, Learning(vocabulary=262)).tokenizer
    model = LanguageModel(ModelConfig(vocabulary=tokenizer.vocabulary, width=8, heads=2, layers=1))
    save(tmp_path / "m", model, tokenizer)
    checkpoint, file = load(tmp_path / "m"), str(tmp_path / "d.md")
    (part,) = embeddings(Request(inputs=(file,), per="sentence"), HiddenReader(checkpoint), [Source(file)])
    found = [text[a:b] for a, b in zip(part.start, part.end, strict=True)]
    assert found == [sentence.lstrip("# ") for sentence in SENTENCES]
    assert part.sections == ("One",) * 4 + ("One > Two",) * 2
    embed(Request(inputs=(file,), per="sentence"), checkpoint, tmp_path / "v.parquet")
    table = pq.read_table(tmp_path / "v.parquet")
    assert table["section"].to_pylist() == list(part.sections) and table["end"].to_pylist() == part.end.tolist()
    assert np.array_equal(np.array(table["vector"].to_pylist(), np.float32), part.vectors)
    (chunk,) = checkpoint.tokenizer.chunks(iter([text]), 10**6)
    with torch.no_grad():
        hidden = checkpoint.model.encoder(torch.from_numpy(chunk.ids).long()[None])[0][0].numpy()
    last = np.maximum.accumulate(chunk.offsets[:, 1]) - 1
    bounds = [0, *part.start[1:].tolist(), len(text)]
    for vector, begin, end in zip(part.vectors, bounds[:-1], bounds[1:], strict=True):
        assert np.abs(vector - hidden[(last >= begin) & (last < end)].mean(0)).max() < 2e-5


def test_sentences_of_a_long_document_do_not_depend_on_how_it_comes():
    rng = random.Random(0)
    text = "".join(
        rng.choice(["A few words. ", "他们来了。", "Mr. Fox went on, ", "\n\n", "so on! "]) for _ in range(6000)
    )
    pieces = [text[i : i + 997] for i in range(0, len(text), 997)]
    places = [Sentences(), Sentences()]
    for place, given in zip(places, ([text], pieces), strict=True):
        assert "".join(place.text(iter(given))) == text
        place.finish(len(text))
    assert np.array_equal(places[0].spans(), places[1].spans()) and len(places[0].spans()) > 2000


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        ([], 0, ""),
        (["--window", "4", "--per", "base"], 2, "exclude each other"),
        (["--layer", "9"], 2, "layer: expected 0 to 3"),
        (["--per", "section"], 2, "a model of text"),
        (["--by", "sentence"], 2, "a model of text"),
        (["--by", "document"], 0, ""),
        (["--per", "base", "--most", "3"], 2, "--most N"),
        (["--region", "r9"], 1, "expected a record named 'r9'"),
    ],
)
def test_the_command(dna, tmp_path, capsys, words, code, said):
    file, out = fasta(tmp_path / "x.fa", b"ACGTACGTAA"), tmp_path / "e.parquet"
    assert main(["embed", file, "--model", dna.name, "--out", str(out), "-q", *words]) == code
    assert said in capsys.readouterr().err and out.exists() == (code == 0)


def test_a_bad_record_fails_alone(dna, tmp_path, capsys):
    file, out = fasta(tmp_path / "x.fa", b"ACGT", b"AC!GT", b"TTTT"), tmp_path / "e.parquet"
    assert main(["embed", file, "--model", dna.name, "--out", str(out), "--region", "r1", "--force"]) == 1
    assert main(["embed", file, "--model", dna.name, "--out", str(out)]) == 3
    assert pq.read_table(out)["record"].to_pylist() == ["r0", "r2"]
    assert "r1" in capsys.readouterr().err
