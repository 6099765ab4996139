# The program axisloom. All but its main() is a set of objects, so that the unit tests reach its parts.
find_package(CLI11 REQUIRED)
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cpp ${PROJECT_SOURCE_DIR}/cli/*/*.cpp)
list(REMOVE_ITEM cli_sources ${PROJECT_SOURCE_DIR}/cli/main.cpp)
add_library(axisloom_cli_objects STATIC ${cli_sources})
axisloom_target(axisloom_cli_objects)
# libaxisloom_mpi is opened at run time, by the functions of this header.
target_include_directories(axisloom_cli_objects PRIVATE ${PROJECT_SOURCE_DIR}/mpi/include)
target_compile_definitions(axisloom_cli_objects PRIVATE AXISLOOM_LIBRARY_FOLDER="${CMAKE_INSTALL_LIBDIR}")
target_link_libraries(axisloom_cli_objects PUBLIC axisloom_bench axisloom_harness CLI11::CLI11)
axisloom_compile_together(axisloom_cli_objects 16)

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
