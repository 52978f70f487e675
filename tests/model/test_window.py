"""The window mixer equals its dense formula, and its state keeps its size."""

import pytest
import torch

from longseq.model import ModelConfig
from longseq.model.mixers.recurrent import Gru, Lstm, Rnn
from longseq.model.mixers.softmax import rotate
from longseq.model.mixers.window import Window

B, T, D, H = 2, 300, 8, 2


def mixer(window):
    torch.manual_seed(0)
    return Window(ModelConfig(width=D, heads=H, pattern=("window",), attention_window=window), 0).double()


def turned(x, position):
    """Rotary positions as complex numbers: the first half of the channels real, the second imaginary."""
    half = x.shape[-1] // 2
    z = torch.complex(x[..., :half], x[..., half:])
    rate = torch.tensor([10000.0 ** (-i / half) for i in range(half)], dtype=torch.float64)
    z = z * torch.exp(1j * position[:, None] * rate)
    return torch.cat([z.real, z.imag], -1)


def dense(layer, x, window):
    q, k, v = (part.unflatten(-1, (H, -1)).transpose(1, 2) for part in (x @ layer.project.weight.T).chunk(3, -1))
    place = torch.arange(x.shape[1], dtype=torch.float64)
    score = turned(q, place) @ turned(k, place).mT / (D / H) ** 0.5
    gap = place[:, None] - place
    score = score.masked_fill((gap < 0) | (gap >= window), -torch.inf)
    return (score.softmax(-1) @ v).transpose(1, 2).flatten(-2) @ layer.output.weight.T


@pytest.mark.parametrize("window", [1, 2, 24, 129, 500])
@torch.inference_mode()
def test_definition(window):
    layer, x = mixer(window), torch.randn(B, T, D, dtype=torch.float64)
    wanted = dense(layer, x, window)
    for sizes in ([T], [1, 130, 0, 169]):
        state, outputs = None, []
        for piece in x.split(sizes, 1):
            y, state = layer(piece, state)
            outputs.append(y)
            assert state.keys.shape == state.values.shape == (B, window - 1, D)
        assert (torch.cat(outputs, 1) - wanted).abs().max() <= 1e-12


@torch.inference_mode()
def test_positions_hold_far_into_a_record():
    """A hundred million tokens in, turned queries and keys meet as they do at the start, in float32 too."""
    q, k = torch.randn(2, 1, 1, 50, 32)
    places = torch.arange(50)[None]
    near = rotate(q, places) @ rotate(k, places).mT
    far = rotate(q, places + 10**8) @ rotate(k, places + 10**8).mT
    assert (far - near).abs().max() <= 1e-4


@pytest.mark.parametrize(("kind", "cell"), [(Gru, torch.nn.GRU), (Lstm, torch.nn.LSTM), (Rnn, torch.nn.RNN)])
@torch.inference_mode()
def test_recurrent_mixers_are_torch_layers(kind, cell):
    layer = kind(ModelConfig(width=D, heads=H), 0)
    plain = cell(D, D, batch_first=True)
    plain.load_state_dict(layer.cell.state_dict())
    x = torch.randn(B, 20, D)
    first, state = layer(x[:, :7])
    second, state = layer(x[:, 7:], state)
    wanted, last = plain(x)
    assert torch.allclose(torch.cat([first, second], 1), wanted, atol=1e-6)
    for found, hidden in zip(state, last if isinstance(last, tuple) else (last,), strict=True):
        assert torch.allclose(found, hidden[0], atol=1e-6)
