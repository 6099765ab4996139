# The Python package's module, axisloom/_native.abi3.so, in build/python beside the package's other files, so that
# PYTHONPATH=build/python tries it without an installation. nanobind's split mode: one module for CPython 3.11 and newer.
find_package(Python 3.11 REQUIRED COMPONENTS Interpreter Development.Module)
function(axisloom_ask_python result)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "${ARGN}" OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
                  COMMAND_ERROR_IS_FATAL ANY)
  set(${result} ${answer} PARENT_SCOPE)
endfunction()
axisloom_ask_python(nanobind_ROOT "import nanobind; print(nanobind.cmake_dir())")
axisloom_ask_python(numpy_headers "import numpy; print(numpy.get_include())")
find_package(nanobind CONFIG REQUIRED)

file(GLOB python_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/native/*.cpp)
nanobind_add_module(axisloom_python BACKEND_MODULE nanobind_backend STABLE_ABI_VERSION 3.11 NOMINSIZE
                    NB_SUPPRESS_WARNINGS ${python_sources})
axisloom_target(axisloom_python)
target_include_directories(axisloom_python PRIVATE ${PROJECT_SOURCE_DIR}/python)
# Before Python's own folder, where Debian keeps the headers of its older NumPy.
target_include_directories(axisloom_python SYSTEM BEFORE PRIVATE ${numpy_headers})
target_link_libraries(axisloom_python PRIVATE axisloom_objects)
set_target_properties(axisloom_python PROPERTIES
  OUTPUT_NAME _native LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/axisloom)
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/python
     ${PROJECT_SOURCE_DIR}/python/axisloom/*.py ${PROJECT_SOURCE_DIR}/python/axisloom/*.pyi
     ${PROJECT_SOURCE_DIR}/python/axisloom/py.typed)
foreach(file IN LISTS python_files)
  cmake_path(GET file PARENT_PATH folder)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/${folder})
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/python/${file} ${PROJECT_BINARY_DIR}/python/${file} SYMBOLIC)
endforeach()
install(TARGETS axisloom_python LIBRARY DESTINATION axisloom COMPONENT python EXCLUDE_FROM_ALL)
if(AXISLOOM_CLI)
  # The program comes with the package: `python -m axisloom`.
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/axisloom/bin)
  file(CREATE_LINK ${PROJECT_BINARY_DIR}/axisloom ${PROJECT_BINARY_DIR}/python/axisloom/bin/axisloom SYMBOLIC)
  install(TARGETS axisloom_cli RUNTIME DESTINATION axisloom/bin COMPONENT python EXCLUDE_FROM_ALL)
endif()
