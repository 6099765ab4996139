// What a host says that may not compile.
#pragma once

namespace axisloom::jit {

inline constexpr const char* no_checked_kernels =
    "a kernel whose accesses are checked was not compiled with the library, and the host has no compiler";
inline constexpr const char* compiler_remedy =
    "let AXISLOOM_HOST_COMPILER name a C++ compiler, such as /usr/bin/g++, do not force candidate or configuration, or "
    "take "
    "an OpenCL device";

}  // namespace axisloom::jit
