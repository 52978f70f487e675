"""Pages of `bench`, `check` and `attention` in a browser: drawn, readable, with nothing asked for elsewhere."""

import numpy as np
import pytest
from visiting import PHONE

from longseq.report.attention_page import attention_page
from longseq.report.bench_page import bench_page
from longseq.report.check_page import check_page
from longseq.results.attention import AttentionLook, HeadLook
from longseq.results.bench import Bench, BenchMachine, BenchRow, BenchSkipped, MatmulRate
from longseq.results.check import CheckOutcome, DriftPoint, Figure, LawResult, SkippedLaw
from longseq.results.run import Run

pytestmark = pytest.mark.browser
RUN = Run(version="0", command="longseq </script><script>alert(1)</script>")
HOSTILE = "</script><b>m</b>"


def row(mixer, length, speed):
    facts = {"visibility": "causal", "chunk": 64, "precision": "fp32", "threads": 1, "parameters": 9, "train": False}
    shares = {"share_of_bound": 0.5, "share_of_matmul": None, "seconds": [length / speed], "peak_mb": length / 100}
    return BenchRow(mixer=mixer, length=length, tokens_per_s=speed, **facts, **shares)


def bench():
    speeds = {"none": (9e4, 9e4), "linear": (5e4, 5e4), "softmax": (8e4, 1e4)}
    rows = [
        row(mixer, length, v) for mixer, both in speeds.items() for length, v in zip((512, 8192), both, strict=True)
    ]
    rate = MatmulRate(threads=1, gflops_fp32=9.0, gflops_bf16=None)
    loads = {"load_before": 1.0, "load_after": None}
    machine = BenchMachine(processor="p", cores=2, device="cpu", torch="2", threads=[1], matmul=[rate], **loads)
    model = {"layers": 2, "width": 16, "heads": 2, "feature_map": "silu"}
    config = {"model": model, "precision": "fp32", "chunk": 64}
    skipped = [BenchSkipped(mixer="softmax", length=1 << 20, train=False, reason="no time is left")]
    return bench_page(Bench(run=RUN, machine=machine, config=config, rows=rows, skipped=skipped, notes={"none": "n"}))


def check():
    facts = {"model": HOSTILE, "precision": "float32", "what": "w", "limit": 1e-5, "cases": 3}
    laws = [
        LawResult(law=f"law {i}", worst=worst, ok=worst < 1e-5, **facts) for i, worst in enumerate((0.0, 2e-6, 1e-3))
    ]
    drift = [DriftPoint(model=HOSTILE, what="outputs", tokens=n, error=1e-7, limit=1e-5) for n in (1024, 4096)]
    figures = (Figure(name="gap", model=HOSTILE, value=0.1, unit="bits"),)
    skipped = (SkippedLaw(law="strand", model=HOSTILE, reason="no DNA"),)
    return check_page(CheckOutcome(laws=tuple(laws), skipped=skipped, figures=figures, drift=tuple(drift)), RUN)


def attention():
    table = np.tril(np.ones((4, 4), np.float32)) / np.arange(1, 5)[:, None]
    heads = [
        HeadLook(layer=1, head=n, mixer="gated", overlap=0.5 * n, reach=1.25 * n, half_life=[9.0 * n]) for n in (1, 2)
    ]
    same = {"weights": {"1.1": table, "1.2": table}, "softmax": {"1.1": table, "1.2": table}, "without": ()}
    tokens = ["A", "</script>", "", "T"]
    look = AttentionLook(model=HOSTILE, sha256="", beside="softmax", tokens=tokens, read=4, heads=heads, **same)
    return attention_page(look, heads[1:], RUN)


@pytest.fixture
def opened(visit, tmp_path):
    def look(pieces):
        (tmp_path / "page.html").write_text("".join(pieces))
        page = visit(tmp_path / "page.html")
        page.page.wait_for_function("document.documentElement.dataset.figures == 'drawn'")
        return page

    return look


@pytest.mark.parametrize(("made", "figures"), [(bench, 2), (check, 1), (attention, 2)])
def test_a_page_is_drawn_and_can_be_read_by_all(made, figures, opened):
    page = opened(made())
    assert page.page.locator("figure canvas").count() >= figures
    assert page.barriers() == []
    page.page.emulate_media(color_scheme="dark")
    assert page.barriers() == []
    page.size(PHONE)
    assert page.wide() == []
    page.shot(made.__name__)


def test_another_head_is_chosen(opened):
    page = opened(attention())
    assert "2.5 tokens away" in page.page.locator("#weights").inner_text()
    page.page.locator("#weights select").select_option(label="1.1")
    page.page.wait_for_function("document.querySelector('#weights').innerText.includes('1.2 tokens away')")
