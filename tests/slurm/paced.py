"""The command line, whose steps of training take longer: a run lasts until it is disturbed. Requeued, it hurries."""

import os
import sys
import time

from longseq.cli import main
from longseq.training.update import Update

gradients = Update.gradients


def paced(self, *words):
    time.sleep(float(os.environ["PACE"]))
    return gradients(self, *words)


if not int(os.environ.get("SLURM_RESTART_COUNT", 0)):
    Update.gradients = paced
sys.exit(main(sys.argv[1:]))
