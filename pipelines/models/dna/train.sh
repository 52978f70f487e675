#!/usr/bin/env bash
# Train, pack and measure the shipped `dna` model: train.sh RUN. The folder of data is taken from LONGSEQ_DATA.
set -euo pipefail
run=${1:?usage: train.sh RUN}
: "${LONGSEQ_DATA:?set LONGSEQ_DATA to the data folder, the one that holds dna/}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
dna=$LONGSEQ_DATA/dna
longseq train --config "$here/run.toml" --out "$run" --resume \
  "$dna/Ecoli_K12_MG1655.fasta.gz" "$dna/Hpylori_G27.fasta.gz" \
  "$dna/Vcholerae_N16961.fasta.gz" "$dna/Saureus_NCTC8325.fasta.gz"
python "$here/pack.py" "$run/model" "$root/longseq/model/pretrained/dna"
python "$root/pipelines/benchmarks/bits_per_base.py" --model "$root/longseq/model/pretrained/dna"
python "$root/pipelines/benchmarks/table.py" "$root/pipelines/benchmarks/bits_per_base.json" \
  "$root/longseq/model/pretrained/dna/README.md"
