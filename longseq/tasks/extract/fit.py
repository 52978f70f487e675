"""How an extractor learns: what a sentence says by itself, exactly; then what the others add, step by step."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from longseq.model.extractor import Extractor, ExtractorConfig
from longseq.tasks.extract.config import ExtractConfig
from longseq.tasks.extract.examples import Example, batches
from longseq.training.config import OptimiserConfig
from longseq.training.optimiser import adamw, rate

STEPS = 200
"""Of L-BFGS at most; some tens are enough."""


def fit(
    config: ExtractConfig, examples: Sequence[Example], shape: ExtractorConfig, told: Callable[[], None] = lambda: None
) -> Extractor:
    """An extractor of these documents, in evaluation mode; `told` is called after each step of the recurrence.

    The same documents and settings give the same bits on the CPU with the same number of threads.
    """
    model = Extractor(shape)
    _scale(model, examples)
    held = torch.cat([example.held for example in examples])
    variance = float(held.var()) or 1.0
    _fit_alone(model, examples, variance, config.penalty)
    if shape.layers:
        _fit_together(model, examples, variance, config, told)
    model.eval()
    with torch.no_grad():
        answers = torch.cat([model(example.traits, example.states) for example in examples])
        model.unit.copy_(answers.std(0).clamp_min(1e-6))
    return model


def loss(answers: Tensor, example: Example, variance: float) -> Tensor:
    """Sum over the sentences (S, 2): the cost of the labels, and the squared errors of the shares, in nats both."""
    chosen = F.binary_cross_entropy_with_logits(answers[:, 0], example.label.to(answers.dtype), reduction="sum")
    return chosen + ((answers[:, 1] - example.held.to(answers.dtype)) ** 2).sum() / (2 * variance)


def _scale(model: Extractor, examples: Sequence[Example]) -> None:
    parts = [torch.cat([example.traits for example in examples])]
    if model.config.states:
        parts.append(torch.cat([example.states for example in examples if example.states is not None]))
    inputs = torch.cat(parts, -1)
    spread = inputs.std(0)
    model.centre.copy_(inputs.mean(0))
    model.spread.copy_(torch.where(spread > 1e-6, spread, torch.ones_like(spread)))


def _fit_alone(model: Extractor, examples: Sequence[Example], variance: float, penalty: float) -> None:
    """Logistic regression and ridge regression by L-BFGS in float64: both are convex, so that they have one answer."""
    inputs = torch.cat([model.scaled(example.traits, example.states) for example in examples]).double()
    label, held = (torch.cat([getattr(example, name) for example in examples]) for name in ("label", "held"))
    whole = Example("", inputs, None, label.double(), held.double())
    alone = model.alone.double()
    torch.nn.init.zeros_(alone.weight)
    torch.nn.init.zeros_(alone.bias)
    units = torch.tensor([1.0, variance], dtype=torch.float64)
    optimiser = torch.optim.LBFGS(alone.parameters(), max_iter=STEPS, line_search_fn="strong_wolfe")

    def cost() -> Tensor:
        optimiser.zero_grad()
        found = loss(alone(inputs), whole, variance) + penalty / 2 * ((alone.weight**2).sum(1) / units).sum()
        found.backward()
        return found

    optimiser.step(cost)
    model.alone.float()


def _fit_together(
    model: Extractor, examples: Sequence[Example], variance: float, config: ExtractConfig, told: Callable[[], None]
) -> None:
    """The recurrence, on top of what sentences say by themselves, which stays."""
    model.alone.requires_grad_(False)
    settings = OptimiserConfig(rate=config.rate, warmup=0.1)
    optimiser, torch_state = adamw(model, settings), torch.random.get_rng_state()
    torch.manual_seed(config.seed)  # dropout
    model.train()
    steps = config.epochs * -(-len(examples) // config.batch)
    for step, numbers in enumerate(batches(len(examples), config.batch, config.epochs, config.seed)):
        for group in optimiser.param_groups:
            group["lr"] = rate(settings, (step + 1) / steps)
        optimiser.zero_grad(set_to_none=True)
        sentences = sum(len(examples[number].label) for number in numbers)
        for number in numbers:
            example = examples[number]
            (loss(model(example.traits, example.states), example, variance) / sentences).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), settings.clip)
        optimiser.step()
        told()
    torch.random.set_rng_state(torch_state)
    model.alone.requires_grad_(True)
