"""What a model is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from longseq.config import require, require_one
from longseq.model.mixers import MIXERS
from longseq.ops.feature_maps import FEATURE_MAPS

CHOICES = {
    "visibility": ("causal", "segment", "both"),
    "decay": ("channel", "head", "fixed", "none"),
    "mixer_norm": ("width", "head", "none"),
    "norm": ("rms", "layer"),
    "feedforward": ("swiglu", "gelu", "relu"),
    "positions": ("rotary", "learned", "none"),
}
"""What the fields that are words may say."""
MOST = {
    "vocabulary": 1 << 24,
    "width": 1 << 16,
    "layers": 1 << 12,
    "segment": 1 << 24,
    "attention_window": 1 << 24,
    "convolution": 1 << 12,
    "period": 1 << 20,
    "longest": 1 << 40,
    "feedforward_width": 1 << 20,
    "capacity": 1 << 40,
    "rescale": 1 << 40,
    "seed": 1 << 62,
}
"""Beyond any model that there is: what asks for more is a mistake, or meant to take all memory."""
BOTH_WAYS = ("linear", "softmax")
"""Mixers whose tokens can look ahead inside a segment: they have no decay, no convolution and no recurrence."""


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Shape of an encoder and of the head that scores its next token."""

    vocabulary: int = 15
    """Number of token ids."""
    width: int = 128
    """D, channels of a hidden vector."""
    layers: int = 4
    """Blocks of mixer and feed-forward."""
    heads: int = 4
    """H, attention heads of a layer; D / H channels each."""
    pattern: tuple[str, ...] = ("gated",)
    """Mixer of each layer, repeated over the layers."""
    visibility: Literal["causal", "segment", "both"] = "causal"
    """What a token sees: all before it; all before its segment and all of that segment; or, by a second pass over the
    reverse, the whole record."""
    segment: int = 512
    """Tokens inside which attention looks both ways, with visibility "segment"."""
    across: bool = True
    """Whether a token sees the segments before its own, with visibility "segment"; else each is read by itself, as a
    Transformer that was trained on windows reads them. Only softmax mixers can do without."""
    frame: tuple[int, ...] = ()
    """Ids of the special tokens in front of and behind the text's in each segment, as a Transformer was trained with:
    two, or none. Linear mixers keep them out of their memory."""
    softmax_window: int = 0
    """Tokens of the windows inside a segment, the first at its start, whose weights linear mixers take as softmax ones
    do; all others of the segment count by the feature map times a learned factor of each attention head; 0: none."""
    memory_gate: bool = False
    """Whether linear mixers mix in the segments before by a learned gate of each attention head, closed at the start;
    else they count like the tokens of the own segment. With visibility "segment"."""
    attention_window: int = 512
    """Tokens that a window mixer sees, the current one included."""
    feature_map: str = "silu"
    """phi of the linear mixers."""
    convolution: int = 4
    """W, taps of the short convolution of gated, mlstm, delta and gated_delta mixers; 0: none."""
    decay: Literal["channel", "head", "fixed", "none"] = "channel"
    """How a gated mixer forgets: each key channel, or a whole attention head, at a rate that the input decides; a head
    at a rate that stays as it was at the start; or not at all."""
    period: int = 0
    """Tokens after which places in a record are counted anew, each with an embedding of its own: 3 lets a model of DNA
    tell the places of a codon apart, in whichever frame a gene stands; 0: a token knows nothing of its place."""
    longest: int = 262144
    """Tokens: the longest time constant over which the decays of retention, gated, mlstm and gated_delta mixers are
    spread at the start; some channels or heads of the last three begin a hundred times slower."""
    mixer_norm: Literal["width", "head", "none"] = "width"
    """RMSNorm of a gated mixer's reading: over all its channels, in each attention head, or none. Retention, mlstm and
    the delta rules always have one in each head."""
    output_gate: bool = True
    """Whether retention, gated, mlstm, delta and gated_delta mixers multiply their reading by a gate on the input."""
    norm: Literal["rms", "layer"] = "rms"
    """Norm in front of each mixer and feed-forward, and at the end."""
    norm_epsilon: float = 1e-6
    """Added to the variance in these norms."""
    post_norm: bool = False
    """Norms stand behind the sum of a mixer or feed-forward and its residual, not in front of them."""
    embedding_norm: bool = False
    """Whether the sum of a token's embeddings goes through a norm."""
    final_norm: bool = True
    """Whether a norm stands at the end."""
    positions: Literal["rotary", "learned", "none"] = "rotary"
    """How a token knows its place: softmax and window mixers turn queries and keys by it, and others do nothing; or an
    embedding of each place in a segment is added to the token's; or not at all."""
    bias: bool = False
    """Whether the projections of linear and softmax mixers add a bias."""
    feedforward: Literal["swiglu", "gelu", "relu"] = "swiglu"
    """Feed-forward network."""
    feedforward_width: int = 0
    """Its inner channels; 0: 8/3 D (swiglu) or 4 D (gelu, relu), to a multiple of 8."""
    capacity: int = 65536
    """Tokens a mixer whose state grows (softmax) may hold before it refuses."""
    block: int = 64
    """Tokens a tile of linear attention; speed and rounding only."""
    rescale: int = 64
    """Spans (32 blocks or segments, at most 2048 tokens) between two renormalisations of a memory, and one a call; 0:
    never. Changes no output bit. Within a call the delta rules have none: there their memory is float64."""
    dropout: float = 0.0
    """Share of residual channels dropped in training."""
    seed: int = 0
    """Of the initial weights."""

    def __post_init__(self):
        for name, choices in CHOICES.items():
            require_one(f"model.{name}", getattr(self, name), choices)
        for name, most in MOST.items():
            require(getattr(self, name) <= most, f"model.{name}", getattr(self, name), f"{most:,} at most")
        require(self.vocabulary >= 2, "model.vocabulary", self.vocabulary, ">= 2")
        require(self.layers >= 1, "model.layers", self.layers, ">= 1")
        require(self.heads >= 1, "model.heads", self.heads, ">= 1")
        require(
            self.width >= 1 and self.width % self.heads == 0,
            "model.width",
            self.width,
            f"a multiple of model.heads ({self.heads})",
        )
        require(bool(self.pattern), "model.pattern", self.pattern, "at least one mixer")
        for name in self.pattern:
            require_one("model.pattern", name, MIXERS, "mixers among ")
        require_one("model.feature_map", self.feature_map, FEATURE_MAPS)
        keys = self.width // self.heads
        if "gated" in self.pattern and self.decay == "channel":
            fitting = [name for name, kind in FEATURE_MAPS.items() if kind.features(keys) == keys]
            require(
                self.feature_map in fitting,
                "model.feature_map",
                self.feature_map,
                "with a decay for each channel one of " + ", ".join(fitting) + ", or model.decay 'head'",
            )
        require(
            self.convolution == 0 or self.convolution >= 2, "model.convolution", self.convolution, "0, or >= 2 taps"
        )
        if self.visibility == "segment":
            others = sorted(set(self.pattern) - set(BOTH_WAYS))
            require(
                not others,
                "model.visibility",
                self.visibility,
                f"'causal' or 'both' with {', '.join(others)} mixers ('segment' takes {' and '.join(BOTH_WAYS)} only)",
            )
        else:
            for name, value in (("across", self.across), ("frame", not self.frame)):
                require(value, f"model.{name}", getattr(self, name), "left away, or model.visibility 'segment'")
            places = "'rotary', or model.visibility 'segment'"
            require(self.positions == "rotary", "model.positions", self.positions, places)
        require(
            self.across or set(self.pattern) == {"softmax"},
            "model.across",
            self.across,
            "true but with softmax mixers alone",
        )
        converted = self.visibility == "segment" and set(self.pattern) == {"linear"}
        for name, absent in (("softmax_window", 0), ("memory_gate", False)):
            found = getattr(self, name)
            rule = f"{absent} but with model.visibility 'segment' and linear mixers alone"
            require(converted or found == absent, f"model.{name}", found, rule)
        require(
            0 <= self.softmax_window <= self.segment,
            "model.softmax_window",
            self.softmax_window,
            f"0 to model.segment ({self.segment}) tokens",
        )
        require(
            not self.bias or set(self.pattern) <= set(BOTH_WAYS),
            "model.bias",
            self.bias,
            f"false but with {' and '.join(BOTH_WAYS)} mixers",
        )
        least = 1 + len(self.frame)
        require(self.segment >= least, "model.segment", self.segment, f">= {least} token{'s' * (least > 1)}")
        require(
            len(self.frame) in (0, 2) and all(0 <= i < self.vocabulary for i in self.frame),
            "model.frame",
            self.frame,
            f"none, or two ids below {self.vocabulary}",
        )
        require(self.seed >= -MOST["seed"], "model.seed", self.seed, f">= {-MOST['seed']:,}")
        require(0 < self.norm_epsilon < math.inf, "model.norm_epsilon", self.norm_epsilon, "> 0 and finite")
        require(self.attention_window >= 1, "model.attention_window", self.attention_window, ">= 1 token")
        require(self.period == 0 or self.period >= 2, "model.period", self.period, "0, or >= 2 tokens")
        require(self.longest >= 2, "model.longest", self.longest, ">= 2 tokens")
        require(self.feedforward_width >= 0, "model.feedforward_width", self.feedforward_width, ">= 0")
        require(self.capacity >= 1, "model.capacity", self.capacity, ">= 1 token")
        require(1 <= self.block <= 4096, "model.block", self.block, "1 to 4096 tokens")
        require(self.rescale >= 0, "model.rescale", self.rescale, ">= 0 spans")
        require(0 <= self.dropout < 1, "model.dropout", self.dropout, "in [0, 1)")
        require(
            self.positions != "rotary"
            or not {"softmax", "window"} & set(self.pattern)
            or (self.width // self.heads) % 2 == 0,
            "model.width",
            self.width,
            "an even number of channels a head, for rotary positions",
        )

    @property
    def inner_width(self) -> int:
        """Channels inside the feed-forward network."""
        if self.feedforward_width:
            return self.feedforward_width
        share = 8 / 3 if self.feedforward == "swiglu" else 4
        return max(8, round(self.width * share / 8) * 8)
