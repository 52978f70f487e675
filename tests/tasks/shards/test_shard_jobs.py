"""`--jobs`: its processes do not outlive the one that started them."""

import os
import subprocess
import sys
import time

import pytest

START = """
import sys
from longseq.log import NullProgress
from longseq.tasks.shards.jobs import all_shards
from longseq.tasks.shards.order import Reading
out, file, endless = sys.argv[1:]
with all_shards(out, [file], 1, Reading(), lambda shard, folder: ["summarize", endless, "--no-model"], NullProgress()):
    pass
"""


def feed(pipe, seconds):
    """Letters without an end, as long as somebody reads them."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        pipe.write(b"ACGT\n")
        time.sleep(0.02)


def test_killed_it_leaves_no_job_behind(tmp_path):
    (tmp_path / "a.fa").write_text(">a\nACGT\n")
    endless = tmp_path / "endless.fa"
    os.mkfifo(endless)
    words = map(str, (tmp_path / "out", tmp_path / "a.fa", endless))
    parent = subprocess.Popen([sys.executable, "-c", START, *words])
    with open(endless, "wb", buffering=0) as pipe:  # once the job reads
        pipe.write(b">endless\n")
        parent.kill()
        parent.wait()
        with pytest.raises(BrokenPipeError):
            feed(pipe, 60)
