// Elements of a strided host array in C order, a piece at a time, for writers.
#pragma once

#include "core/integers.hpp"
#include "core/nest.hpp"
#include "io/io.hpp"

namespace axisloom::io {

class PackedReader {
 public:
  explicit PackedReader(const HostArray& array);

  /// Copies the next `elements` elements to `out`, without gaps. Never ask for more than the array has left.
  void next(std::byte* out, i64 elements);

 private:
  void advance(i64 run);

  std::shared_ptr<std::byte> memory_;
  size_t element_;          // bytes
  core::Loops axes_;        // with `in` as stride; neighbours merged, never empty
  std::vector<i64> index_;  // on each
  i64 position_;            // element offset of `index_`
};

}  // namespace axisloom::io
