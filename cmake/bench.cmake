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

# HPTT has C++ functions only: a module of its own, too.
set(AXISLOOM_HPTT "" CACHE PATH "Folder of HPTT, with include/ and lib/libhptt.so, for the module with which the benchmark times it")
if(AXISLOOM_HPTT)
  find_package(OpenMP REQUIRED)
  add_library(axisloom_hptt MODULE ${PROJECT_SOURCE_DIR}/bench/peers/hptt_module.cpp)
  set_target_properties(axisloom_hptt PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} CXX_VISIBILITY_PRESET hidden)
  target_include_directories(axisloom_hptt PRIVATE ${PROJECT_SOURCE_DIR} SYSTEM ${AXISLOOM_HPTT}/include)
  target_link_libraries(axisloom_hptt PRIVATE ${AXISLOOM_HPTT}/lib/libhptt.so OpenMP::OpenMP_CXX)
endif()
