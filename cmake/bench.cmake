# The benchmark: its engine, its peers, and the ladder.
file(GLOB bench_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cpp ${PROJECT_SOURCE_DIR}/bench/*/*.cpp)
list(FILTER bench_sources EXCLUDE REGEX "_module\\.cpp$")  # of programs that are opened beside it
add_library(axisloom_bench STATIC ${bench_sources})
axisloom_target(axisloom_bench)
target_link_libraries(axisloom_bench PUBLIC axisloom_harness)
axisloom_compile_together(axisloom_bench 16)

# OpenCV is one of the libraries that the benchmark measures against; without it the benchmark says so and goes on.
option(AXISLOOM_BENCH_OPENCV "Let the benchmark time OpenCV where it is installed" ON)
if(AXISLOOM_BENCH_OPENCV)
  find_package(OpenCV QUIET COMPONENTS core)
endif()
if(AXISLOOM_BENCH_OPENCV AND OpenCV_FOUND)
  target_include_directories(axisloom_bench SYSTEM PRIVATE ${OpenCV_INCLUDE_DIRS})
  target_compile_definitions(axisloom_bench PRIVATE AXISLOOM_BENCH_OPENCV)
  target_link_libraries(axisloom_bench PUBLIC opencv_core)
endif()

# CUB and cuda::copy are templates for nvcc: modules of their own that the benchmark opens beside the program, so that
# nothing else needs the CUDA toolkit. The CCCL that CUDA 13.0 has knows no cuda::copy yet.
option(AXISLOOM_CUB "Build the module with which the benchmark times CUB, where nvcc is found" OFF)
set(AXISLOOM_CCCL "" CACHE PATH "Folder of CCCL's headers, for the module with which the benchmark times cuda::copy of mdspans")
if(AXISLOOM_CUB OR AXISLOOM_CCCL)
  find_program(AXISLOOM_NVCC nvcc HINTS ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
endif()
# axisloom_nvcc_module(NAME OPTION...): axisloom_NAME.so from the peer of that name.
function(axisloom_nvcc_module name)
  set(source ${PROJECT_SOURCE_DIR}/bench/peers/${name}.cu)
  set(module ${PROJECT_BINARY_DIR}/axisloom_${name}.so)
  add_custom_command(OUTPUT ${module}
    COMMAND ${AXISLOOM_NVCC} -std=c++17 -O3 -shared -Xcompiler=-fPIC,-fvisibility=hidden -cudart static ${ARGN} ${source} -o ${module}
    DEPENDS ${source} ${PROJECT_SOURCE_DIR}/bench/peers/${name}_module.hpp VERBATIM)
  add_custom_target(axisloom_${name} ALL DEPENDS ${module})
endfunction()
if((AXISLOOM_CUB OR AXISLOOM_CCCL) AND NOT AXISLOOM_NVCC)
  message(STATUS "nvcc was not found: the benchmark will name CUB and cuda::copy as absent")
else()
  set(hopper -gencode arch=compute_90,code=sm_90 -gencode arch=compute_90,code=compute_90)
  if(AXISLOOM_CUB)
    axisloom_nvcc_module(cub -gencode arch=compute_80,code=sm_80 ${hopper})
  endif()
  if(AXISLOOM_CCCL)  # which takes more than a minute for each generation
    axisloom_nvcc_module(mdspan -isystem ${AXISLOOM_CCCL} ${hopper})
  endif()
endif()

# HPTT has C++ functions only: a module of its own, too.
set(AXISLOOM_HPTT "" CACHE PATH "Folder of HPTT, with include/ and lib/libhptt.so, for the module with which the benchmark times it")
if(AXISLOOM_HPTT)
  find_package(OpenMP REQUIRED)
  add_library(axisloom_hptt MODULE ${PROJECT_SOURCE_DIR}/bench/peers/hptt_module.cpp)
  set_target_properties(axisloom_hptt PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(axisloom_hptt PRIVATE ${PROJECT_SOURCE_DIR} SYSTEM ${AXISLOOM_HPTT}/include)
  target_link_libraries(axisloom_hptt PRIVATE ${AXISLOOM_HPTT}/lib/libhptt.so OpenMP::OpenMP_CXX)
endif()
