"""What cannot be learned from, as a person meets it: one line that says where, what was expected and the way out."""

import numpy as np
import pytest

from longseq.cli import main

SMALL = ["model.width=16", "model.layers=1", "model.heads=2", "data.window=32", "batch=128", "steps=3"]
OPTIONS = [word for setting in SMALL for word in ("--set", setting)] + ["--device", "cpu", "--threads", "1"]
RECORDS = 12
BY_KIND = ["--set", "data.groups=kinds.tsv", "--set", "data.groups_column=kind", "--set", "data.held_out_groups=['k1']"]


def table(label, header="label"):
    return f"id\t{header}\n" + "".join(f"r{i}\t{label(i)}\n" for i in range(RECORDS))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Files of records and labels; records r0 to r5 are of kind k0, the others of k1."""
    letters = np.random.default_rng(0).choice(list("ACGT"), (RECORDS, 120))
    files = {
        "g.fa": "".join(f">r{i}\n{''.join(row)}\n" for i, row in enumerate(letters)),
        "empty.fa": "",
        "n.fa": ">a\nNNNNNNNN\n",
        "hollow.fa": ">a\n\n>b\n\n",
        "ok.tsv": table(lambda i: "ab"[i % 2]),
        "kinds.tsv": table(lambda i: f"k{i // 6}", "kind"),
        "as-kinds.tsv": table(lambda i: "ab"[i // 6]),
        "empty.tsv": "",
        "header.tsv": "id\tlabel\n",
        "one.tsv": table(lambda i: "a"),
        "none.tsv": table(lambda i: "NA"),
        "unknown.tsv": "id\tlabel\nx1\ta\nx2\tb\n",
        "header-ids.tsv": "id\tlabel\nr1 Homo\ta\nr2 Mus\tb\n",
        "rare.tsv": table(lambda i: "b" if i == 3 else "a"),
        "flat.tsv": table(lambda i: max(i, 5)),
        "empty.bed": "",
        "ends.bed": "r11\t1\t50\tCDS\n",
        "unknown.bed": "x\t1\t50\tCDS\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("words", "code", "message"), [
    (["empty.fa"], 1, "empty.fa: is empty; give a file that holds data"),
    (["g.fa", "empty.fa"], 1, "empty.fa: is empty; give a file that holds data"),
    (["n.fa"], 1, "n.fa: expected bases A, C, G or T to learn from, found none"),
    (["hollow.fa"], 1, "hollow.fa: expected bases A, C, G or T to learn from, found none"),
    (["g.fa", "--labels", "nowhere.tsv"], 1, "labels.file: expected a table, or intervals of the inputs, found no "
     "file 'nowhere.tsv'"),
    (["g.fa", "--labels", "ends.bed", "--task", "classify"], 2, "task: expected 'annotate', to learn from the "
     "intervals of ends.bed, found 'classify'; or give a table"),
    (["g.fa", "--labels", "header-ids.tsv"], 1, "header-ids.tsv:2: expected ids of records (r0, r1, r2, r3, r4 …), "
     "found 'r1 Homo' and 1 more that no input holds; an id ends at the first blank: write 'r1'; labels.unknown=skip"),
    (["g.fa", "--labels", "empty.tsv"], 1, "empty.tsv: is empty"),
    (["g.fa", "--labels", "header.tsv"], 1, "header.tsv: expected rows below the header line, found none"),
    (["g.fa", "--labels", "unknown.tsv"], 1, "unknown.tsv:2: expected ids of records (r0, r1, r2, r3, r4 …), found "
     "'x1' and 1 more that no input holds; labels.unknown=skip passes over them"),
    (["g.fa", "--labels", "unknown.tsv", "--set", "labels.unknown=skip"], 1, "unknown.tsv: expected labels of the rec"),
    (["g.fa", "--labels", "none.tsv"], 1, "none.tsv: expected labels of the records that were read, found none of any"),
    (["g.fa", "--labels", "one.tsv"], 1, "one.tsv: expected two classes or more in label, found 'a' of every record"),
    (["g.fa", "--labels", "as-kinds.tsv", *BY_KIND], 1, "as-kinds.tsv: expected records of two classes or more to "
     "learn from, found 'a' only; hold out others (labels.held_out, data.held_out_groups)"),
    (["g.fa", "--labels", "flat.tsv", "--task", "regress", *BY_KIND], 1, "flat.tsv: expected numbers in label that "
     "differ to learn from, found 5 only; hold out others"),
    (["g.fa", "--labels", "ok.tsv", "--set", "labels.column=kind"], 2, "labels.column: expected a column of id, label"),
    (["g.fa", "--labels", "ok.tsv", *BY_KIND[:2], "--set", "data.groups_column=genus"], 2, "data.groups_column: expect"
     "ed a column of kind, found 'genus'"),
    (["g.fa", "--labels", "empty.bed"], 1, "empty.bed: is empty"),
    (["g.fa", "--labels", "unknown.bed"], 1, "unknown.bed:1: expected ids of records (r0, r1"),
    (["g.fa", "--labels", "ends.bed", "--set", "data.held_out_groups=['r11']"], 1, "ends.bed: expected bases of two "
     "classes or more to learn from, found 'background' only"),
])  # fmt: skip
def test_what_cannot_be_learned_from(folder, capsys, words, code, message):
    assert main(["train", *words, "--out", "run", *OPTIONS]) == code
    said = capsys.readouterr()
    assert said.err.splitlines()[-1].startswith(f"longseq: {message}") and said.out == ""
    assert not (folder / "run").exists()


@pytest.mark.parametrize(("words", "message"), [
    (["--labels", "rare.tsv"], "warning: every record held out is of a, so its figures do not say whether"),
    (["--labels", "ends.bed", "--set", "data.held_out_groups=['r2']"], "warning: every base held out is of background"),
    (["--labels", "as-kinds.tsv", "--task", "multilabel", *BY_KIND], "warning: no record of b is left to learn from"),
    (["--labels", "ok.tsv", "--set", "labels.held_out=0"], "warning: nothing is held out"),
])  # fmt: skip
def test_what_is_worth_a_warning(folder, capsys, words, message):
    assert main(["train", "g.fa", *words, "--out", "run", *OPTIONS, "--dry-run"]) == 0
    assert any(line.startswith(message) for line in capsys.readouterr().out.splitlines())


def test_one_class_held_out_has_no_auroc(folder):
    assert main(["train", "g.fa", "--labels", "rare.tsv", "--out", "run", *OPTIONS]) == 0
    found = (folder / "run" / "metrics.jsonl").read_text().splitlines()[-1]
    assert '"held_out_auroc": null' in found and '"held_out_accuracy": 1.0' in found
