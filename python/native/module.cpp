#include <nanobind/nanobind.h>
#include <axisloom/version.hpp>

NB_MODULE(_native, m) { m.attr("__version__") = "0"; }
