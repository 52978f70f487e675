"""A stage of a conversion as a training run."""

from __future__ import annotations

from longseq.model import ModelConfig
from longseq.tasks.convert.settings import OpeningSettings, Settings
from longseq.training import TrainConfig
from longseq.training.config import AdapterConfig, CheckpointConfig, DataConfig, EvaluationConfig, OptimiserConfig
from longseq.training.transfer import DistilConfig, OpeningConfig, TransferConfig


def run_of(
    model: ModelConfig,
    stage: TransferConfig | DistilConfig | OpeningConfig,
    settings: Settings | OpeningSettings,
    minutes: float | None,
    adapter: AdapterConfig | None = None,
) -> TrainConfig:
    """The run of a stage of at most so many minutes; None: its steps alone end it."""
    texts = settings.texts
    return TrainConfig(
        steps=stage.steps,
        minutes=minutes,
        batch=stage.batch,
        accumulate=settings.accumulate,
        precision=settings.precision,
        device=settings.device,
        threads=settings.threads,
        model=model,
        data=DataConfig(window=min(model.segment, stage.batch), held_out=texts.held_out, seed=texts.seed),
        adapter=adapter or AdapterConfig(),
        # What was trained before is not drawn to 0.
        optimiser=OptimiserConfig(rate=stage.rate, weight_decay=0.0, beta2=0.98, warmup=0.05, floor=0.0),
        evaluation=EvaluationConfig(every=texts.every, tokens=texts.scored),
        checkpoint=CheckpointConfig(every=settings.save_every, keep=1, best=False),
    )
