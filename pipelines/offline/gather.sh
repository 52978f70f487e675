#!/usr/bin/env bash
# On a machine with a network: longseq and all that it needs, as wheels in a folder.
#   gather.sh FOLDER [EXTRAS] [further options of pip]
# EXTRAS are those of pyproject.toml, such as snakemake or genes,snakemake. PYTHON names an interpreter of the kind that
# the cluster has: same version, same processor, and a C library no newer.
set -euo pipefail
folder=${1:?the folder that wheels go to}
extras=${2:-}
root=$(cd "$(dirname "$0")/../.." && pwd)
pins="$root/.ci/constraints.txt"
# Built from a copy: what a build leaves behind would end up in the next one.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r "$root"/{pyproject.toml,README.md,LICENSE,longseq} "$copy"
"${PYTHON:-python3}" -m pip wheel --wheel-dir "$folder" -c "$pins" "${@:3}" "$copy${extras:+[$extras]}"
cp "$pins" "$folder/constraints.txt"
cp "$root/pipelines/offline/install.sh" "$folder/"
cd "$folder"
sha256sum -- *.whl constraints.txt > SHA256SUMS
