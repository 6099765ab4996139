# What `cmake --install` lays down: headers, library, program, package files, man page and completions.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/axisloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS axisloom EXPORT axisloom_targets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})

if(AXISLOOM_MPI)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/mpi/include/axisloom DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(TARGETS axisloom_mpi EXPORT axisloom_targets
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/axisloom)
install(EXPORT axisloom_targets NAMESPACE axisloom:: DESTINATION ${package_folder})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/axisloom-config.cmake.in
  ${PROJECT_BINARY_DIR}/generated/axisloom-config.cmake INSTALL_DESTINATION ${package_folder})
# While the major version is 0, each minor version may break what the one before promised.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/axisloom-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/axisloom-config.cmake
              ${PROJECT_BINARY_DIR}/generated/axisloom-config-version.cmake DESTINATION ${package_folder})

# The .pc file finds the rest relative to itself, so an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY ${CMAKE_INSTALL_PREFIX} OUTPUT_VARIABLE pc_includedir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX
  BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig OUTPUT_VARIABLE pc_prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/axisloom.pc.in ${PROJECT_BINARY_DIR}/generated/axisloom.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/axisloom.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

if(AXISLOOM_CLI)
  install(TARGETS axisloom_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(FILES ${printed_folder}/axisloom.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${printed_folder}/axisloom.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME axisloom)
  install(FILES ${printed_folder}/_axisloom DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${printed_folder}/axisloom.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
