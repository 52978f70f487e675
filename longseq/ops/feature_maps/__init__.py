"""Feature maps phi: what linear attention puts in place of the exponential of q·k.

A new one is a class and a line in `FEATURE_MAPS`. Masking comes after the map: elu(0) + 1 is 1.
"""

from longseq.config import require_one
from longseq.ops.feature_maps.base import FeatureMap
from longseq.ops.feature_maps.dynamic import Dynamic
from longseq.ops.feature_maps.exponential import Exponential
from longseq.ops.feature_maps.hedgehog import Hedgehog
from longseq.ops.feature_maps.mlp import Mlp
from longseq.ops.feature_maps.pointwise import EluPlusOne, Relu, ReluSquared, ShiftedSilu
from longseq.ops.feature_maps.random import RandomPositive
from longseq.ops.feature_maps.taylor import Taylor2
from longseq.ops.feature_maps.wide_hedgehog import WideHedgehog

__all__ = ["FEATURE_MAPS", "FeatureMap", "feature_map"]

FEATURE_MAPS: dict[str, type[FeatureMap]] = {
    "elu+1": EluPlusOne,
    "relu": Relu,
    "relu2": ReluSquared,
    "exp": Exponential,
    "silu": ShiftedSilu,
    "hedgehog": Hedgehog,
    "wide-hedgehog": WideHedgehog,
    "taylor2": Taylor2,
    "random": RandomPositive,
    "mlp": Mlp,
    "dynamic": Dynamic,
}


def feature_map(name: str, heads: int, width: int) -> FeatureMap:
    """The map called `name` for `heads` attention heads of `width` channels."""
    require_one("model.feature_map", name, FEATURE_MAPS)
    return FEATURE_MAPS[name](heads, width)
