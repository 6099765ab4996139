#!/usr/bin/env bash
# Uses an installed library as strangers do, in C++ and in C, through find_package and pkg-config. It is moved first, since
# packages are.
# Usage: tests/consumer.sh BUILD_FOLDER
set -euo pipefail
build="$(realpath "$1")"
cd "$(dirname "$0")/.."

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/first" > /dev/null
mv "$work/first" "$work/prefix"
prefix="$work/prefix"
lib="$(dirname "$(find "$prefix" -name 'libaxisloom.so')")"

for file in bin/axisloom share/man/man1/axisloom.1 share/bash-completion/completions/axisloom \
            share/zsh/site-functions/_axisloom share/fish/vendor_completions.d/axisloom.fish; do
  [[ -s "$prefix/$file" ]] || { echo "not installed: $file" >&2; exit 1; }
done
"$prefix/bin/axisloom" --version

echo "-- exported symbols"
leaked="$(nm -DC --defined-only "$lib/libaxisloom.so" |
  grep -E ' [TBDRVW] ' | grep -vE ' (std|__gnu_cxx)::| (typeinfo|typeinfo name|vtable|guard variable|VTT) for |__' |
  grep -vE ' T axl_[a-z_]+$| axisloom::[A-Za-z_~]+(\[abi:cxx11\])?(\(|::|$)' || true)"
leaked+="$(nm -DC --defined-only "$lib/libaxisloom.so" | grep -E ' T axisloom::(core|device|jit|model|ops)::' || true)"
if [[ -n "$leaked" ]]; then
  echo "symbols that are not of the public headers:" >&2
  head -n 20 <<< "$leaked" >&2
  exit 1
fi

configure() { cmake -G Ninja -S "$1" -B "$2" -DCMAKE_BUILD_TYPE=Debug "${@:3}" > "$2.log" 2>&1 || { cat "$2.log" >&2; return 1; }; }
compile() { cmake --build "$1" > "$1.log" 2>&1 || { tail -n 40 "$1.log" >&2; return 1; }; }

echo "-- each header alone, with nothing but what is installed"
for header in "$prefix"/include/axisloom/*.hpp; do
  g++ -std=c++20 -Wall -Wextra -Werror -I "$prefix/include" -fsyntax-only -x c++ - <<< "#include <axisloom/${header##*/}>"
done
echo "-- the header of the C interface in C99 and C++11, alone and beside DLPack's own"
for includes in "" "#include <dlpack/dlpack.h>"; do
  for compiler in "gcc -std=c99 -x c" "g++ -std=c++11 -x c++" "clang -std=c99 -x c" "clang++ -std=c++11 -x c++"; do
    # shellcheck disable=SC2086 # the compiler's options are words
    $compiler -pedantic -Wall -Wextra -Werror -I "$prefix/include" -fsyntax-only - \
      <<< "$includes"$'\n#include <axisloom/axisloom.h>\n#include <axisloom/axisloom.h>\nint of(DLTensor* t) { return t->ndim; }'
  done
done
number() { grep -oP "define AXISLOOM_VERSION_$1 \K[0-9]+" "$prefix/include/axisloom/version.hpp"; }
[[ "$("$prefix/bin/axisloom" --version)" == "axisloom $(number MAJOR).$(number MINOR).$(number PATCH)" ]]

echo "-- find_package"
configure tests/consumer/find_package "$work/found" -DCMAKE_PREFIX_PATH="$prefix"
compile "$work/found"
"$work/found/consumer"

echo "-- find_package refuses another minor version"
if configure tests/consumer/find_package "$work/refused" -DCMAKE_PREFIX_PATH="$prefix" -DWANTED_VERSION=0.999 2> /dev/null; then
  echo "version 0.999 was accepted" >&2
  exit 1
fi
grep -q 'compatible with requested version' "$work/refused.log"

echo "-- pkg-config"
export PKG_CONFIG_PATH="$lib/pkgconfig"
# shellcheck disable=SC2046 # the flags are words
g++ -std=c++20 tests/consumer/consumer.cpp tests/consumer/plan.cpp $(pkg-config --cflags --libs axisloom) -Wl,-rpath,"$lib" -o "$work/by_pkg_config"
"$work/by_pkg_config"

echo "-- in C, through pkg-config and find_package"
# shellcheck disable=SC2046 # the flags are words
gcc -std=c99 -pedantic -Wall -Wextra -Werror tests/consumer/consumer.c $(pkg-config --cflags --libs axisloom) -Wl,-rpath,"$lib" \
  -o "$work/in_c"
"$work/in_c"
configure tests/consumer/c "$work/found_in_c" -DCMAKE_PREFIX_PATH="$prefix"
compile "$work/found_in_c"
"$work/found_in_c/consumer"

echo "-- beside Eigen, OpenCV, an OpenCL queue and a CUDA stream"
configure tests/consumer/examples "$work/examples" -DCMAKE_PREFIX_PATH="$prefix"
compile "$work/examples"
for example in eigen opencv opencl_queue cuda_stream; do
  OPENCV_OPENCL_DEVICE=:CPU: "$work/examples/$example" || { echo "the example $example fails" >&2; exit 1; }
done

echo "8 passed, 0 failed"
