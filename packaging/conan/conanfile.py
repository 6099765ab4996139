"""Conan 2 recipe of the library, from the source folder around it: conan create packaging/conan -s compiler.cppstd=20

It requires no other recipe: the headers that the build needs are the system's (system_requirements), and the library itself
needs nothing but glibc and the C++ library."""

import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.system.package_manager import Apt

required_conan_version = ">=2.0"


class Axisloom(ConanFile):
    name = "axisloom"
    description = "Rearranges, reduces and multiplies arrays on CPUs, OpenCL devices and NVIDIA's GPUs"
    license = "Apache-2.0"
    topics = ("array", "tensor", "transpose", "einops", "opencl", "cuda")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    # host_levels: the instruction sets that kernels of the host are compiled for besides the baseline: "v3;v4", "none".
    options = {"shared": [True, False], "host_levels": ["ANY"]}
    default_options = {"shared": True, "host_levels": "all"}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        header = load(self, os.path.join(self._root, "include", "axisloom", "version.hpp"))
        self.version = ".".join(re.findall(r"^#define AXISLOOM_VERSION_[A-Z]+ (\d+)$", header, re.MULTILINE))

    def export_sources(self):
        built_from = "CMakeLists.txt LICENSE bench/* cmake/* docs/*.schema.json include/* src/* tools/* tuning/*"
        for pattern in built_from.split():
            copy(self, pattern, self._root, self.export_sources_folder)

    def system_requirements(self):
        Apt(self).install(["libfmt-dev", "nlohmann-json3-dev", "opencl-c-headers"])

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Axisloom is built and tested on Linux alone")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["AXISLOOM_CLI"] = False
        toolchain.cache_variables["AXISLOOM_TESTS"] = False
        if self.options.host_levels != "all":
            levels = str(self.options.host_levels)
            toolchain.cache_variables["AXISLOOM_HOST_LEVELS"] = "" if levels == "none" else levels
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        # Conan writes its own, which know its settings.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.libs = ["axisloom"]
        self.cpp_info.system_libs = ["pthread", "dl"]
        self.cpp_info.set_property("cmake_file_name", "axisloom")
        self.cpp_info.set_property("cmake_target_name", "axisloom::axisloom")
        self.cpp_info.set_property("cmake_config_version_compat", "SameMinorVersion")
        self.cpp_info.set_property("pkg_config_name", "axisloom")
