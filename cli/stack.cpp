// The first file tells how large the others are.
#include "cli/stack.hpp"

#include "harness/arguments.hpp"

#include "io/file.hpp"
#include "io/packed.hpp"

namespace axisloom::cli {
namespace {

using io::HostArray;

HostArray stack_for(size_t count, const HostArray& first) {
  Dims shape{i64(count)};
  for (const i64 extent : first.view.shape) shape.push_back(extent);
  HostArray all = io::allocate_for("the stacked files", View::contiguous(first.view.dtype, shape));
  all.image = first.image;
  all.info = first.info;
  return all;
}

void require_alike(const HostArray& array, const std::string& name, const HostArray& first, const std::string& other) {
  const auto text = [](const View& view) { return to_string(View::contiguous(view.dtype, view.shape)); };
  if (array.view.dtype == first.view.dtype && array.view.shape == first.view.shape) return;
  harness::refuse("give files of one shape and dtype, or -o FOLDER/ to take one after the other",
                  "{} is {} and {} is {}: they cannot be stacked", io::printable(other), text(first.view),
                  io::printable(name), text(array.view));
}

bool known_alike(const HostArray& a, const HostArray& b) {
  return a.info == b.info || (a.info && b.info && *a.info == *b.info);
}

}  // namespace

HostArray stacked(const std::vector<std::string>& names, const std::function<HostArray(const std::string&)>& read) {
  HostArray all, first;
  std::byte* to = nullptr;
  for (const std::string& name : names) {
    const HostArray array = read(name);
    if (!to) {
      first = {.view = array.view, .memory = {}, .info = array.info};
      all = stack_for(names.size(), array);
      to = all.memory.get();
    }
    require_alike(array, name, first, names.front());
    if (!known_alike(array, first)) all.info = nullptr;
    io::PackedReader(array).next(to, array.view.count());
    to += size_t(array.view.count()) * size_of(array.view.dtype);
  }
  return all;
}

}  // namespace axisloom::cli
