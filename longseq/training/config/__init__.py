"""What a training run is made of. `longseq train --config run.toml --set optimiser.rate=1e-3` reads it."""

from longseq.training.config.adapter import AdapterConfig
from longseq.training.config.data import DataConfig
from longseq.training.config.keeping import CheckpointConfig, EvaluationConfig, ProcessesConfig
from longseq.training.config.labels import LabelConfig
from longseq.training.config.mask import MaskConfig
from longseq.training.config.optimiser import OptimiserConfig
from longseq.training.config.pairs import PairConfig
from longseq.training.config.run import ANSWERED, LABELLED, RECORDS, TrainConfig

__all__ = [
    "ANSWERED",
    "LABELLED",
    "RECORDS",
    "AdapterConfig",
    "CheckpointConfig",
    "DataConfig",
    "EvaluationConfig",
    "LabelConfig",
    "MaskConfig",
    "OptimiserConfig",
    "PairConfig",
    "ProcessesConfig",
    "TrainConfig",
]
