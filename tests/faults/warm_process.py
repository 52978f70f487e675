"""A process that has imported what a command needs, and forks a child for each command line it is asked for.

    python warm_process.py [learning] < JOBS > ANSWERS          # a line of JSON each

A child is a process of its own with the signals, limits and streams of a program, spared two seconds of imports.
`meddling` is what happens in it of itself; see `meddling.py`.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import signal
import sys
from pathlib import Path

from meddling import meddle

WARM = (
    "pyarrow.parquet",
    "tokenizers",
    "torch",
    *(f"longseq.cli.{name}" for name in ("summarize", "annotate", "embed", "score", "classify", "merge")),
    "longseq.api.summarize",
    "longseq.formats.documents",
    "longseq.formats.text",
    "longseq.tasks.document.texts",
    "longseq.tasks.summarize.dna",
    *(
        f"longseq.tasks.{name}.{part}"
        for name in ("annotate", "classify", "embed", "score", "variants")
        for part in ("merge", "shard")
    ),
    *(f"longseq.report.{name}" for name in ("pages", "report_page", "sheets", "tables", "tracks", "vectors")),
    "longseq.report.dna_page.part",
    "longseq.report.document_page.part",
    "longseq.report.plots.documents",
    "longseq.report.plots.record_plots",
)
LEARNING = (
    "accelerate",
    "matplotlib.pyplot",
    "torch._dynamo",
    "torch.distributed.tensor",
    "torch.utils.data",
    "longseq.cli.convert",
    "longseq.cli.train",
    "longseq.report.plots.curve",
    "longseq.tasks.convert",
    "longseq.training",
)
"""What commands that train need beside it."""


def main() -> None:
    for name in WARM + (LEARNING if "learning" in sys.argv else ()):
        importlib.import_module(name)
    # A thread that an import started would be missing in every child; Arrow's allocator is made for that.
    threads = {Path(f"/proc/self/task/{number}/comm").read_text().strip() for number in os.listdir("/proc/self/task")}
    assert threads <= {Path("/proc/self/comm").read_text().strip(), "jemalloc_bg_thd"}, threads
    gc.collect()
    gc.freeze()  # what was imported is no child's to look through
    print(json.dumps("warm"), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        if "wait" in asked:
            _, status, used = os.wait4(asked["wait"], 0)
            seconds = used.ru_utime + used.ru_stime
            print(json.dumps([os.waitstatus_to_exitcode(status), seconds]), flush=True)
        elif pid := os.fork():
            print(json.dumps(pid), flush=True)
        else:
            code = child(**asked)
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            atexit._run_exitfuncs()
            sys.stdout.flush()
            os._exit(code)  # without taking everything down, which nobody sees


def child(arguments, folder, streams, environment, meddling):
    """Run one command line; `streams` are the files of stdout and stderr."""
    os.setsid()  # nobody else gets what is sent to it and to its children
    for number, file in enumerate([os.devnull, *streams]):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_TRUNC
        handle = os.open(file, flags, 0o600)
        os.dup2(handle, number)
        os.close(handle)
    os.chdir(folder)
    os.environ.update(environment)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as Python sets it at its start
    from longseq.cli import main

    with contextlib.ExitStack() as stack:
        meddle(Path(folder), meddling, stack)
        return main(arguments)


if __name__ == "__main__":
    main()
