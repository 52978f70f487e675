"""`longseq summarize` from argv to files, and what it says of bad inputs."""

import bz2
import gzip
import io
import json
import lzma
import os
import random
from pathlib import Path

import pytest
import zstandard
from Bio import SeqIO, bgzf
from pyarrow import parquet

from longseq.cli import main

DATA = Path(__file__).parents[2] / "data"
CHLOROPLAST = DATA / "chloroplast.gb.gz"


@pytest.fixture
def run(capsys):
    """`run(argument, …)` is (exit code, stdout, stderr) of `longseq summarize … --no-model`."""

    def call(*arguments, model=("--no-model",)):
        code = main(["summarize", *map(str, [*arguments, *model])])
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def make(tmp_path):
    def write(name: str, data: bytes | str) -> Path:
        path = tmp_path / name
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        return path

    return write


def fasta(letters: str, width: int = 60) -> str:
    return "\n".join(letters[i : i + width] for i in range(0, len(letters), width)) + "\n"


# What stands in the report


def test_json_of_the_chloroplast(run):
    code, out, err = run(CHLOROPLAST, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert found["schema"] == "longseq.summary/1"
    assert found["run"]["tokens"] == 154_478 and found["run"]["model"] is None
    assert {"seconds", "tokens_per_s", "peak_rss_mb", "version", "command"} <= found["run"].keys()
    (file,) = found["files"]
    assert (file["kind"], file["format"], file["container"]) == ("dna", "genbank", "gzip")
    assert file["totals"]["n50"] == 154_478 and file["totals"]["sum_n"] == 0
    (record,) = found["records"]
    assert (record["id"], record["length"], record["unit"]) == ("NC_000932.1", 154_478, "bp")
    assert record["gc"] == pytest.approx(36.2938, abs=1e-4)
    assert record["topology"] == "declared circular" and record["softmask"] is None


@pytest.fixture(scope="module")
def same_sequence(tmp_path_factory):
    """The chloroplast as FASTA in every container."""
    with gzip.open(CHLOROPLAST, "rt") as file:
        whole = next(SeqIO.parse(file, "genbank"))
    plain = f">{whole.id}\n{fasta(str(whole.seq))}".encode()
    folder = tmp_path_factory.mktemp("same")
    packed = {
        "c.fa": plain,
        "c.fa.gz": gzip.compress(plain),
        "c.fa.bz2": bz2.compress(plain),
        "c.fa.xz": lzma.compress(plain),
        "c.fa.zst": zstandard.compress(plain),
    }
    for name, data in packed.items():
        (folder / name).write_bytes(data)
    with bgzf.BgzfWriter(str(folder / "c.fa.bgz")) as file:
        file.write(plain)
    return folder


def test_the_same_sequence_gives_the_same_row_however_it_is_packed(run, same_sequence, monkeypatch):
    written = sorted(same_sequence.iterdir())
    assert len(written) == 6
    code, out, _ = run(CHLOROPLAST, *written, "--json")
    assert code == 0
    rows = json.loads(out)["records"]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((same_sequence / "c.fa").read_bytes())))
    code, out, _ = run("-", "--json")
    rows += json.loads(out)["records"]
    # GenBank's case is no mask, and its header says more than that of FASTA
    told = {"file", "description", "topology", "lower", "softmask"}
    assert len({json.dumps({k: v for k, v in row.items() if k not in told}) for row in rows}) == 1
    fasta_rows = [{k: v for k, v in row.items() if k != "file"} for row in rows[1:]]
    assert all(row == fasta_rows[0] for row in fasta_rows)


def test_files_of_a_run_read_back_to_the_same_figures(run, tmp_path):
    out = tmp_path / "out"
    assert run(CHLOROPLAST, "--out", out)[0] == 0
    made = {"regions.bed", "sequences.tsv", "windows.parquet", "tracks"}
    assert {p.name for p in out.iterdir()} == {"files.tsv", "longseq_mqc.json", "run.json", "summary.json", *made}
    (record,) = json.loads((out / "summary.json").read_text())["records"]
    header, line = (text.split("\t") for text in (out / "sequences.tsv").read_text().splitlines())
    row = dict(zip(header, line, strict=True))
    assert (row["id"], row["length"], float(row["gc"])) == ("NC_000932.1", "154478", record["gc"])
    assert row["softmask"] == row["bits_per_base"] == "NA" and row["digest"] == record["digest"]
    windows = parquet.read_table(out / "windows.parquet")
    assert windows.num_rows == 16 and windows["end"].to_pylist()[-1] == 154_478
    assert windows["record"].to_pylist() == ["NC_000932.1"] * 16
    letters = sum(sum(windows[base].to_pylist()) for base in "acgtn")
    assert letters == 154_478 and windows["bits"].null_count == 16
    bed = [text.split("\t") for text in (out / "regions.bed").read_text().splitlines()]
    assert [(b[0], int(b[1]), int(b[2]), float(b[6])) for b in bed] == [
        (r["record"], r["start"], r["end"], r["gc"]) for r in record["regions"]
    ]
    # Seven columns: an eighth would make genome browsers read the seventh as a coordinate.
    assert all(0 <= int(b[4]) <= 1000 and len(b) == 7 for b in bed)


def test_many_records_fit_a_terminal(run, make):
    chance = random.Random(0)
    text = "".join(
        f"@read{i}\n{(s := ''.join(chance.choices('ACGTN', k=chance.randint(0, 300))))}\n+\n{'I' * len(s)}\n"
        for i in range(500)
    )
    code, out, _ = run(make("reads.fq", text))
    assert code == 0 and len(out.splitlines()) <= 25
    assert "500 records" in out and "… and 496 more" in out and "Q30 100.00 %" in out


def test_fullest_view_of_one_input_has_25_lines(run, make, tiny_model):
    half = "".join(random.Random(0).choices("ACGT", weights=[4, 1, 1, 4], k=2_000))
    read = half + half.replace("A", "G").replace("T", "C")
    many = make("long.fq", "".join(f"@r{i}\n{read}\n+\n{'I' * 4_000}\n" for i in range(6)))
    code, out, _ = run(many, "--window", 200, model=("--model", tiny_model, "--strands", "forward"))
    assert code == 0
    assert "most surprising" in out and "regions of one composition, the first 3:" in out and "bits a base" in out
    assert len(out.splitlines()) == 25


def test_several_inputs_of_both_kinds_are_a_line_each(run, make):
    text = make("t.md", "# Title\n\nThe first sentence of this text is here. Then there is another one. And a third.\n")
    code, out, _ = run(CHLOROPLAST, DATA / "awkward.fa", text)
    lines = out.splitlines()
    assert code == 0 and lines[0] == "3 inputs" and len(lines) == 5
    assert "154,478" in lines[2] and "document" in lines[4]


def test_documents_print_their_sentences(run, make, tmp_path):
    text = "The lamp was lit in 1854. It burned oil for forty years. The keepers kept a record of the weather.\n"
    path = make("t.txt", text)
    code, out, _ = run(path, "--sentences", 1)
    assert code == 0 and len(out.splitlines()) == 2
    code, out, _ = run(path, "--sentences", 1, "--json")
    (record,) = json.loads(out)["records"]
    (sentence,) = record["sentences"]
    assert record["kind"] == "document"
    assert text[sentence["start"] : sentence["end"]] == sentence["text"]
    code, out, _ = run(path, "--words", 8, "--format", "md", "--out", tmp_path / "o")
    assert code == 0 and out.startswith("# ")
    assert (tmp_path / "o" / "summary.md").read_text() == out
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == ["files.tsv", "run.json", "summary.json", "summary.md"]


def test_dna_as_markdown(run):
    code, out, _ = run(CHLOROPLAST, "--format", "md")
    assert code == 0 and out.startswith("# ") and "```text" in out


def test_a_region_keeps_the_coordinates_of_its_record(run):
    code, out, _ = run(CHLOROPLAST, "--region", "NC_000932.1:10,001-40,000", "--json", "--window", 10_000)
    (record,) = json.loads(out)["records"]
    assert code == 0 and (record["start"], record["length"]) == (10_000, 30_000)
    with gzip.open(CHLOROPLAST, "rt") as file:
        part = next(SeqIO.parse(file, "genbank")).seq[10_000:40_000]
    assert record["letters"] == {base: part.count(base) for base in "ACGT"}
    assert record["regions"][0]["start"] == 10_000 and record["regions"][-1]["end"] == 40_000


def test_a_region_past_the_end_is_clipped_and_said(run):
    code, out, err = run(CHLOROPLAST, "--region", "NC_000932.1:150,001-200,000", "--json")
    (record,) = json.loads(out)["records"]
    assert code == 0 and record["length"] == 4_478
    assert err == f"longseq: {CHLOROPLAST} (NC_000932.1): ends at 154478, and the region with it\n"


def test_no_windows(run, tmp_path):
    assert run(CHLOROPLAST, "--window", 0, "--out", tmp_path / "o")[0] == 0
    assert sorted(p.name for p in (tmp_path / "o").iterdir()) == [
        "files.tsv",
        "longseq_mqc.json",
        "run.json",
        "sequences.tsv",
        "summary.json",
    ]


def test_unknown_letters_read_as_n(run, make):
    code, out, _ = run(make("x.fa", ">a\nAC!GT\n"), "--on-unknown", "N", "--json")
    (record,) = json.loads(out)["records"]
    assert code == 0 and record["n"] == 1 and record["notes"]["read_as_N"] == 1


# What is wrong


BAD = {
    "empty": (b"", "is empty"),
    "headerless.fa": (b"ACGTACGTAC\nACGTACGTAC\n", "header"),
    "letter.fa": (b">chrM x\nACGT\nAC!T\n", "(chrM): expected a DNA letter, found '!' at base 7"),
    "rubbish": (bytes(range(256)) * 64, "binary data"),
    "cut.gz": (gzip.compress(b">a\nACGT\n")[:10], "cut before its first letter"),
    "damaged.gz": (gzip.compress(b">a\nACGT\n")[:-8] + bytes(8), "damaged"),
    "protein.fa": (b">p\nMKVLLIEFPQMKVLLIEFPQ\n", "protein"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_one_line_and_exit_1(name, run, make, tmp_path):
    data, said = BAD[name]
    out = tmp_path / "out"
    code, shown, err = run(make(name, data), "--out", out)
    assert (code, shown) == (1, "")
    assert err.startswith("longseq: ") and name in err and said in err and err.count("\n") == 1
    assert not out.exists() and [p.name for p in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("path", "said"), [("missing.fa", "no such file"), ("", "expected a folder of files, found none in it")]
)
def test_no_file_there(path, said, run, tmp_path):
    code, out, err = run(tmp_path / path)
    assert (code, out) == (1, "") and said in err and err.count("\n") == 1


def test_a_file_cut_short_is_reported_whole_and_marked(run, make, tmp_path):
    letters = "".join(random.Random(1).choices("ACGT", k=400_000))
    packed = gzip.compress(f">first\nACGT\n>second\n{fasta(letters)}".encode())
    cut = make("cut.fa.gz", packed[: len(packed) // 2])
    code, out, err = run(cut, "--json", "--out", tmp_path / "out")
    found = json.loads(out)
    assert code == 3 and "ended too early" in err and err.count("\n") == 1
    assert [r["truncated"] for r in found["records"]] == [False, True]
    assert 100_000 < found["records"][1]["length"] < 300_000
    assert found["files"][0]["truncated"] is True
    assert json.loads((tmp_path / "out" / "summary.json").read_text()) == found


def test_a_bad_record_does_not_stop_the_others(run, make):
    code, out, err = run(make("x.fa", ">a\nACGT\n>b\nAC?T\n>c\nGGCC\n"), "--json")
    found = json.loads(out)
    assert code == 3 and [r["id"] for r in found["records"]] == ["a", "c"]
    assert "x.fa:4 (b): expected a DNA letter, found '?' at base 3" in err
    assert found["files"][0]["failed"] == 1 and len(found["files"][0]["errors"]) == 1


def test_a_bad_file_does_not_stop_the_others(run, make, tmp_path):
    code, out, err = run(tmp_path / "missing.fa", make("x.fa", ">a\nACGT\n"), "--json")
    found = json.loads(out)
    assert code == 3 and "missing.fa: no such file" in err
    assert [f["records"] for f in found["files"]] == [0, 1] and found["files"][0]["kind"] is None


def test_when_every_file_is_bad_each_is_named(run, tmp_path):
    code, out, err = run(tmp_path / "one.fa", tmp_path / "two.fa")
    assert (code, out) == (1, "") and len(err.splitlines()) == 2
    assert "one.fa: no such file" in err and "two.fa: no such file" in err


def test_an_existing_output_is_refused_and_replaced_only_by_force(run, make, tmp_path):
    out = tmp_path / "out"
    source = make("x.fa", ">a\nACGT\n")
    assert run(source, "--out", out)[0] == 0
    before = (out / "summary.json").read_bytes()
    code, shown, err = run(source, "--out", out)
    assert (code, shown) == (2, "") and "exists already" in err and "--force" in err
    assert (out / "summary.json").read_bytes() == before
    (out / "mine.txt").write_text("kept")
    text = make("t.txt", "A sentence is here. Another one is there.\n")
    assert run(text, "--out", out, "--force")[0] == 0
    assert sorted(p.name for p in out.iterdir()) == ["files.tsv", "mine.txt", "run.json", "summary.json", "summary.md"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--window", "50"], "window: expected 0, or 100 to 1,000,000 bases, found 50"),
        (["--region", "NC_000932.1:9-2"], "1 <= START <= END"),
        (["--sentences", "3", "--words", "9"], "--sentences and --words exclude each other"),
        (["--ratio", "1.5"], "a ratio above 0, at most 1"),
        (["--json", "--format", "md"], "--json and --format"),
        (["--model", "dna"], "--model and --no-model exclude each other"),
        (["--out", "missing/folder"], "its directory does not exist"),
    ],
)
def test_wrong_requests_exit_2(arguments, said, run, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    code, out, err = run(CHLOROPLAST, *arguments)
    assert (code, out) == (2, "") and said in err and err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_region_of_no_record(run):
    code, _, err = run(CHLOROPLAST, "--region", "chrM")
    assert code == 1 and "expected a record named 'chrM'" in err
    code, _, err = run(CHLOROPLAST, "--region", "NC_000932.1:154,479-")
    assert code == 1 and "154,478" in err


# With a model


@pytest.fixture(scope="module")
def tiny_model(tmp_path_factory):
    import torch

    from longseq.model import LanguageModel, ModelConfig, save
    from longseq.tokens import DnaTokenizer

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("model") / "tiny"
    save(folder, LanguageModel(ModelConfig(width=16, layers=1, heads=1)), DnaTokenizer())
    return folder


def test_bits_of_a_model(run, make, tiny_model, tmp_path):
    letters = "".join(random.Random(2).choices("ACGT", k=3_000))
    source = make("x.fa", f">a\n{fasta(letters)}>b\nNNNN\n>c\n")
    code, out, _ = run(source, "--json", "--window", 500, "--out", tmp_path / "o", model=("--model", tiny_model))
    found = json.loads(out)
    a, b, c = found["records"]
    assert code == 0 and found["run"]["model"] == str(tiny_model) and len(found["run"]["model_sha256"]) == 64
    assert 1.5 < a["bits_forward"] < 8 and a["bits_per_base"] == pytest.approx(
        (a["bits_forward"] + a["bits_reverse"]) / 2
    )
    costs = [(window["bits"], window["z"]) for window in a["surprising"]]
    assert 1 <= len(costs) <= 5 and costs == sorted(costs, reverse=True) and min(costs)[1] >= 0
    assert b["bits_per_base"] is c["bits_per_base"] is None
    windows = parquet.read_table(tmp_path / "o" / "windows.parquet")
    assert windows["bits"].null_count == 1
    assert sum(windows["bits"].to_pylist()[:6]) / 6 == pytest.approx(a["bits_per_base"], rel=1e-5)


def test_bad_models_exit_1(run, make, tiny_model, tmp_path):
    source = make("x.fa", ">a\nACGT\n")
    code, out, err = run(source, model=("--model", tmp_path / "none"))
    assert (code, out) == (1, "") and "expected a checkpoint directory or a shipped name" in err
    other = tmp_path / "other"
    other.mkdir()
    for file in tiny_model.iterdir():
        (other / file.name).write_bytes(file.read_bytes())
    tokenizer = json.loads((other / "tokenizer.json").read_text())
    (other / "tokenizer.json").write_text(json.dumps({**tokenizer, "letters": "ACGTN"}))
    code, out, err = run(source, model=("--model", other))
    assert (code, out) == (1, "") and "tokenizer" in err and err.count("\n") == 1


def test_a_device_that_is_not_there(run, make, tiny_model):
    code, out, err = run(make("x.fa", ">a\nACGT\n"), "--device", "vax", model=("--model", tiny_model))
    assert (code, out) == (2, "") and "--device: expected a usable device 'vax'" in err and err.count("\n") == 1


def test_documents_need_no_model(run, make, tmp_path):
    text = make("t.txt", "A sentence is here. Another one is there.\n")
    assert run(text, model=("--model", tmp_path / "none"))[0] == 0


def test_a_name_that_is_no_unicode(run, tmp_path):
    path = os.fsdecode(os.fsencode(tmp_path) + b"/a\xff.fa")
    try:
        Path(path).write_text(">a\nACGT\n")
    except OSError:
        pytest.skip("names are Unicode here")
    code, _, _ = run(path, "--json", "--out", tmp_path / "out")
    assert code == 0 and json.loads((tmp_path / "out" / "summary.json").read_text())["files"][0]["file"] == path
    (table,) = parquet.read_table(tmp_path / "out" / "windows.parquet").to_pylist()
    assert table["file"].endswith("a\\udcff.fa")
    assert "a\\udcff.fa\t" in (tmp_path / "out" / "sequences.tsv").read_text()
    assert run(path)[0] == 0


def test_a_record_that_was_cut_is_marked_on_the_terminal(run, make):
    code, out, err = run(make("cut.fq", "@r1\nACGT\n+\nIIII\n@r2\nACGN\n"))
    assert code == 3 and "the record it ended in is marked" in err
    lines = out.splitlines()
    (whole,), (cut,) = ([line for line in lines if line.startswith(f"  {name} ")] for name in ("r1", "r2"))
    assert cut.endswith("yes") and not whole.endswith("yes") and any(line.endswith("cut short") for line in lines)


def test_an_empty_name_is_not_no_name(run, make):
    path = make("a.fa", ">a\nACGT\n")
    assert run(path, "--out", "")[:2] == (2, "")
    code, out, err = run(path, "--model", "", model=())
    assert (code, out) == (1, "") and "no config.json" in err


def test_one_is_not_many(run, make):
    assert "1 word, 1 sentence; the summary has 1 word," in run(make("a.txt", "hello"))[1]
    assert "1 id, 1 sequence;" in run(make("a.fa", ">a\nACGT\n>a\nACGT\n"))[1]
