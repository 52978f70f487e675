"""The linear form of a softmax Transformer: attention by feature maps in its place, all other weights as they were."""

from __future__ import annotations

from dataclasses import replace

from longseq.config import require
from longseq.errors import ConfigError
from longseq.model.config import ModelConfig
from longseq.model.headed import VectorModel


def linear_form(
    teacher: VectorModel,
    *,
    feature_map: str,
    softmax_window: int = 0,
    memory_gate: bool = True,
    seed: int = 0,
    where: str = "teacher",
) -> VectorModel:
    """A new model with the weights of `teacher`, one to one; maps, gains and gates are as they begin.

    Args:
        teacher: with softmax mixers that read each segment by itself.
        feature_map: phi of the linear mixers.
        softmax_window: tokens of the windows inside which weights stay those of the softmax; 0: none.
        memory_gate: earlier segments are read through a gate, closed at the start; else they count as the own one.
        seed: of maps that begin at random.
        where: what an error calls the teacher.

    Raises:
        ConfigError: a teacher whose attention is of another kind; settings that do not fit it.
    """
    _require_convertible(teacher.config, where)
    config = replace(
        teacher.config,
        pattern=("linear",),
        across=True,
        feature_map=feature_map,
        softmax_window=softmax_window,
        memory_gate=memory_gate,
        dropout=0.0,
        seed=seed,
    )
    model = VectorModel(config)
    known = teacher.encoder.state_dict()
    ours = model.encoder.state_dict()
    assert known.keys() <= ours.keys(), sorted(known.keys() - ours.keys())
    model.encoder.load_state_dict(ours | known)
    return model.eval()


def _require_convertible(config: ModelConfig, where: str) -> None:
    """Raise unless a linear form of such a model can be had.

    Raises:
        ConfigError: it has other mixers, reads one way or across segments, or turns queries and keys by their place.
    """
    if set(config.pattern) != {"softmax"} or config.visibility != "segment" or config.across:
        raise ConfigError(
            where=where,
            expected="softmax mixers that read each segment by itself, both ways",
            found=f"{', '.join(dict.fromkeys(config.pattern))} mixers, visibility {config.visibility}"
            + (", across segments" if config.visibility == "segment" and config.across else ""),
        )
    require(config.positions != "rotary", f"{where}.positions", config.positions, "'learned' or 'none'")
