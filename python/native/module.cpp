// The module axisloom._native.
#include "native/array.hpp"
#include "native/builtins.hpp"
#include "native/cards.hpp"
#include "native/errors.hpp"
#include "native/redistribution.hpp"

#include <axisloom/version.hpp>

#define AXISLOOM_TEXT_OF(number) #number
#define AXISLOOM_TEXT(number) AXISLOOM_TEXT_OF(number)

NB_MODULE(_native, module) {
  namespace python = axisloom::python;
  module.attr("__version__") = AXISLOOM_TEXT(AXISLOOM_VERSION_MAJOR) "." AXISLOOM_TEXT(
      AXISLOOM_VERSION_MINOR) "." AXISLOOM_TEXT(AXISLOOM_VERSION_PATCH);
  nanobind::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (...) {
      python::set_python_error();
    }
  });
  python::bind_array(module);
  python::add_builtins(module);
  python::bind_redistribution(module);
  python::bind_cards(module);
}
