# The program axisloom. All but its main() is a set of objects, so that the unit tests reach its parts.
find_package(CLI11 REQUIRED)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp ${PROJECT_SOURCE_DIR}/cli/*/*.cpp
     ${PROJECT_SOURCE_DIR}/bench/*.cpp ${PROJECT_SOURCE_DIR}/bench/*/*.cpp)
list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/cli/main.cpp)
add_library(axisloom_cli_objects OBJECT ${cli_sources})
axisloom_target(axisloom_cli_objects)
# Most of the time to compile one of these goes into CLI11's and fmt's headers, so several share one reading of them.
set_target_properties(axisloom_cli_objects PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
target_include_directories(axisloom_cli_objects PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/cli)
target_compile_definitions(axisloom_cli_objects PUBLIC AXISLOOM_VERSION="${PROJECT_VERSION}")
target_link_libraries(axisloom_cli_objects
  PUBLIC axisloom_objects axisloom_io CLI11::CLI11 fmt::fmt-header-only nlohmann_json::nlohmann_json)

# OpenCV is one of the libraries that the benchmark measures against; without it the benchmark says so and goes on.
option(AXISLOOM_BENCH_OPENCV "Let the benchmark time OpenCV where it is installed" ON)
if(AXISLOOM_BENCH_OPENCV)
  find_package(OpenCV QUIET COMPONENTS core)
endif()
if(AXISLOOM_BENCH_OPENCV AND OpenCV_FOUND)
  target_include_directories(axisloom_cli_objects SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  target_compile_definitions(axisloom_cli_objects PRIVATE AXISLOOM_BENCH_OPENCV)
  target_link_libraries(axisloom_cli_objects PUBLIC opencv_core)
endif()

# CUB is templates for nvcc: a module of its own that the benchmark opens beside the program, so that nothing else needs
# the CUDA toolkit.
option(AXISLOOM_CUB "Build the module with which the benchmark times CUB, where nvcc is found" OFF)
if(AXISLOOM_CUB)
  find_program(AXISLOOM_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
endif()
if(AXISLOOM_CUB AND AXISLOOM_NVCC)
  set(cub_source ${PROJECT_SOURCE_DIR}/bench/peers/cub.cu)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/axisloom_cub.so
    COMMAND ${AXISLOOM_NVCC} -std=c++17 -O3 -shared -Xcompiler=-fPIC,-fvisibility=hidden -cudart static
            -gencode arch=compute_80,code=sm_80 -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90
            ${cub_source} -o ${PROJECT_BINARY_DIR}/axisloom_cub.so
    DEPENDS ${cub_source} ${PROJECT_SOURCE_DIR}/bench/peers/cub_module.hpp VERBATIM)
  add_custom_target(axisloom_cub ALL DEPENDS ${PROJECT_BINARY_DIR}/axisloom_cub.so)
elseif(AXISLOOM_CUB)
  message(STATUS "nvcc was not found: the benchmark will name CUB as absent")
endif()

add_executable(axisloom_cli ${PROJECT_SOURCE_DIR}/cli/main.cpp)
axisloom_target(axisloom_cli)
set_target_properties(axisloom_cli PROPERTIES OUTPUT_NAME axisloom)
target_link_libraries(axisloom_cli PRIVATE axisloom_cli_objects axisloom_objects)

# The man page and the completions are printed by the program itself, so they cannot disagree with it. A program that
# cannot print one of them fails the build.
function(axisloom_printed output)
  add_custom_command(OUTPUT ${output}
    COMMAND $<TARGET_FILE:axisloom_cli> ${ARGN} > ${output}.part
    COMMAND test -s ${output}.part
    COMMAND ${CMAKE_COMMAND} -E rename ${output}.part ${output}
    DEPENDS axisloom_cli VERBATIM)
endfunction()

if(AXISLOOM_INSTALL)
  set(printed_folder ${PROJECT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${printed_folder})
  axisloom_printed(${printed_folder}/axisloom.1 --man)
  axisloom_printed(${printed_folder}/axisloom.bash --completion bash)
  axisloom_printed(${printed_folder}/_axisloom --completion zsh)
  axisloom_printed(${printed_folder}/axisloom.fish --completion fish)
  add_custom_target(axisloom_printed ALL DEPENDS
    ${printed_folder}/axisloom.1 ${printed_folder}/axisloom.bash ${printed_folder}/_axisloom ${printed_folder}/axisloom.fish)
endif()
