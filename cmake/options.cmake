# What every target of this project is compiled with. Warnings are errors only where a preset or the caller says so
# (CMAKE_COMPILE_WARNING_AS_ERROR), so that a newer compiler never breaks a consumer's build. No -march flags: binaries
# run on any machine of their architecture, and the hot loops are kernels compiled for the device at run time.
add_library(axisloom_options INTERFACE)
target_compile_features(axisloom_options INTERFACE cxx_std_20)
target_compile_options(axisloom_options INTERFACE -Wall -Wextra)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 sees overlapping copies in "[" + std::string (its bug 105651, mended in 13).
  target_compile_options(axisloom_options INTERFACE -Wno-restrict)
endif()

if(AXISLOOM_SANITIZE)
  # Frame pointers for readable traces; a found undefined behaviour ends the run instead of scrolling by.
  target_compile_options(axisloom_options INTERFACE
    -fsanitize=${AXISLOOM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(axisloom_options INTERFACE -fsanitize=${AXISLOOM_SANITIZE})
endif()
if(AXISLOOM_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "AXISLOOM_FUZZ needs clang (libFuzzer); this compiler is ${CMAKE_CXX_COMPILER_ID}. "
                        "Use the preset 'asan', or set CMAKE_CXX_COMPILER=clang++.")
  endif()
  # libFuzzer is told of the branches in the parsers that it feeds, and nothing else pays for it.
  target_compile_options(axisloom_options INTERFACE
    -fsanitize=fuzzer-no-link -fsanitize-coverage-allowlist=${PROJECT_SOURCE_DIR}/tests/fuzz/watched.txt)
endif()

# Sources of tests, where building takes longer than running: GoogleTest compiles in half the time so, and with sanitizers
# in a quarter. What runs long is in the library. libFuzzer learns nothing from them.
set(AXISLOOM_QUICK_BUILD -O0)
if(AXISLOOM_FUZZ)
  list(APPEND AXISLOOM_QUICK_BUILD -fno-sanitize=fuzzer-no-link)
endif()

# One target per program or library: C++20, hidden symbols, the project's own include folders.
function(axisloom_target name)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE axisloom_options)
endfunction()

# Every source of a target begins with `header`, compiled once for all of them together with those named after it.
function(axisloom_begin_with name header)
  if(AXISLOOM_COMPILE_TOGETHER AND NOT CMAKE_DISABLE_PRECOMPILE_HEADERS)
    target_precompile_headers(${name} PRIVATE ${header} ${ARGN})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      target_compile_options(${name} PRIVATE -fpch-preprocess)  # for ccache
    endif()
  else()
    target_compile_options(${name} PRIVATE "SHELL:-include ${header}")
  endif()
endfunction()

# Several sources at a time: most of the time to compile one goes into the templates of fmt, nlohmann_json, CLI11 and
# GoogleTest, which sources compiled together share. With a file each, and those headers precompiled, the program takes about
# three times as long to build (some 300 s of processor time, not 110); so do the library's files that are no forms of kernels
# (415 s, not 140). Every file stands alone all the same: tests/alone.py.
function(axisloom_compile_together name count)
  if(AXISLOOM_COMPILE_TOGETHER)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${count})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # to which all of them but the first seem to be headers
      target_compile_options(${name} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()
