# UNTESTED: Spack was not at hand. The library, and the program as a variant, from the source folder around this recipe,
# which has to be a clone: what is not committed is left out.
import os

from spack.package import *


class Axisloom(CMakePackage):
    """Rearranges, reduces and multiplies arrays at the speed of memory, on CPUs, OpenCL devices and NVIDIA's GPUs."""

    git = "file://" + os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))

    license("Apache-2.0")

    version("0.1.0", branch="main")

    variant("shared", default=True, description="Build the library shared")
    variant("program", default=True, description="Build the axisloom program")

    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt", type="build")
    depends_on("nlohmann-json", type="build")
    depends_on("opencl-c-headers", type="build")
    depends_on("cli11", type="build", when="+program")
    depends_on("libpng", when="+program")
    depends_on("jpeg", when="+program")

    conflicts("platform=darwin", msg="Axisloom is built and tested on Linux alone")
    conflicts("platform=windows", msg="Axisloom is built and tested on Linux alone")

    def cmake_args(self):
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("AXISLOOM_CLI", "program"),
            self.define("AXISLOOM_TESTS", False),
            self.define("AXISLOOM_BENCH_OPENCV", False),
        ]
