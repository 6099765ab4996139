# The readers and writers of files, shared by the program, the tests and the fuzz targets.
find_package(PNG REQUIRED)
find_package(JPEG REQUIRED)
file(GLOB io_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/io/*.cpp)
add_library(axisloom_io STATIC ${io_sources})
axisloom_target(axisloom_io)
axisloom_compile_together(axisloom_io 8)
target_link_libraries(axisloom_io PRIVATE fmt::fmt-header-only PNG::PNG JPEG::JPEG)
