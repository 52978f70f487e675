"""The encoder: ids and a state in, hidden vectors and a state out, however time is cut."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from longseq.errors import StateError, UsageError
from longseq.model.config import ModelConfig
from longseq.model.feedforward import feedforward, norm
from longseq.model.mixers import MIXERS
from longseq.model.state import State
from longseq.ops.exchange import Exchange


class Layer(nn.Module):
    """Mixer and feed-forward, each beside a residual and behind a norm (pre-norm), or before one (post-norm)."""

    def __init__(self, config: ModelConfig, layer: int):
        super().__init__()
        self.mixer_norm, self.feedforward_norm = norm(config), norm(config)
        self.mixer = MIXERS[config.pattern[layer % len(config.pattern)]](config, layer)
        self.feedforward = feedforward(config)
        self.dropout = nn.Dropout(config.dropout)
        self.post_norm = config.post_norm

    def forward(
        self, x: Tensor, state: Any = None, mask: Tensor | None = None, exchange: Exchange | None = None
    ) -> tuple[Tensor, Any]:
        """x (B, T, D) → (B, T, D) and the mixer's state."""
        if self.post_norm:
            y, state = self.mixer(x, state, mask, exchange)
            x = self.mixer_norm(x + self.dropout(y))
            return self.feedforward_norm(x + self.dropout(self.feedforward(x))), state
        y, state = self.mixer(self.mixer_norm(x), state, mask, exchange)
        x = x + self.dropout(y)
        return x + self.dropout(self.feedforward(self.feedforward_norm(x))), state


class Encoder(nn.Module):
    def __init__(self, config: ModelConfig):
        super().__init__()
        self.config = config
        self.recompute = False
        """Keep only the input of each layer for the gradient, and work the layer out again in the backward pass."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(config.seed)
            self.embedding = nn.Embedding(config.vocabulary, config.width)
            self.layers = nn.ModuleList(Layer(config, i) for i in range(config.layers))
            self.norm = norm(config) if config.final_norm else nn.Identity()
            self.embedding_norm = norm(config) if config.embedding_norm else nn.Identity()
            self.places = nn.Embedding(config.period, config.width) if config.period else None
            self.positions = nn.Embedding(config.segment, config.width) if config.positions == "learned" else None
            for table in (self.embedding, self.places, self.positions):
                if table is not None:
                    nn.init.normal_(table.weight, std=0.5)
            # Each residual branch starts small in depth (Radford et al. 2019, section 2.3).
            for name, weight in self.named_parameters():
                if name.endswith("output.weight"):
                    weight.data.mul_((2 * config.layers) ** -0.5)

    def forward(
        self,
        ids: Tensor,
        state: State | None = None,
        mask: Tensor | None = None,
        exchange: Exchange | None = None,
    ) -> tuple[Tensor, State]:
        """Read T more tokens.

        With visibility "segment" a chunk is a multiple of the segment, but for a record's last one, which may end
        anywhere.

        Args:
            ids: (B, T) int64.
            state: what the tokens before left; None at the start of a record.
            mask: (B, T) bool, True where valid; None: all are.
            exchange: joins processes that hold slices of the same records; None: alone.

        Returns:
            hidden: (B, T, D), normed, arbitrary where masked; and the state after the last valid token. With an
            exchange T is one slice, and the state that after it and all slices before it.

        Raises:
            StateError: a state of other mixers, or of another number of records.
            UsageError: a mask of another shape or type; more tokens behind a chunk that ended inside a segment.
        """
        self._require(ids, state, mask)
        if self.config.visibility == "segment" and state is not None:
            self._refuse_after_flush(state.seen, ids, mask)
        batch, length = ids.shape
        before = ids.new_zeros(batch) if state is None else state.seen
        if exchange is not None:
            before = exchange.seen(before)
        x = self.embedding(ids)
        for table in (self.places, self.positions):
            if table is not None:
                ahead = torch.arange(length, device=ids.device) if mask is None else mask.cumsum(1) - 1
                x = x + table((before[:, None] + ahead) % table.num_embeddings)
        x = self.embedding_norm(x)
        states = []
        for i, layer in enumerate(self.layers):
            left = None if state is None else state.layers[i]
            if self.recompute and torch.is_grad_enabled():
                x, after = checkpoint(layer, x, left, mask, exchange, use_reentrant=False)
            else:
                x, after = layer(x, left, mask, exchange)
            states.append(after)
        hidden = self.norm(x)
        start = hidden.new_zeros(batch, hidden.shape[-1]) if state is None else state.last
        if mask is None:
            seen = ids.new_full((batch,), length)
            last = hidden[:, -1].clone() if length else start  # a view would keep the whole chunk
        else:
            seen = mask.sum(1)
            position = torch.arange(1, length + 1, device=ids.device).expand(batch, -1)
            final = (position * mask).amax(1) if length else seen
            last = torch.cat([start[:, None], hidden], 1).gather(
                1, final[:, None, None].expand(-1, 1, hidden.shape[-1])
            )
            last = last[:, 0]
        if exchange is not None:
            last = torch.where((seen > 0)[:, None], last, exchange.tail(last[:, None], start[:, None])[:, 0])
        return hidden, State(tuple(states), before + seen, last)

    def _require(self, ids: Tensor, state: State | None, mask: Tensor | None) -> None:
        """Raise unless state and mask belong to this encoder and these ids."""
        if mask is not None and (mask.dtype != torch.bool or mask.shape != ids.shape):
            raise UsageError(
                where="mask",
                expected=f"bool {tuple(ids.shape)}",
                found=f"{mask.dtype} {tuple(mask.shape)}".removeprefix("torch."),
            )
        if state is None:
            return
        wanted: list[type] = [layer.mixer.state_type for layer in self.layers]  # type: ignore[union-attr, misc]
        if [type(part) for part in state.layers] != wanted:
            raise StateError(
                where="state",
                expected=", ".join(kind.__name__ for kind in wanted),
                found=", ".join(type(part).__name__ for part in state.layers),
                remedy="a state belongs to the model that made it",
            )
        if len(state.seen) != len(ids):
            raise StateError(where="state", expected=f"{len(ids)} records", found=f"{len(state.seen)}")

    def _refuse_after_flush(self, seen: Tensor, ids: Tensor, mask: Tensor | None) -> None:
        """The tokens of a segment see all of it: what came after its chunk has come too late."""
        segment = self.config.segment
        more = ids.shape[1] > 0 if mask is None else mask.any(1)
        late = (seen % segment != 0) & more
        if late.any():
            lane = int(late.int().argmax())
            raise UsageError(
                where=f"lane {lane}",
                expected=f"chunks of whole segments of {segment} tokens, but for a record's last",
                found=f"more tokens after {int(seen[lane])}",
                remedy=f"cut the record at multiples of model.segment ({segment})",
            )
