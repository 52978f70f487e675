"""Models of one depth and width and of like size: what a mixer does not use, the feed-forward network gets."""

from __future__ import annotations

from longseq.model import LanguageModel, ModelConfig
from longseq.tasks.compare.config import CompareConfig

STEP = 8
"""Inner channels come in multiples of it."""
LARGEST = "lstm"
"""The mixer of most parameters: with a feed-forward network twice as wide as the model it is the measure of all."""


def shape(name: str, config: CompareConfig) -> ModelConfig:
    """The model of a mixer, as near to the size of all others as its inner width allows."""
    goal = _size(_model(LARGEST, config, 2 * config.width))
    least, next_ = (_size(_model(name, config, width)) for width in (STEP, 2 * STEP))
    steps = max(round((goal - least) / (next_ - least)), 0)
    return _model(name, config, STEP * (1 + steps))


def _model(name: str, config: CompareConfig, inner: int) -> ModelConfig:
    longest = max((*config.lengths, config.reach.farthest, config.bases.window)) + 2048
    return ModelConfig(
        pattern=(name,),
        width=config.width,
        layers=config.layers,
        heads=config.heads,
        feedforward_width=inner,
        capacity=longest,
        seed=config.seed,
    )


def _size(config: ModelConfig) -> int:
    return sum(p.numel() for p in LanguageModel(config).parameters())
