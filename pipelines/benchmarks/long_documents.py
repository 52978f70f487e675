"""Seconds and memory of `longseq summarize` on texts of many megabytes.

    python pipelines/benchmarks/long_documents.py [--megabytes 20 200]

Generated prose: words that never were, 50,000 of them, by Zipf's law; sentences of 8 to 30 words, paragraphs of five, a
heading after every hundredth. The command runs in a process of its own, which says its own time and its peak of
resident memory; the text lies on disk. Sentences are counted by the command itself.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
from itertools import accumulate, pairwise
from pathlib import Path

from provenance import provenance

from longseq.formats.atomic import write_aside
from longseq.formats.jsonfile import write_json
from longseq.formats.markdown import table

VOCABULARY = 50_000
TAKEN = 30
"""Sentences asked for."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--megabytes", type=int, nargs="+", default=[2, 20])
    parser.add_argument("--out", type=Path, default=Path(__file__).with_suffix(".json"))
    options = parser.parse_args()
    rows = []
    for size in options.megabytes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "long.txt"
            write(file, size * 1_000_000, random.Random(0))
            rows.append({"megabytes": size, **measure(file)})
        print(rows[-1], flush=True)
        document = {"benchmark": "long_documents", "rows": rows, "provenance": provenance()}
        write_json(options.out, document, force=True)
    with write_aside(options.out.with_suffix(".md"), force=True) as aside:
        aside.write_text(markdown(document), encoding="utf-8")


def write(file: Path, size: int, rng: random.Random) -> None:
    """A text of about `size` bytes."""
    syllables = [a + b for a in "bdfgklmnprstvz" for b in ("a", "e", "i", "o", "u", "an", "er")]
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(VOCABULARY)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    written = paragraphs = 0
    with open(file, "w", encoding="utf-8") as out:
        while written < size:
            lengths = [rng.randint(8, 30) for _ in range(5)]
            drawn = rng.choices(words, cum_weights=weights, k=sum(lengths))
            cuts = [0, *accumulate(lengths)]
            text = " ".join(" ".join(drawn[a:b]).capitalize() + "." for a, b in pairwise(cuts)) + "\n\n"
            if paragraphs % 100 == 0:
                text = f"CHAPTER {paragraphs // 100 + 1}\n\n" + text
            written += out.write(text)
            paragraphs += 1


def measure(file: Path) -> dict:
    """What the command says of itself, and the processor's seconds."""
    code = "import sys; from longseq.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", code, "summarize", str(file), "--json", "--quiet", "--sentences", str(TAKEN)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    answer = json.loads(found.stdout)
    (record,) = answer["records"]
    return {
        "sentences": record["sentences_total"],
        "seconds": answer["run"]["seconds"],
        "processor_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
        "peak_mb": answer["run"]["peak_rss_mb"],
    }


def markdown(document: dict) -> str:
    text = ["# long_documents", "", *__doc__.strip().split("\n\n")[-1].splitlines(), ""]
    columns = ("MB of text", "sentences", "seconds", "of the processor", "peak MiB")
    rows = [
        [
            str(row["megabytes"]),
            f"{row['sentences']:,}",
            f"{row['seconds']:.0f}",
            f"{row['processor_seconds']:.0f}",
            f"{row['peak_mb']:.0f}",
        ]
        for row in document["rows"]
    ]
    text += [table(columns, rows)]
    origin = document["provenance"]
    text += [
        f"Commit {origin['commit'][:12]}, {origin['machine']}, {origin['cores']} cores, load {origin['load']:.1f}, "
        f"{origin['time']}.",
        "",
    ]
    return "\n".join(text)


if __name__ == "__main__":
    main()
