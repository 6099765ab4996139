#include "native/indexing.hpp"

#include <vector>

namespace axisloom::python {
namespace {

std::vector<PyObject*> items_of(PyObject* key) {
  if (!PyTuple_Check(key)) return {key};
  std::vector<PyObject*> items;
  for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) items.push_back(PyTuple_GetItem(key, i));
  return items;
}

[[noreturn]] void refuse(PyObject* item) {
  throw_index_error(
      "an axisloom.Array is indexed by integers, slices, ... and None, not by %s: take the array to its own library "
      "for that, such as by numpy()",
      type_name(item).c_str());
}

/// A number counted from the front. Bools are masks to NumPy, and lists and arrays are refused.
Py_ssize_t number_of(PyObject* item) {
  if (PyBool_Check(item)) refuse(item);
  const Py_ssize_t number = PyNumber_AsSsize_t(item, PyExc_IndexError);
  if (number != -1 || !PyErr_Occurred()) return number;
  if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
  PyErr_Clear();
  refuse(item);
}

/// The part of a view, put together axis by axis.
class Part {
 public:
  explicit Part(const View& whole) : whole_(whole), made_(whole) { made_.shape = made_.strides = {}; }

  void add(PyObject* item) {
    if (item == Py_None)
      keep(1, 0);
    else if (PySlice_Check(item))
      add_slice(item);
    else
      add_number(item);
  }
  /// As they are, until so many are left.
  void add_all_but(int left) {
    for (; axis_ < whole_.rank() - left; ++axis_) keep(whole_.shape[axis_], whole_.strides[axis_]);
  }
  View finished() {
    add_all_but(0);
    if (made_.count() == 0) made_.offset = whole_.offset;  // there is nothing to point at
    return made_;
  }

 private:
  void keep(std::int64_t extent, std::int64_t stride) {
    made_.shape.push_back(extent);
    made_.strides.push_back(stride);
  }
  void add_number(PyObject* item) {
    const Py_ssize_t number = number_of(item), extent = whole_.shape[axis_];
    if (number < -extent || number >= extent)
      throw_index_error("index %zd is out of bounds for axis %d with length %zd", number, axis_, extent);
    made_.offset += (number < 0 ? number + extent : number) * whole_.strides[axis_];
    ++axis_;
  }
  void add_slice(PyObject* item) {
    Py_ssize_t start = 0, stop = 0, step = 0;
    if (PySlice_Unpack(item, &start, &stop, &step) < 0) throw nb::python_error();
    const Py_ssize_t count = PySlice_AdjustIndices(whole_.shape[axis_], &start, &stop, step);
    if (count > 0) made_.offset += start * whole_.strides[axis_];
    keep(count, count > 1 ? step * whole_.strides[axis_] : whole_.strides[axis_]);  // a step over the end may be any
    ++axis_;
  }

  const View& whole_;
  View made_;
  int axis_ = 0;  // of the whole
};

}  // namespace

View part_of(const View& view, PyObject* key) {
  const std::vector<PyObject*> items = items_of(key);
  int named = 0, ellipses = 0;
  for (PyObject* const item : items) (item == Py_Ellipsis ? ellipses : named) += item != Py_None;
  if (ellipses > 1) throw_index_error("an index has only one ellipsis: write : for the other axes");
  if (named > view.rank())
    throw_index_error("too many indices: the array has %d axes, but %d were indexed", view.rank(), named);
  Part part(view);
  for (PyObject* const item : items) {
    if (item == Py_Ellipsis)
      part.add_all_but(named);
    else
      part.add(item), named -= item != Py_None;
  }
  return part.finished();
}

}  // namespace axisloom::python
