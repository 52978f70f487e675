"""Text that unpacks to far more than its bytes is refused before it is read: a document takes seconds a megabyte."""

import numpy as np
import pyarrow
import pytest
from pyarrow import parquet

from longseq.errors import InputError
from longseq.formats import arrow_batches, containers, read


def refusal(call):
    with pytest.raises(InputError) as caught:
        call()
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("row", ["{}", '{{"text": "{}"}}'], ids=["text", "rows"])
def test_a_bomb_of_text_is_refused_before_it_is_read(make, pack, monkeypatch, row):
    monkeypatch.setattr(containers, "FREE", 1 << 19)
    line = row.format("The light was lit at dusk. ").encode() + b"\n"
    bomb = make("bomb.gz", pack("gzip", line * (1 << 16)))
    said = refusal(lambda: read(bomb))
    assert "unpacks to at most 200 times its size" in said and "unpack it first" in said
    head = pack("gzip", b"The lamp is trimmed at noon.\n" * 10)
    cut = make("cut.gz", head + pack("gzip", np.random.default_rng(0).bytes(1 << 12).hex().encode())[:-100])
    with read(cut, kind="document") as reading:  # what else is wrong is said where it is reached
        assert "".join(next(reading).pieces).startswith("The lamp is trimmed at noon.")
        assert reading.truncated


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_one_text_for_many_rows_is_a_bomb(tmp_path, monkeypatch, suffix):
    monkeypatch.setattr(arrow_batches, "FREE", 1 << 17)
    for rows, name in ((10, "few"), (1000, "many")):
        texts = pyarrow.array(["The light was lit at dusk. " * 400] * rows).dictionary_encode()
        table, path = pyarrow.table({"text": texts}), tmp_path / f"{name}.{suffix}"
        if suffix == "parquet":
            parquet.write_table(table.cast(pyarrow.schema({"text": pyarrow.string()})), path, compression="zstd")
        else:
            with pyarrow.ipc.new_file(path, table.schema) as file:
                file.write_table(table)
    assert len([*read(tmp_path / f"few.{suffix}")]) == 10
    assert "a column 'text' of at most 200 times" in refusal(lambda: read(tmp_path / f"many.{suffix}"))
