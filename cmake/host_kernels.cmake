# Kernels that are compiled with the library, for the host's own processor: src/ops/host_kernels.txt lists them, a program
# writes them as C++, some to a file, and the table of them. Cold ones are compiled for what the library itself is compiled
# for; hot ones for the levels of the instruction set below, of which the best that a processor has is taken.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(host_hot_levels v3 v4)
  set(host_more_levels v4_vnni v4_bf16)  # of kernels that name them
  set(host_options_v3 -march=x86-64-v3)
  set(host_options_v4 -march=x86-64-v4 -mprefer-vector-width=512)
  set(host_options_v4_vnni ${host_options_v4} -mavx512vnni)
  set(host_options_v4_bf16 ${host_options_v4_vnni} -mavx512bf16)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
  set(host_hot_levels neon)
  set(host_options_neon -march=armv8-a)
endif()
set(host_known_levels ${host_hot_levels} ${host_more_levels})
set(AXISLOOM_HOST_LEVELS "${host_known_levels}" CACHE STRING
    "Levels of the instruction set for which kernels of the host are compiled besides the baseline; none: a short build, \
slow on the host")
foreach(level IN LISTS AXISLOOM_HOST_LEVELS)
  if(NOT level IN_LIST host_known_levels)
    message(FATAL_ERROR "AXISLOOM_HOST_LEVELS: \"${level}\" is no level of ${CMAKE_SYSTEM_PROCESSOR}, which has: ${host_known_levels}")
  endif()
endforeach()
foreach(level IN LISTS host_known_levels)
  if(NOT level IN_LIST AXISLOOM_HOST_LEVELS)
    list(REMOVE_ITEM host_hot_levels ${level})
    list(REMOVE_ITEM host_more_levels ${level})
  endif()
endforeach()

# Where sanitizers watch, vectors take minutes to optimise further.
set(host_optimisation -O2)
if(AXISLOOM_SANITIZE)
  set(host_optimisation -O1)
endif()

# Exact arithmetic as everywhere, but for products, whose kernels say "contract".
# What a form of a kernel does not use is no mistake.
set(host_options ${host_optimisation} -Wno-unused -Wno-unused-parameter -fno-math-errno -fno-trapping-math -fno-strict-aliasing -fno-exceptions -fno-rtti)

# Sums and products of signed integers wrap round, as NumPy's do. Moves have none, products of matrices unsigned ones.
set(host_wraps -fwrapv)

set(host_run_time_options ${host_options} ${host_wraps})
list(TRANSFORM host_run_time_options REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE host_option_literals)
list(JOIN host_option_literals "," host_option_literals)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/host/compile.cpp PROPERTIES
  COMPILE_DEFINITIONS "AXISLOOM_HOST_OPTIONS=${host_option_literals}")

# The same sources are watched for undefined behaviour at the library's own level; at others that takes most of a build.
if(AXISLOOM_SANITIZE MATCHES "undefined")
  # A kernel knows what it is called with by a type of its own, laid out alike.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/device/host/launch.cpp PROPERTIES
    COMPILE_OPTIONS -fno-sanitize=function)
  foreach(level IN LISTS host_known_levels)
    list(APPEND host_options_${level} -fno-sanitize=undefined)
  endforeach()
endif()

list(APPEND host_options -DAXISLOOM_HOST_KERNELS)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # Loops over elements stay loops: as calls of memmove, short ones take several times as long.
  list(APPEND host_options -fno-tree-loop-distribute-patterns -Wno-psabi)
endif()

set(host_list ${PROJECT_SOURCE_DIR}/src/ops/host_kernels.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${host_list})
set(host_folder ${PROJECT_BINARY_DIR}/host_kernels)
file(MAKE_DIRECTORY ${host_folder})

add_executable(axisloom_host_kernels ${PROJECT_SOURCE_DIR}/tools/host_kernels.cpp
  ${PROJECT_SOURCE_DIR}/src/jit/full_text.cpp ${PROJECT_SOURCE_DIR}/src/jit/constants.cpp
  ${PROJECT_SOURCE_DIR}/src/jit/defines.cpp ${PROJECT_SOURCE_DIR}/src/jit/embedded.cpp
  ${PROJECT_SOURCE_DIR}/src/core/error.cpp ${PROJECT_SOURCE_DIR}/src/device/names.cpp)
axisloom_target(axisloom_host_kernels)
axisloom_embed(axisloom_host_kernels)

# Cold kernels for which -O1 does: -O2 takes up to four times as long to compile them. The tiles are kernels for cards, played for
# ladders and tests; of maps, packing and packed products processors above the baseline have hot ones. Of nine reductions
# number by number, seven were as fast by -O1 on an EPYC 7003, argmax 7% slower and 100000 rows of 3 bytes 1.4 times slower.
set(host_brief "^cold (matmul/(tile|mma|wgmma|pack|packed)|rearrange/tile|einsum/map|reduce/(scalar|fold))\\.kernel")

# One file of some lines of the list for one level. `options`: more ones for the compiler.
set(host_sources)
function(axisloom_host_unit first count level contract options)
  set(output ${host_folder}/${level}_${first}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND axisloom_host_kernels unit ${host_list} ${first} ${count} ${level} ${output}
    DEPENDS axisloom_host_kernels ${host_list} VERBATIM)
  set_source_files_properties(${output} PROPERTIES
    COMPILE_OPTIONS "${host_options};${host_options_${level}};-ffp-contract=$<IF:${contract},fast,off>;${options}"
    SKIP_PRECOMPILE_HEADERS ON)
  set(host_sources ${host_sources} ${output} PARENT_SCOPE)
endfunction()

# Kernels of one file, and not too many, share a unit: what it begins with is compiled once for all of them.
set(host_unit_kernels 8)
file(STRINGS ${host_list} host_lines REGEX "^[a-z]")
list(APPEND host_lines "end")
set(number 0)
set(unit_first 0)
set(unit_key "")
foreach(line IN LISTS host_lines)
  string(REGEX MATCH "^[a-z0-9_]+ ?[^ ]*" key "${line}")
  if(line MATCHES " contract")
    string(APPEND key " contract")
  endif()
  math(EXPR unit_count "${number} - ${unit_first}")
  if(NOT key STREQUAL unit_key OR unit_count EQUAL host_unit_kernels)
    if(unit_key)
      string(REGEX MATCH "contract" contract "${unit_key}")
      if(contract)
        set(contract 1)
      else()
        set(contract 0)
      endif()
      string(REGEX MATCH "^[a-z0-9_]+" levels "${unit_key}")
      if(levels STREQUAL "cold")
        set(levels baseline)
      elseif(levels STREQUAL "hot")
        set(levels ${host_hot_levels})
      elseif(NOT levels IN_LIST AXISLOOM_HOST_LEVELS)
        set(levels)
      endif()
      set(options)
      if(unit_key MATCHES " reduce/")
        list(APPEND options ${host_wraps})
      endif()
      if(unit_key MATCHES "${host_brief}")
        list(APPEND options -O1)
      endif()
      foreach(level IN LISTS levels)
        axisloom_host_unit(${unit_first} ${unit_count} ${level} ${contract} "${options}")
      endforeach()
    endif()
    set(unit_first ${number})
    set(unit_key ${key})
  endif()
  math(EXPR number "${number} + 1")
endforeach()

set(host_table ${host_folder}/built_in.cpp)
list(JOIN host_hot_levels "," host_level_names)
list(JOIN host_more_levels "," host_more_level_names)
add_custom_command(OUTPUT ${host_table}
  COMMAND axisloom_host_kernels table ${host_list} "${host_level_names}" "${host_more_level_names}" ${host_table}
  DEPENDS axisloom_host_kernels ${host_list} VERBATIM)
target_sources(axisloom_objects PRIVATE ${host_sources} ${host_table})
