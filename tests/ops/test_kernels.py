"""The way to the GPU kernels and back, with plain formulas in the kernels' place."""

import functools
import sys
import types

import pytest
import torch

from longseq.ops import kernels
from longseq.ops.linear_attention import linear_attention
from longseq.ops.memory import Memory
from longseq.ops.tiles import Rule

B, H, K, V = 2, 2, 4, 3
RULE = Rule(normaliser=True, eps=1e-6, floor=0.0, bound=1.0)


def token_by_token(q, k, v, g, scale):
    """(B, T, H, C) tensors; g (B, T, H, K), (B, T, H, 1) or None."""
    assert {x.dtype for x in (q, k, v)} == {torch.float32}
    left, outputs = torch.zeros(B, H, k.shape[-1], v.shape[-1]), []
    for t in range(q.shape[1]):
        if g is not None:
            left = g[:, t].exp()[..., None] * left
        left = left + k[:, t, :, :, None] * v[:, t, :, None, :]
        outputs.append(scale * (q[:, t, :, None, :] @ left)[..., 0, :])
    return torch.stack(outputs, 1), None


def chunk_gla(q, k, v, g, scale):
    assert g.shape == q.shape
    return token_by_token(q, k, v, g, scale)


def chunk_simple_gla(q, k, v, g, scale):
    assert g is None or g.shape == q.shape[:3]
    return token_by_token(q, k, v, None if g is None else g[..., None], scale)


@pytest.fixture
def present(monkeypatch):
    """The package is there, and the processor counts as its device; every call of a kernel is noted."""
    calls = []

    def noted(kernel):
        return lambda *args, **options: [calls.append(kernel), kernel(*args, **options)][1]

    monkeypatch.setattr(kernels, "_load", lambda: kernels.Kernels(noted(chunk_simple_gla), noted(chunk_gla)))
    monkeypatch.setattr(kernels, "_fitting", functools.partial(kernels._fitting, device="cpu"))
    return calls


@pytest.fixture
def fake(present):
    """The same, for tests that must have taken this way."""
    yield
    assert present


def inputs(length, decay_width=None, seed=0):
    g = torch.Generator().manual_seed(seed)
    q, k = (torch.rand(B, H, length, K, generator=g) for _ in range(2))
    v = torch.randn(B, H, length, V, generator=g).bfloat16()
    decay = None if decay_width is None else -0.1 * torch.rand(B, H, length, decay_width, generator=g)
    return [q, k, v, decay]


def error(found, wanted):
    found, wanted = found.detach().double(), wanted.detach().double()
    return float((found - wanted).norm() / wanted.norm())


def run(q, k, v, decay, before, **options):
    return linear_attention(q, k, v, before, decay=decay, decay_bound=1.0, **options)


@pytest.mark.parametrize("normaliser", [True, False])
@pytest.mark.parametrize("decay_width", [None, 1, K])
def test_equals_our_own_path(fake, monkeypatch, decay_width, normaliser):
    """In spans of 50 tokens: outputs, memory, and gradients of all, through the memory too."""
    monkeypatch.setattr(kernels, "SPAN", 50)
    own = pytest.MonkeyPatch()
    start = [x.clone() for x in run(*inputs(64, decay_width, seed=1), None, normaliser=normaliser)[1]]
    aim_y, aim_memory = torch.randn(B, H, 130, V), torch.randn(B, H, K, V + normaliser)
    outcomes = []
    for kernel in (True, False):
        leaves = [x.requires_grad_() for x in inputs(130, decay_width) if x is not None]
        before = Memory(start[0].clone().requires_grad_(), *start[1:])
        with own.context() as patch:
            if not kernel:
                patch.setattr(kernels, "_load", lambda: None)
            y, memory = run(*leaves, *[None] * (4 - len(leaves)), before, normaliser=normaliser, eps=1e-6)
        value = memory.value()
        total = (y * aim_y).sum() + (memory.hi * 2.0 ** memory.exponent[..., None, None] * aim_memory).sum()
        outcomes.append([y, value, *torch.autograd.grad(total, [*leaves, before.hi])])
    for found, wanted in zip(*outcomes, strict=True):
        assert found.dtype == wanted.dtype and found.shape == wanted.shape
        # bfloat16 values have bfloat16 gradients.
        assert error(found, wanted) <= (3e-3 if wanted.dtype == torch.bfloat16 else 1e-5)


def test_memory_is_compensated_from_call_to_call(fake):
    """A float32 sum of 2**30 is deaf to 64; the memory counts each call, here and across spans."""
    q, k, v = torch.ones(B, H, 64, K), torch.ones(B, H, 64, K), torch.ones(B, H, 64, V).bfloat16()
    memory = Memory(torch.full((B, H, K, V + 1), 2.0**30), torch.zeros(B, H, K, V + 1), torch.zeros(B, H).int())
    for calls in range(1, 21):
        y, memory = linear_attention(q, k, v, memory)
        assert (memory.value() == 2.0**30 + 64 * calls).all()
    assert (y == 1).all()


@pytest.mark.parametrize("exponent", [-90, 40, 300])
def test_range(fake, exponent):
    """A memory beyond float32 is read, and added to, in units of its own."""
    q, k, v, decay = inputs(70, K)
    g = torch.Generator().manual_seed(5)
    hi = torch.rand(B, H, K, V + 1, generator=g) + 0.5
    before = Memory(hi, torch.zeros_like(hi), torch.full((B, H), exponent, dtype=torch.int32))
    y, after = run(q, k, v, decay, before, eps=1e-6)
    wanted, kept = run(q, k, v.float(), decay, before, eps=1e-6)
    assert error(y, wanted) <= 1e-5 and error(after.value(), kept.value()) <= 1e-6
    assert (after.exponent == kept.exponent).all()


def test_rescaling_changes_no_bit(fake, monkeypatch):
    monkeypatch.setattr(kernels, "SPAN", 40)
    whole = inputs(130, K)
    outputs = []
    for rescale in (0, 64):
        memory, parts = None, []
        for here in (slice(0, 65), slice(65, 130)):
            y, memory = run(*(x[:, :, here] for x in whole), memory, rescale=rescale)
            parts.append(y)
        outputs.append(torch.cat(parts, 2))
    assert torch.equal(*outputs)


def test_masked_tokens_leave_the_memory_alone(fake):
    q, k, v, decay = inputs(80, K)
    memory = run(q, k, v, decay, None)[1]
    zeros = [torch.zeros_like(x) for x in (k, v, decay)]
    assert torch.equal(run(q, *zeros, memory)[1].value(), memory.value())


def test_where_kernels_fit(present):
    q, _, v, decay = inputs(64, K)
    fits = functools.partial(kernels._fitting, q, v, decay, None, RULE)
    assert fits() is not None
    assert kernels._fitting(q, v, None, None, Rule(True, 0.0, 0.0, None)) is not None
    assert kernels._fitting(q, v.float(), decay, None, RULE) is None  # float32 stays float32
    assert kernels._fitting(q, v.double(), decay, None, RULE) is None
    assert kernels._fitting(q[:, :, 1:], v, decay, None, RULE) is None  # short
    assert kernels._fitting(q, v, decay, torch.zeros(B, H, 64, dtype=torch.int32), RULE) is None
    for rule in (
        Rule(True, 0.0, 0.5, 1.0),  # a floor
        Rule(True, 0.0, 0.0, None),  # decays of any strength
        Rule(True, 0.0, 0.0, 2.0),  # exp(128)
        Rule(True, 0.0, 0.0, 1.0, both_ways=True),
    ):
        assert kernels._fitting(q, v, decay, None, rule) is None
    assert fits(device="cuda") is None


def test_without_the_package_or_its_device_our_own_path_runs(monkeypatch):
    q, k, v, decay = inputs(64, K)
    monkeypatch.setattr(kernels, "_load", lambda: pytest.fail("a processor has no kernels"))
    assert kernels.kernel_attention(q, k, v, None, decay=decay, key_exponent=None, rescale=64, rule=RULE) is None


def test_package_is_loaded_by_name(monkeypatch):
    for name, function in (("simple_gla", chunk_simple_gla), ("gla", chunk_gla)):
        module = types.ModuleType(f"fla.ops.{name}")
        setattr(module, f"chunk_{name}", function)
        monkeypatch.setitem(sys.modules, f"fla.ops.{name}", module)
    for name in ("fla", "fla.ops"):
        monkeypatch.setitem(sys.modules, name, types.ModuleType(name))
    load = kernels._load.__wrapped__
    assert load() == kernels.Kernels(chunk_simple_gla, chunk_gla)
    monkeypatch.setitem(sys.modules, "fla", None)
    monkeypatch.delitem(sys.modules, "fla.ops")
    monkeypatch.delitem(sys.modules, "fla.ops.gla")
    assert load() is None
