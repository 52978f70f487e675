"""The page of a genome: how large it is, and how soon it answers: report_page.json and report_page.md.

    python pipelines/benchmarks/report_page.py            # 100 Mb in 21 records and 1 Gb in 24, by Chromium
    python pipelines/benchmarks/report_page.py --quick    # 2 Mb: does it run? prints, writes nothing

Random bases are summarized without a model. The page is opened from the disk in Chromium without a head (Debian's, or
the one that --chromium names) by playwright, in a new browser each round. It is interactive when all figures are drawn
and a click on "Zoom in" has changed what the page says is in view. Beside the time by the clock stands that of the
page's own thread, which other work on the machine changes less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from provenance import provenance
from resume import COLUMNS, genome

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

SIZES = ((21, 100_000_000), (24, 1_000_000_000))
"""Records and bases."""
LIMIT_BYTES, LIMIT_SECONDS = 5_000_000, 3.0
ROUNDS = 5
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
SAID = "document.querySelector('#dna-ideogram output').textContent"


def summarized(fasta: Path, out: Path) -> float:
    """Seconds of the command that makes the page."""
    command = [
        sys.executable,
        "-c",
        "from longseq.cli import main; main()",
        "summarize",
        str(fasta),
        "--no-model",
        "-q",
    ]
    began = time.monotonic()
    subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - began


def opened(page: Path, chromium: str) -> dict[str, float]:
    """Seconds until the figures of a page are drawn, until it answers a click, and of its thread until then."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=[*FLAGS])
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        session = tab.context.new_cdp_session(tab)
        session.send("Performance.enable")
        tab.goto(page.as_uri())
        tab.wait_for_function("document.documentElement.dataset.figures === 'drawn'")
        drawn = tab.evaluate("performance.now()") / 1000
        tab.evaluate(
            f"new Promise(done => {{ const before = {SAID};"
            "document.querySelector('#dna-ideogram button[aria-label=\"Zoom in\"]').click();"
            f"const look = () => {SAID} === before ? requestAnimationFrame(look) : done(); look(); }})"
        )
        answered = tab.evaluate("performance.now()") / 1000
        metrics = session.send("Performance.getMetrics")["metrics"]
        thread = next(one["value"] for one in metrics if one["name"] == "ThreadTime")
        browser.close()
    return {"drawn": drawn, "interactive": answered, "thread": thread}


def measured(records: int, bases: int, folder: Path, chromium: str, rounds: int) -> dict[str, Any]:
    """A size: of the page, and seconds."""
    fasta, out = folder / "genome.fa", folder / f"out-{bases}"
    genome(fasta, records, bases // records // COLUMNS * COLUMNS)
    seconds = summarized(fasta, out)
    fasta.unlink()
    page = out / "report.html"
    times = [opened(page, chromium) for _ in range(rounds)]
    return {
        "records": records,
        "bases": json.loads((out / "summary.json").read_text())["files"][0]["length"],
        "bytes": page.stat().st_size,
        "summarize_s": seconds,
        **{name: statistics.median(one[name] for one in times) for name in times[0]},
        "rounds": times,
    }


def text(found: dict[str, Any]) -> str:
    """As Markdown."""
    head = ["records", "bases", "page, MB", "figures drawn, s", "interactive, s", "its thread, s"]
    rows = [
        [
            str(row["records"]),
            f"{row['bases']:,}",
            f"{row['bytes'] / 1e6:.2f}",
            *(f"{row[name]:.2f}" for name in ("drawn", "interactive", "thread")),
        ]
        for row in found["rows"]
    ]
    first = found["rows"][0]
    kept = all(row["bytes"] <= LIMIT_BYTES for row in found["rows"])
    soon = first["interactive"] <= LIMIT_SECONDS
    made = found["provenance"]
    size, held = ("held" if yes else "not held" for yes in (kept, soon))
    lines = [
        f"The page of `summarize --no-model`; medians of {len(first['rounds'])} visits.",
        table(head, rows).rstrip("\n"),
        f"Limits: {LIMIT_BYTES / 1e6:.0f} MB, {size}; {LIMIT_SECONDS:.0f} s to interactive for "
        f"{first['bases'] / 1e6:.0f} Mb, {held}.",
        f"Commit {made['commit'][:12]}, {made['machine']}, {made['cores']} cores, load {made['load']:.1f}, "
        f"{made['time']}.",
    ]
    return "# report_page\n\n" + "\n\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="2 Mb, one visit; nothing is written")
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    given = parser.parse_args()
    sizes, rounds = (((21, 2_000_000),), 1) if given.quick else (SIZES, ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(*size, Path(folder), given.chromium, rounds) for size in sizes]
    found = {"provenance": provenance(), "limits": {"bytes": LIMIT_BYTES, "seconds": LIMIT_SECONDS}, "rows": rows}
    said = text(found)
    print(said, end="")
    if not given.quick:
        here = Path(__file__).parent
        write_json(here / "report_page.json", found, force=True)
        with write_aside(here / "report_page.md", force=True) as path:
            path.write_text(said, encoding="utf-8")


if __name__ == "__main__":
    main()
