# What the program and the benchmark share: cases and the arrays they are done on, judged and told in tables.
file(GLOB harness_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/harness/*.cpp)
add_library(axisloom_harness STATIC ${harness_sources})
axisloom_target(axisloom_harness)
target_include_directories(axisloom_harness PUBLIC ${PROJECT_SOURCE_DIR})
target_link_libraries(axisloom_harness PUBLIC axisloom_io axisloom_objects fmt::fmt-header-only nlohmann_json::nlohmann_json)
axisloom_compile_together(axisloom_harness 16)
