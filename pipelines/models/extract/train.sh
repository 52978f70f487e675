#!/usr/bin/env bash
# An extractor of all 80 articles: train.sh RUN [ENCODER]. Data come from LONGSEQ_DATA. Whether it is better than the
# default, and with which settings, is a question for benchmarks/extractor.py, which keeps articles back.
set -euo pipefail
run=${1:?usage: train.sh RUN [ENCODER]}
: "${LONGSEQ_DATA:?set LONGSEQ_DATA to the data folder, the one that holds documents/}"
here=$(cd "$(dirname "$0")" && pwd)
data=$run.data
mkdir -p "$data"
python "$here/training_data.py" "$data/articles.jsonl"
longseq oracle "$data/articles.jsonl" --out "$data/labels.jsonl" --force
longseq train --config "$here/run.toml" "$data/articles.jsonl" --labels "$data/labels.jsonl" \
  ${2:+--from "$2"} --out "$run" --force
