# libaxisloom_mpi: exchanges between the ranks of an MPI job, compiled against the MPI that is found; for another one say
# -DMPI_CXX_COMPILER=mpicxx.mpich, for instance.
set(MPI_CXX_SKIP_MPICXX ON)
find_package(MPI REQUIRED COMPONENTS CXX)

set(axisloom_mpi_folder ${CMAKE_CURRENT_LIST_DIR}/../mpi)
add_library(axisloom_mpi ${axisloom_mpi_folder}/mpi.cpp ${axisloom_mpi_folder}/c.cpp)
add_library(axisloom::axisloom_mpi ALIAS axisloom_mpi)
target_include_directories(axisloom_mpi PUBLIC
  $<BUILD_INTERFACE:${axisloom_mpi_folder}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(axisloom_mpi PUBLIC axisloom::axisloom MPI::MPI_CXX)
# Beside libaxisloom, wherever both are: the program opens it at run time.
set_target_properties(axisloom_mpi PROPERTIES INSTALL_RPATH "$ORIGIN")
