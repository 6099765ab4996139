# shellcheck shell=bash
# Sourced by measure_gpu.sh: names the libraries of NVIDIA that the loader would not find but a Python package has brought
# (pip install cutensor-cu13 nvidia-cudnn-cu13 nvidia-cublas), in the variables by which axisloom bench takes them.

# Path of a library in the packages of the Python that the benchmark uses; fails where there is none.
packaged_library() {
  "${AXISLOOM_PYTHON:-python3}" - "$1" 2> /dev/null << 'END'
import glob, os, sys
for folder in sys.path:
    for place in ("nvidia/*/lib", "cutensor/lib"):
        for path in sorted(glob.glob(os.path.join(folder, place, sys.argv[1]))):
            sys.exit(print(path))
sys.exit("none")
END
}

# find_library VARIABLE NAME...: leaves the variable alone where it is set, or the system has one of these.
find_library() {
  local variable="$1" name folder path
  shift
  [[ -z "${!variable:-}" ]] || return 0
  for name; do
    if ldconfig -p 2> /dev/null | grep -qF "$name "; then return 0; fi
    for folder in "${CUDA_PATH:-/nonexistent}" /usr/local/cuda; do
      if [[ -e "$folder/lib64/$name" ]]; then return 0; fi
    done
  done
  for name; do
    if path="$(packaged_library "$name")"; then
      export "$variable=$path"
      echo "$variable=$path" >&2
      return 0
    fi
  done
}

find_library AXISLOOM_CUBLAS libcublas.so.13 libcublas.so.12
find_library AXISLOOM_CUTENSOR libcutensor.so.2
find_library AXISLOOM_CUDNN libcudnn.so.9
