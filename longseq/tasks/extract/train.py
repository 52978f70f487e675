"""A run that trains an extractor, from documents and labels to a directory that `summarize --extractor` takes."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from longseq.config import to_toml
from longseq.errors import ConfigError
from longseq.formats.atomic import output_directory
from longseq.formats.jsonfile import to_json
from longseq.log import NullProgress, Progress, count
from longseq.metrics.classes import auroc
from longseq.metrics.numbers import pearson
from longseq.model import load
from longseq.model.checkpoint import FILES
from longseq.model.extractor import ENCODER, Extractor, save_extractor
from longseq.ops.machine import prepare
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.extract.examples import Example, held_out, read_examples
from longseq.tasks.extract.fit import fit
from longseq.tasks.extract.states import SentenceStates

LEFT_BEHIND = ("model", "run.toml", "figures.json")
"""What the directory of a run holds."""


@dataclass(frozen=True, kw_only=True)
class Extracted:
    """What a run left, and how well the documents held out are told; NaN where there are none."""

    model: str
    documents: int
    """Learned from."""
    sentences: int
    held_out: int
    """Documents scored."""
    auroc: float
    """Of the sentences that the oracle chose among all of the held-out documents, by `worth`."""
    central_auroc: float
    """The same by centrality alone."""
    correlation: float
    """Of `worth` and the share that the reference holds."""

    def line(self) -> str:
        """For people."""
        said = f"{self.model}: {count(self.documents, 'document')}, {count(self.sentences, 'sentence')}"
        if not self.held_out:
            return said
        return (
            f"{said}; of {self.held_out} held out, an oracle's sentence is ranked above another one "
            f"{self.auroc:.3f} of the time, by centrality alone {self.central_auroc:.3f}"
        )


def train_extractor(
    config: ExtractConfig, out: str | Path, *, force: bool = False, progress: Progress | None = None
) -> Extracted:
    """Train on all documents but those held out, and leave model/, run.toml and figures.json in `out`.

    Raises:
        ConfigError: no inputs or no labels.
        InputError: as `read_examples`.
        OutputExistsError: `out` is there, and `force` is not set.
    """
    for name, value in (("inputs", config.inputs), ("labels", config.labels)):
        if not value:
            raise ConfigError(where=name, expected="a file", found="none", remedy="`longseq oracle` makes labels")
    assert config.labels is not None
    progress = progress or NullProgress()
    with output_directory(out, force=force, replaces=LEFT_BEHIND) as folder:
        prepare(config.threads)
        states = None if config.start is None else SentenceStates(load(config.start))
        examples = read_examples(config.inputs, config.labels, text=config.text, states=states, progress=progress)
        learned, scored = held_out(examples, config.held_out, config.seed)
        progress.start("train", len(learned) * config.epochs if config.layers else None, "document")
        shape = config.model(0 if states is None else states.width)
        model = fit(config, learned, shape, lambda: progress.advance(config.batch))
        progress.finish()
        found = _figures(model, learned, scored, str(Path(out) / "model"))
        (folder / "model").mkdir()
        save_extractor(folder / "model", model, _card(config, found))
        if states is not None:
            (folder / "model" / ENCODER).mkdir()
            for name in (*FILES, "README.md"):
                if (states.checkpoint.path / name).is_file():
                    shutil.copyfile(states.checkpoint.path / name, folder / "model" / ENCODER / name)
        (folder / "run.toml").write_text(to_toml(config), encoding="utf-8")
        (folder / "figures.json").write_text(to_json(asdict(found)) + "\n", encoding="utf-8")
    return found


def _figures(model: Extractor, learned: Sequence[Example], scored: Sequence[Example], name: str) -> Extracted:
    worth, central, label, held = [np.zeros(0)], [np.zeros(0)], [np.zeros(0)], [np.zeros(0)]
    at = model.config.traits.index("central")
    for example in scored:
        with torch.inference_mode():
            worth.append(model.worth(model(example.traits, example.states)).numpy())
        central.append(example.traits[:, at].numpy())
        label.append(example.label.numpy())
        held.append(example.held.numpy())
    truth, found = np.concatenate(label) > 0, np.concatenate(worth)
    return Extracted(
        model=name,
        documents=len(learned),
        sentences=sum(len(example.label) for example in learned),
        held_out=len(scored),
        auroc=auroc(truth, found),
        central_auroc=auroc(truth, np.concatenate(central)),
        correlation=pearson(np.concatenate(held), found) if len(found) else float("nan"),
    )


def _card(config: ExtractConfig, found: Extracted) -> str:
    how = f"a recurrence of {config.layers} × {config.width} channels over sentences, both ways"
    encoder = "no encoder reads the words" if config.start is None else f"the encoder of {config.start} reads the words"
    facts = [
        ("learned from", f"{count(found.documents, 'document')}, {count(found.sentences, 'sentence')}"),
        ("reads", f"{encoder}; {how if config.layers else 'each sentence by itself'}"),
        ("held out", f"{count(found.held_out, 'document')}: AUROC {found.auroc:.3f}"),
        ("by centrality alone", f"AUROC {found.central_auroc:.3f}"),
    ]
    rows = "\n".join(f"| {name} | {value} |" for name, value in facts)
    return f"# Extractor\n\nFor `longseq summarize --extractor`.\n\n| fact | value |\n|---|---|\n{rows}\n"
