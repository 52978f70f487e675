"""longseq, python and torchrun for shells: programs of one process that has imported everything, and forks.

A guide starts dozens of commands; most of the time of each would be the import of torch. A program is a few lines that
hand their arguments, folder, environment and streams over a socket, and end as the fork of the server ends.
"""

import importlib
import os
import runpy
import signal
import socket
import subprocess
import sys
import traceback
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROGRAMS = ("longseq", "python", "torchrun")
WARM = [
    *(
        "accelerate",
        "Bio.SeqIO",
        "bokeh.models",
        "datasets",
        "lxml.etree",
        "matplotlib.backends.backend_agg",
        "pyarrow.parquet",
    ),
    *("pypdfium2", "pysam", "rouge_score.rouge_scorer", "sklearn.linear_model", "tokenizers", "torch._dynamo"),
    *("torch.distributed.run", "torch.distributed.tensor", "longseq.streaming.stream", "longseq.tasks.annotate"),
    *("longseq.tasks.document", "longseq.tasks.summarize", "longseq.training"),
]
"""Modules that commands wake, some of which take seconds."""
CLIENT = """\
#!{python} -ES
import os, socket, sys
line = socket.socket(socket.AF_UNIX)
line.connect({address!r})
words = [{name!r}, os.getcwd(), *sys.argv[1:], "", *(f"{{k}}={{v}}" for k, v in os.environ.items())]
socket.send_fds(line, ["\\0".join(words).encode(errors="surrogateescape")], [0, 1, 2])
line.shutdown(socket.SHUT_WR)
sys.exit(int(line.recv(8) or 70))
"""


def serve(address):
    """Fork for each program that calls, until killed."""
    running = set()
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(address)
        door.listen(64)
        while True:
            caller, _ = door.accept()
            if (fork := os.fork()) == 0:
                caller.send(str(_answer(caller)).encode())
                os._exit(0)
            caller.close()
            running.add(fork)
            running -= {ended for ended in running if os.waitpid(ended, os.WNOHANG)[0]}


def _answer(caller):
    """Run what the caller asks for in its folder, environment and streams; the exit code."""
    data, streams, _, _ = socket.recv_fds(caller, 1 << 16, 3)
    while more := caller.recv(1 << 16):
        data += more
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdin, sys.stdout, sys.stderr = (os.fdopen(n, mode, closefd=False) for n, mode in enumerate("rww"))
    (name, folder, *words), environment = _halves(data.decode(errors="surrogateescape").split("\0"))
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(pair.split("=", 1) for pair in environment)
    code = 70
    try:
        code = _program(name, words)
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    return code


def _halves(words):
    """What stands before and behind the last word that is empty: an argument may be empty, a setting is not."""
    at = len(words) - 1 - words[::-1].index("")
    return words[:at], words[at + 1 :]


def _program(name, words):
    sys.argv = [name, *words]
    if name == "longseq":
        from longseq.cli import main

        return main(words)
    if name == "torchrun":
        from torch.distributed.run import main as start

        return start(words) or 0
    sys.argv, sys.path[0] = words, str(Path(words[0]).parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


SBATCH = """\
#!/bin/sh
# All tasks of an array, or a job of one process, here and now.
while [ "${1%.sbatch}" = "$1" ]; do shift; done
script=${1##*/}; shift
[ "$script" = train.sbatch ] && exec longseq train "$@"
shards=$1; shift
for shard in $(seq "$shards"); do longseq "$@" --shard "$shard/$shards" || exit; done
"""


class Programs:
    """A folder of programs, and the server behind them as long as the `with` lasts."""

    def __init__(self, folder):
        self.folder, self._address = folder, str(folder / "door")
        for name in PROGRAMS:
            self._write(name, CLIENT.format(python=sys.executable, address=self._address, name=name))
        self._write("sbatch", SBATCH)

    def _write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o755)

    def __enter__(self):
        path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        environment = os.environ | {"PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
        self._server = subprocess.Popen([sys.executable, __file__, self._address], env=environment)
        return self

    def __exit__(self, *_):
        self._server.kill()
        self._server.wait()

    def wait(self):
        """Until the server has imported all."""
        while not os.path.exists(self._address):
            assert self._server.poll() is None
            signal.sigtimedwait([], 0.05)


if __name__ == "__main__":
    for module in WARM:
        importlib.import_module(module)
    serve(sys.argv[1])
