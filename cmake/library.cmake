# The library: one set of objects, linked into libaxisloom and, internals included, into the program and the tests.
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_path(AXISLOOM_OPENCL_HEADERS CL/cl.h REQUIRED DOC "Folder that holds CL/cl.h (Debian: opencl-headers)")
include(${PROJECT_SOURCE_DIR}/tools/embed.cmake)

# io/ reads foreign files for the program and the bindings only, so the library itself needs no image libraries.
file(GLOB library_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.cpp ${PROJECT_SOURCE_DIR}/src/*/*/*.cpp)
list(FILTER library_sources EXCLUDE REGEX "/src/io/")
file(GLOB public_headers CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/include/axisloom/*.h ${PROJECT_SOURCE_DIR}/include/axisloom/*.hpp)

# Symbols are hidden except what the public headers declare: they are included first, by this generated file, with
# default visibility. The headers themselves need no export macros. Kernels of the host use none of it, and compile in a
# tenth of the time without.
set(visibility_text "// Generated: gives what the public headers declare default visibility.\n#ifndef AXISLOOM_HOST_KERNELS\n#pragma GCC visibility push(default)\n")
foreach(header IN LISTS public_headers)
  cmake_path(GET header FILENAME header)
  string(APPEND visibility_text "#include <axisloom/${header}>\n")
endforeach()
string(APPEND visibility_text "#pragma GCC visibility pop\n#endif\n")
set(visibility_header ${PROJECT_BINARY_DIR}/generated/public_visibility.hpp)
file(CONFIGURE OUTPUT ${visibility_header} CONTENT "${visibility_text}" @ONLY)

add_library(axisloom_objects OBJECT ${library_sources})
axisloom_target(axisloom_objects)
axisloom_compile_together(axisloom_objects 8)
# Forms of kernels have the same parts, by the same names.
set(forms ${library_sources})
list(FILTER forms INCLUDE REGEX "/src/ops/")
set_source_files_properties(${forms} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# They take half the time with the public headers and the standard library's compiled once. Headers of the library's own would
# save little more, and a change to one would compile all again.
axisloom_begin_with(axisloom_objects ${visibility_header}
  <algorithm> <array> <bit> <cmath> <functional> <map> <memory> <optional> <set> <span> <string> <string_view> <utility> <vector>)
target_compile_definitions(axisloom_objects PRIVATE CL_TARGET_OPENCL_VERSION=300)
target_include_directories(axisloom_objects SYSTEM PRIVATE ${AXISLOOM_OPENCL_HEADERS})
target_link_libraries(axisloom_objects
  PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json
  PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
axisloom_embed(axisloom_objects)
if(AXISLOOM_KERNELS_FROM_DISK)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/jit/embedded.cpp
                              PROPERTIES COMPILE_DEFINITIONS AXISLOOM_KERNELS_FROM_DISK)
endif()

add_library(axisloom $<TARGET_OBJECTS:axisloom_objects>)
add_library(axisloom::axisloom ALIAS axisloom)
set_target_properties(axisloom PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${AXISLOOM_LIBRARY_VERSION}
                      LINKER_LANGUAGE CXX)
target_compile_features(axisloom INTERFACE cxx_std_20)
target_include_directories(axisloom INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(axisloom PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
# Threads of the host's pool, and what threads keep until they end, outlive a dlclose.
target_link_options(axisloom PRIVATE LINKER:-z,nodelete)
if(AXISLOOM_SANITIZE)
  target_link_options(axisloom PRIVATE -fsanitize=${AXISLOOM_SANITIZE})
endif()
