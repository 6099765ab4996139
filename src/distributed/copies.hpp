// The boxes of a transfer as copies between strided arrays.
#pragma once

#include "core/integers.hpp"

#include <axisloom/distributed.hpp>

#include <vector>

namespace axisloom::distributed {

/// From local array to local array, to a message, and from a message, which begins at element `at` of its buffer. The
/// views have the shapes of the local arrays.
std::vector<TransferCopy> copies(const Transfer& transfer, const View& in, const View& out);
std::vector<TransferCopy> packing(const Transfer& transfer, const View& in, i64 at);
std::vector<TransferCopy> unpacking(const Transfer& transfer, const View& out, i64 at);

}  // namespace axisloom::distributed
