#include "native/elements.hpp"

#include "core/number.hpp"

namespace axisloom::python {

nb::object python_number(Dtype dtype, const std::byte* element) {
  const long double number = core::number_at(dtype, element);  // has the digits of all 64 bits
  switch (core::kind_of(dtype)) {
    case core::NumberKind::boolean:
      return nb::bool_(number != 0);
    case core::NumberKind::unsigned_integer:
      return nb::int_(std::uint64_t(number));
    case core::NumberKind::signed_integer:
      return nb::int_(std::int64_t(number));
    case core::NumberKind::complex:
      return nb::steal(PyComplex_FromDoubles(double(number), double(core::number_at(dtype, element, 1))));
    case core::NumberKind::floating:
      break;
  }
  return nb::float_(double(number));
}

}  // namespace axisloom::python
