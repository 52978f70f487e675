"""Files that run something when they are unpickled."""

import os
import pickle
import zipfile
from pathlib import Path

import torch


class Bomb:
    """Makes a folder when it is unpickled."""

    def __init__(self, mark):
        self.mark = str(mark)

    def __reduce__(self):
        return os.mkdir, (self.mark,)


def pickled(file: Path, mark: Path) -> None:
    """A plain pickle."""
    file.write_bytes(pickle.dumps({"schema": Bomb(mark), "state": Bomb(mark)}))


def by_torch(file: Path, mark: Path) -> None:
    """As `torch.save` writes it: a zip with a pickle in it."""
    torch.save({"schema": "longseq.training/3", "position": Bomb(mark)}, file)


def by_old_torch(file: Path, mark: Path) -> None:
    torch.save([Bomb(mark)], file, _use_new_zipfile_serialization=False)


def as_jit(file: Path, mark: Path) -> None:
    """A zip that looks like TorchScript, which `torch.load` hands to another loader."""
    with zipfile.ZipFile(file, "w") as made:
        made.writestr("a/constants.pkl", pickle.dumps(Bomb(mark)))
        made.writestr("a/data.pkl", pickle.dumps(Bomb(mark)))
        made.writestr("a/version", "3\n")


def as_numpy(file: Path, mark: Path) -> None:
    """An array of objects."""
    import numpy as np

    with open(file, "wb") as made:
        np.lib.format.write_array(made, np.array([Bomb(mark)], object), allow_pickle=True)


KINDS = (pickled, by_torch, by_old_torch, as_jit, as_numpy)
"""Each writes `file`, which leaves `mark` when it is unpickled."""
