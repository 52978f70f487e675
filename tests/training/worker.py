"""One of several processes of training runs: `worker.py JOBS.json`, with RANK and the like in the environment.

Each job is `{"settings": …, "out": …, "resume": false, "dry_run": false, "pace": 0, "stop_after": 0, "full_at": 0,
"unwritten_at": 0}`: seconds to wait after each step, the step after which a signal asks for a stop, and those whose
checkpoint, and whose line in the journal, find no room on the disk. What a job raised is written beside the jobs, one
file a rank.
"""

import json
import os
import signal
import sys
import time
from pathlib import Path

import torch

from longseq.config import from_mapping
from longseq.errors import LongseqError
from longseq.log import NullProgress
from longseq.training import TrainConfig, journal, train


class Paced(NullProgress):
    def __init__(self, seconds, stop_after):
        self.seconds, self.left, self.what = seconds, stop_after, ""

    def start(self, what, total=None, unit=""):
        self.what = what

    def advance(self, amount, **facts):
        time.sleep(self.seconds)
        self.left -= self.what == "train"
        if self.left == 0 and self.what == "train":
            os.kill(os.getpid(), signal.SIGTERM)


def work(job):
    save = torch.save

    def full(content, path):
        if content["position"]["step"] == job["full_at"]:
            raise OSError(28, "No space left on device")
        save(content, path)

    write = journal.Journal.write

    def unwritten(self, step, **facts):
        if step == job["unwritten_at"]:
            self._file.close()
            self._file = open("/dev/full", "ab", buffering=0)  # noqa: SIM115
        write(self, step, **facts)

    journal.Journal.write = unwritten if job.get("unwritten_at") else write
    torch.save = full if job.get("full_at") else save
    try:
        config = from_mapping(TrainConfig, job["settings"])
        progress = Paced(job.get("pace", 0), job.get("stop_after", 0))
        ways = {name: job.get(name, False) for name in ("resume", "dry_run")}
        train(config, job["out"], **ways, progress=progress)
    except LongseqError as error:
        return str(error)
    finally:
        torch.save, journal.Journal.write = save, write
    return ""


if __name__ == "__main__":
    jobs = Path(sys.argv[1])
    said = [work(job) for job in json.loads(jobs.read_text())]
    jobs.with_name(f"{jobs.stem}-{os.environ.get('RANK', 0)}.said").write_text(json.dumps(said))
