#!/usr/bin/env bash
# Make the data, train, pack and measure the shipped `genes` model: train.sh RUN. Data come from LONGSEQ_DATA.
set -euo pipefail
run=${1:?usage: train.sh RUN}
: "${LONGSEQ_DATA:?set LONGSEQ_DATA to the data folder, the one that holds dna/}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
python "$here/training_data.py" "$run.data"
longseq train --config "$here/run.toml" --set labels.file="$run.data/train.gff3" --out "$run" --resume "$run.data/train.fa"
python "$here/../dna/pack.py" "$run/model" "$root/longseq/model/pretrained/genes"
cat "$here/card.md" >> "$root/longseq/model/pretrained/genes/README.md"
python "$root/pipelines/benchmarks/genes.py" --card "$root/longseq/model/pretrained/genes/README.md"
