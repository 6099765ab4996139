#!/usr/bin/env bash
# Sees to it that NVRTC can be found, so that every CUDA kernel is compiled by the tests on machines without a card too.
# Prints the folder to use as VIRTUAL_ENV, or nothing when the system has NVRTC already. Exit status 1: it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

shopt -s nullglob
present=(/usr/local/cuda*/lib64/libnvrtc.so.* "${CUDA_PATH:-/nonexistent}"/lib*/libnvrtc.so.*
  "${CUDA_HOME:-/nonexistent}"/lib*/libnvrtc.so.* "${CONDA_PREFIX:-/nonexistent}"/lib/libnvrtc.so.*)
if ((${#present[@]})) || ldconfig -p 2> /dev/null | grep -q 'libnvrtc\.so'; then exit 0; fi

venv="$PWD/.cache/venv"
wheel=("$venv"/lib/python3*/site-packages/nvidia/*/lib/libnvrtc.so.*)
if ((${#wheel[@]} == 0)); then
  echo "Installing NVRTC (nvidia-cuda-nvrtc 13.0) into .cache/venv" >&2
  if ! { python3 -m venv "$venv" && "$venv/bin/pip" install --quiet --disable-pip-version-check 'nvidia-cuda-nvrtc==13.0.*'; } >&2
  then
    echo "NVRTC cannot be had: no library in the system, and the package nvidia-cuda-nvrtc could not be installed" >&2
    exit 1
  fi
fi
echo "$venv"
