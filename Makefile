# The front door: each target is one script or one CMake call.
.DEFAULT_GOAL := help
.PHONY: help demo build test check-all check-long bench format lint reference release wheel deb install clean

help:  ## list these targets
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 12

demo:  ## install what is missing, build, and show what the program does; DRIVERS=no: on the host alone, without PoCL
	@tools/install_dependencies.sh build $(if $(filter no,$(DRIVERS)),no-drivers)
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target axisloom_cli
	@build/axisloom demo $(if $(filter no,$(DRIVERS)),--device host)

build:  ## build/axisloom, libaxisloom and the tests
	@cmake --preset release > /dev/null
	@cmake --build --preset release

test:  ## install what is missing, then the tests that catch most faults
	@tools/install_dependencies.sh test
	@tools/test.sh test

check-all:  ## the nets: sanitizers, CHECKED kernels, fuzzing, random programs, profiles, injected faults, packages
	@tools/install_dependencies.sh test
	@tools/test.sh all

check-long:  ## the same with many more cases; AXISLOOM_SEED and AXISLOOM_PART=I/K resume it
	@tools/install_dependencies.sh test
	@tools/test.sh long

bench: build  ## measure this machine's devices
	@build/axisloom bench

format:  ## lay out the C++ sources by .clang-format
	@tools/format.sh

lint:  ## check the layout, and run clang-tidy
	@tools/install_dependencies.sh lint
	@tools/lint.sh

reference:  ## the reference of the C++ and C interfaces, from the headers, into build/reference
	@tools/install_dependencies.sh reference
	@mkdir -p build/reference
	@doxygen docs/Doxyfile
	@echo "build/reference/index.html"

release:  ## make build-release/axisloom, one file for any Linux on x86-64 with glibc 2.31 or newer (on Debian 12)
	@tools/install_dependencies.sh release
	@tools/release.sh

wheel:  ## make the Python package's wheel in build-wheel/dist, for CPython 3.11 and newer (on Debian 12)
	@tools/install_dependencies.sh python no-drivers
	@tools/wheel.sh

deb:  ## make Debian's packages of the program, the library and its headers, in build-deb
	@tools/install_dependencies.sh deb no-drivers
	@tools/build_deb.sh

install:  ## build and install the program and the library into PREFIX (default /usr/local)
	@cmake --preset release > /dev/null
	@cmake --build --preset release --target axisloom axisloom_cli axisloom_printed
	@cmake --install build --prefix $(or $(PREFIX),/usr/local)

clean:  ## remove what was built
	@rm -rf build build-debug build-asan build-tsan build-lint build-neon build-release build-wheel build-deb
