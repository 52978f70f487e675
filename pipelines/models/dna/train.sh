#!/usr/bin/env bash
# Train, pack and measure the shipped `dna` model: train.sh RUN. The folder of data is taken from LONGSEQ_DATA.
# Stopped or killed, the same command goes on.
set -euo pipefail
run=${1:?usage: train.sh RUN}
: "${LONGSEQ_DATA:?set LONGSEQ_DATA to the data folder, the one that holds dna/}"
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
dna=$LONGSEQ_DATA/dna
bacteria=("$dna/Ecoli_K12_MG1655.fasta.gz" "$dna/Hpylori_G27.fasta.gz" "$dna/Vcholerae_N16961.fasta.gz"
  "$dna/Saureus_NCTC8325.fasta.gz" "$dna/Kpneumoniae_Klebs_HS11286.fna.xz" "$dna/Mmycoides_Afade.gbff.gz"
  "$dna/phage_T4.gbff.gz" "$dna/Athaliana_chloroplast_NC_000932.gb.gz")
leptospira=()
for _ in 1 2 3 4 5 6; do leptospira+=("$dna/Lkirschneri_H1.gbk.gz"); done # an input given often is read often
longseq train --config "$here/wide.toml" --out "$run/wide" --resume "${bacteria[@]}" "$dna/dm3_chr2R_first16Mb.fa.gz"
longseq train --config "$here/bacteria.toml" --from "$run/wide/model" --out "$run/bacteria" --resume "${bacteria[@]}"
longseq train --config "$here/leptospira.toml" --from "$run/bacteria/model" --out "$run/dna" --resume \
  "${bacteria[@]}" "${leptospira[@]}"
python "$here/pack.py" "$run/bacteria/model" "$root/longseq/model/pretrained/dna"
python "$here/range.py" "$root/longseq/model/pretrained/dna" "${bacteria[@]}" # what windows of its kind look like
python "$root/pipelines/benchmarks/bits_per_base.py" \
  --model "$root/longseq/model/pretrained/dna" --model-in-genus "$run/dna/model"
python "$root/pipelines/benchmarks/table.py" "$root/pipelines/benchmarks/bits_per_base.json" \
  "$root/longseq/model/pretrained/dna/README.md"
