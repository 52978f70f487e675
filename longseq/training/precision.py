"""Half precision of matrix products: autocast, and in float16 a loss so scaled that small gradients count."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

Precision = Literal["fp32", "bf16", "fp16"]
HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}


def autocast(precision: Precision, device: torch.device) -> AbstractContextManager:
    """Inside `with`, matrix products of float32 tensors are taken in this precision."""
    return torch.autocast(device.type, HALF[precision]) if precision in HALF else nullcontext()


def scaler(precision: Precision, device: torch.device) -> torch.amp.GradScaler:
    """Scales losses in fp16; in other precisions it leaves all as it is."""
    return torch.amp.GradScaler(device.type, enabled=precision == "fp16")
