// Any bytes as an image, its format told by its content: dense pixels, or Error(file).
#include <axisloom/error.hpp>
#include <cstring>

#include "input_in_memory.hpp"
#include "io/io.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // npy_fuzz has these
  if (size >= 6 && std::memcmp(data, "\x93NUMPY", 6) == 0) return -1;
  if (size >= 2 && std::memcmp(data, "PK", 2) == 0) return -1;
  const axisloom::fuzz::InputInMemory input(data, size);
  try {
    const axisloom::io::HostArray image = axisloom::io::read(input.path());
    if (image.view.rank() < 2 || image.bytes == 0) std::abort();
    if (!image.view.is_contiguous()) std::abort();
  } catch (const axisloom::Error& error) {
    if (error.code() != axisloom::Errc::file) throw;
  }
  return 0;
}
