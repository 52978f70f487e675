"""The articles that the extractor learns from, as a table: training_data.py OUT.jsonl. Data come from LONGSEQ_DATA."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from longseq.formats.atomic import write_aside

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from articles import articles


def main() -> None:
    if len(sys.argv) != 2 or "LONGSEQ_DATA" not in os.environ:
        sys.exit("usage: LONGSEQ_DATA=FOLDER training_data.py OUT.jsonl")
    with write_aside(sys.argv[1], force=True) as aside, open(aside, "w", encoding="utf-8") as file:
        for article in articles(Path(os.environ["LONGSEQ_DATA"])):
            row = {"id": article.id, "text": article.text, "abstract": article.reference}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
