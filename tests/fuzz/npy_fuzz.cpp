// Any bytes as a .npy file, or as an .npz file where they begin like one: an array whose every byte can be read, or
// Error(file); Error(usage) where there are several. What was read is written and must come back the same, mapped or
// not.
#include <axisloom/error.hpp>
#include <cstring>

#include "input_in_memory.hpp"
#include "io/io.hpp"

namespace {

using axisloom::io::HostArray;

void require_same(const HostArray& a, const HostArray& b) {
  const bool same = a.view.dtype == b.view.dtype && a.view.shape == b.view.shape && a.bytes == b.bytes &&
                    (a.bytes == 0 || std::memcmp(a.memory.get(), b.memory.get(), a.bytes) == 0);
  if (!same) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const axisloom::fuzz::InputInMemory input(data, size);
  axisloom::io::ReadOptions options;
  const bool archive = size >= 2 && std::memcmp(data, "PK", 2) == 0;
  options.format = archive ? "npz" : "npy";
  try {
    const HostArray array = axisloom::io::read(input.path(), options);
    options.map_from = 0;
    require_same(array, axisloom::io::read(input.path(), options));
    static const std::string copy = "/tmp/axisloom_npy_fuzz." + std::to_string(::getpid());
    axisloom::io::write(copy, array, {"npy"});
    const HostArray back = axisloom::io::read(copy, {.format = "npy", .shape = {}, .dtype = {}, .array = {}});
    ::unlink(copy.c_str());
    require_same(array, back);
  } catch (const axisloom::Error& error) {
    if (error.code() != axisloom::Errc::file && !(archive && error.code() == axisloom::Errc::usage)) throw;
  }
  return 0;
}
