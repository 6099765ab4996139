# Embeds kernels, dialect, tuning store, profiles of devices and what the benchmark needs beside its program (suites, the
# Python worker, the schema of its documents, the style of its pages) into the library: writes one .cpp with a byte array
# for each file.
#
# Included:   axisloom_embed(<target>) adds the generated file to the target, and writes it again whenever one of the
#             embedded files is changed, added or removed.
# As script:  cmake -DAXISLOOM_ROOT=<source tree> -DAXISLOOM_OUTPUT=<file.cpp> -P embed.cmake

set(AXISLOOM_EMBED_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

# Byte arrays, since compilers limit the length of a string literal. Host headers end in .hpp, so every .h is for kernels.
function(axisloom_embedded_files root out)
  file(GLOB_RECURSE files ${ARGN} "${root}/src/dialect/*.h" "${root}/src/dialect/*.kernel" "${root}/src/ops/*.h"
       "${root}/src/ops/*.kernel" "${root}/src/model/*.h" "${root}/src/model/*.kernel" "${root}/src/distributed/*.h" "${root}/src/distributed/*.cu" "${root}/tuning/*.json" "${root}/tuning/*.jsonl"
       "${root}/bench/*.h" "${root}/bench/*.kernel" "${root}/bench/*.py" "${root}/bench/*.cases" "${root}/bench/*.css"
       "${root}/bench/*.js" "${root}/docs/*.schema.json")
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# src/dialect/a.h -> dialect/a.h, src/ops/rearrange/b.kernel -> rearrange/b.kernel, tuning/c.jsonl -> tuning/c.jsonl,
# bench/d.py -> bench/d.py; a schema of docs keeps its folder too
function(axisloom_embedded_name root file out)
  file(RELATIVE_PATH name "${root}" "${file}")
  string(REGEX REPLACE "^src/(ops/)?" "" name "${name}")
  set(${out} "${name}" PARENT_SCOPE)
endfunction()

function(axisloom_write_embedded root output)
  axisloom_embedded_files("${root}" files)
  set(names)
  foreach(file IN LISTS files)
    axisloom_embedded_name("${root}" "${file}" name)
    list(APPEND names "${name}")
    set("path_of_${name}" "${file}")
  endforeach()
  list(SORT names COMPARE STRING)

  set(arrays)
  set(rows)
  set(number 0)
  foreach(name IN LISTS names)
    file(READ "${path_of_${name}}" bytes HEX)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    # A final zero, because an empty file would make an empty array.
    string(APPEND arrays "constexpr char text_${number}[] = {${bytes}'\\0'};\n")
    string(APPEND rows "    EmbeddedFile{\"${name}\", {text_${number}, sizeof(text_${number}) - 1}},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE "${output}"
       "// Written by tools/embed.cmake.\n#include \"jit/embedded.hpp\"\n\n#include <array>\n\n"
       "namespace axisloom::jit {\nnamespace {\n\n${arrays}\n"
       "constexpr std::array<EmbeddedFile, ${number}> table = {\n${rows}};\n\n}  // namespace\n\n"
       "std::span<const EmbeddedFile> embedded_table() { return table; }\n\n}  // namespace axisloom::jit\n")
endfunction()

function(axisloom_embed target)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.cpp")
  axisloom_embedded_files("${PROJECT_SOURCE_DIR}" files CONFIGURE_DEPENDS)
  # The list is a dependency as well: removing a file changes no other file's date.
  set(list_file "${CMAKE_CURRENT_BINARY_DIR}/embedded_files.txt")
  file(CONFIGURE OUTPUT "${list_file}" CONTENT "${files}\n" @ONLY)
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DAXISLOOM_ROOT=${PROJECT_SOURCE_DIR}" "-DAXISLOOM_OUTPUT=${output}" -P
            "${AXISLOOM_EMBED_SCRIPT}"
    DEPENDS ${files} "${list_file}" "${AXISLOOM_EMBED_SCRIPT}"
    COMMENT "Embedding kernels"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  axisloom_write_embedded("${AXISLOOM_ROOT}" "${AXISLOOM_OUTPUT}")
endif()
