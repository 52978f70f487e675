"""What every feature map is: a module with `query` and `key`, in working precision whatever surrounds it."""

from __future__ import annotations

from torch import Tensor, nn

from longseq.ops.memory import working_dtype, working_precision


class FeatureMap(nn.Module):
    """x (B, H, T, K) → phi(x) (B, H, T, K'), so that phi(q)·phi(k) is never negative.

    Features are made and handed out in working precision with autocast off: the 8 bits of a bfloat16 are not enough
    for an exponential.
    """

    eps = 1e-6
    """Added to the denominator: relu maps may see nothing of what is there."""
    floor = 0.0
    """What phi(q)·phi(k) is never below in exact arithmetic, so that no denominator is either. Above 0, features may
    be negative."""

    def __init__(self, heads: int, width: int):
        super().__init__()

    @classmethod
    def features(cls, width: int) -> int:
        """K' of K = `width`."""
        return width

    def query(self, x: Tensor) -> Tensor:
        """phi(x), free to differ by a positive factor a token, which the denominator takes out."""
        return self.scaled_query(x)[0]

    def scaled_query(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """What `query` returns, and the logarithm (B, H, T) of the factor that it lacks, or None where that is 1: for
        weights that share a denominator with others."""
        with working_precision(x):
            return self.map_query(x.to(working_dtype(x)))

    def key(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """phi(x), and the power of two (B, H, T) int32 by which it counts, or None."""
        with working_precision(x):
            return self.map_key(x.to(working_dtype(x)))

    def pair(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """`query` of x[0] and `key` of x[1], x (2, B, H, T, K)."""
        return self.query(x[0]), *self.key(x[1])

    def map_query(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.map(x), None

    def map_key(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        return self.map(x), None

    def map(self, x: Tensor) -> Tensor:
        """phi(x) of x in working precision, where queries and keys are treated alike."""
        raise TypeError(f"{type(self).__name__} defines neither map nor map_query and map_key")


def head_linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """A linear layer for each attention head: x (B, H, T, K), weight (H, K, J), bias (H, J) → (B, H, T, J)."""
    y = x @ weight.to(x.dtype)
    return y if bias is None else y + bias.to(x.dtype)[:, None]
