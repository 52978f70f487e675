"""The command line; a task of an array keeps nothing as long as the folder HELD has a file of its number."""

import os
import sys
import time
from pathlib import Path

from longseq.cli import main
from longseq.tasks.shards.spool import SpoolWriter

put = SpoolWriter.put


def held(self, value):
    while Path(os.environ["HELD"], os.environ["SLURM_ARRAY_TASK_ID"]).exists():
        time.sleep(0.05)
    return put(self, value)


SpoolWriter.put = held
sys.exit(main(sys.argv[1:]))
