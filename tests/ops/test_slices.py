"""Laws of slices in several processes: joined they are the whole, in outputs, state and gradients, for every mixer."""

import json
from datetime import timedelta
from itertools import product

import pytest
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

from longseq.model import LanguageModel, ModelConfig
from longseq.ops.memory import Memory
from longseq.ops.slices import Slices

LIMIT = {"float32": (1e-5, 1e-5), "float64": (1e-12, 1e-12)}
KINDS = {
    "linear": {},
    "linear, log space": {"pattern": ("linear",), "feature_map": "exp"},
    "gated": {},
    "gated a head": {"pattern": ("gated",), "decay": "head"},
    "gated without convolution": {"pattern": ("gated",), "convolution": 0},
    "retention": {},
    "mlstm": {},
    "delta": {},
    "gated_delta": {},
}
WORLDS = (2, 3)
CASES = {"float32": ("padded",), "float64": ("uneven", "padded", "unused")}
"""Slices of unlike lengths behind a state; padding at the end, in one lane over more than a slice; a loss in the last
process only, and no state in front."""
TOKENS, START = 65, 20


def language_model(kind, dtype):
    options = {"width": 16, "heads": 2, "layers": 2, "pattern": (kind,), "feature_map": "silu", "block": 16}
    model = LanguageModel(ModelConfig(**options | KINDS[kind])).to(getattr(torch, dtype))
    if kind == "linear, log space":
        with torch.no_grad():
            for layer in model.encoder.layers:
                layer.mixer.project.weight *= 8  # powers of two that differ by many from slice to slice
    return model


def error(found, wanted):
    return float((found - wanted).double().norm() / wanted.double().norm().clamp_min(1e-300))


def numbers(state):
    if isinstance(state, Memory):
        return [state.value()]
    if isinstance(state, torch.Tensor):
        return [state.double()]
    return [x for part in state for x in numbers(part)]


def gradients(model):
    """Of all parameters, those of mixers first, and how many these are."""
    pairs = sorted(model.named_parameters(), key=lambda pair: ".mixer." not in pair[0])
    flat = [(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for _, p in pairs]
    return torch.cat(flat), sum(p.numel() for name, p in pairs if ".mixer." in name)


def measure(model, case, group, world):
    """Errors of outputs, of the state after the last slice, and of the gradients of all processes together."""
    rank, dtype = dist.get_rank(group), next(model.parameters()).dtype
    draw = torch.Generator().manual_seed(0)
    ids = torch.randint(0, 15, (2, START + TOKENS), generator=draw)
    weights = torch.randn(2, TOKENS, 15, generator=draw, dtype=dtype)
    with torch.no_grad():
        state = None if case == "unused" else model(ids[:, :START])[1]
    ids, mask = ids[:, START:], torch.ones(2, TOKENS, dtype=torch.bool)
    if case == "padded":
        mask[1, -(-TOKENS // world) + 2 :] = False
        extra = -TOKENS % world
        ids, mask, weights = (torch.cat([x, x.new_zeros(2, extra, *x.shape[2:])], 1) for x in (ids, mask, weights))
    weights = weights * mask[..., None]
    if case == "unused":
        weights[:, : -weights.tensor_split(world, 1)[-1].shape[1]] = 0.0
    given = mask if case == "padded" else None

    model.zero_grad()
    logits, end = model(ids, state, given)
    (logits * weights).sum().backward()
    wanted, mixers = gradients(model)

    model.zero_grad(set_to_none=True)
    here, mine, share = (x.tensor_split(world, 1)[rank] for x in (ids, mask, weights))
    exchange = Slices(group, mine.sum(1))
    found, after = model(here, state, None if given is None else mine, exchange)
    loss = (found * share).sum()
    if case == "unused" and rank < world - 1:
        loss = exchange.bind(torch.zeros((), dtype=dtype))
    loss.backward()
    total = gradients(model)[0]
    dist.all_reduce(total, group=group)
    picked = mine[..., None]
    found, logits = found.detach(), logits.detach()
    result = {
        "output": error(found * picked, logits.tensor_split(world, 1)[rank] * picked),
        "gradient": max(error(total, wanted), error(total[:mixers], wanted[:mixers])),
    }
    if rank == world - 1:
        pairs = zip(numbers(after), numbers(end), strict=True)
        result["state"] = max(error(a.detach(), b.detach()) for a, b in pairs if b.numel())
    return result


def work(rank, folder):
    torch.set_num_threads(1)
    dist.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=max(WORLDS), timeout=timedelta(seconds=60)
    )
    groups = {world: dist.new_group(list(range(world))) for world in WORLDS}
    found = {}
    for kind, dtype in product(KINDS, LIMIT):
        model = language_model(kind, dtype)
        for world, case in product(WORLDS, CASES[dtype]):
            if rank < world:
                found[f"{kind}/{dtype}/{world}/{case}"] = measure(model, case, groups[world], world)
    (folder / f"{rank}.json").write_text(json.dumps(found))
    dist.barrier()
    dist.destroy_process_group()


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Everything, in one start of three processes."""
    folder = tmp_path_factory.mktemp("ranks")
    mp.spawn(work, (folder,), max(WORLDS))
    return [json.loads((folder / f"{rank}.json").read_text()) for rank in range(max(WORLDS))]


@pytest.mark.parametrize("dtype", LIMIT)
@pytest.mark.parametrize("kind", KINDS)
def test_slices_joined_are_the_whole(measured, kind, dtype):
    for world, case in product(WORLDS, CASES[dtype]):
        parts = [rank[f"{kind}/{dtype}/{world}/{case}"] for rank in measured[:world]]
        assert max(part["output"] for part in parts) <= LIMIT[dtype][0], (world, case)
        assert max(part["gradient"] for part in parts) <= LIMIT[dtype][1], (world, case)
        assert parts[-1]["state"] <= LIMIT[dtype][0], (world, case)
