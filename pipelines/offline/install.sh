#!/usr/bin/env bash
# On the cluster, where no network is needed: longseq from a folder of wheels into a virtual environment of its own.
#   install.sh FOLDER VENV [EXTRAS]
# EXTRAS must have been gathered. PYTHON names an interpreter of the version that gathered them.
set -euo pipefail
folder=$(cd "${1:?the folder of wheels}" && pwd)
venv=${2:?where the environment goes}
extras=${3:-}
(cd "$folder" && sha256sum --check --quiet --strict SHA256SUMS) # what a copy has cut short is named
"${PYTHON:-python3}" -m venv "$venv"
"$venv/bin/python" -m pip install --no-index --find-links "$folder" -c "$folder/constraints.txt" "longseq${extras:+[$extras]}"
"$venv/bin/longseq" --version
