#!/usr/bin/env bash
# Make the data, train, pack and measure the shipped `text` model: train.sh RUN. Data come from LONGSEQ_DATA.
# Stopped or killed, the same command goes on.
set -euo pipefail
run=${1:?usage: train.sh RUN}
: "${LONGSEQ_DATA:?set LONGSEQ_DATA to the data folder, the one that holds documents/}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
data=$run.data
python "$here/training_data.py" "$data"
[ -e "$data/tokenizer.json" ] ||
  longseq tokenizer train "$data/train.jsonl" --column text --vocabulary 8192 --out "$data/tokenizer.json"
longseq train --config "$here/run.toml" --tokenizer "$data/tokenizer.json" --out "$run" --resume \
  --set "data.held_out_groups=[\"$data/held_out.jsonl\"]" "$data/train.jsonl" "$data/held_out.jsonl"
cp "$data/articles.tsv" "$here/articles.tsv" # those to be named by their licence
card=$root/longseq/model/pretrained/text/README.md
python "$here/../dna/pack.py" "$run/model" "$root/longseq/model/pretrained/text"
cat "$here/card.md" >> "$card"
python "$here/measure.py" "$root/longseq/model/pretrained/text" "$data" "$here/measured.json" "$card"
