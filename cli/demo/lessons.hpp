// The demo's two jobs of arithmetic, as they are taught: a product of matrices that can be looked at, and a sum.
#pragma once

#include "cli/demo/show.hpp"

namespace axisloom::cli {

/// 768 x 768 floats: 1.5 times the identity, times a picture with a word in it; by the textbook's two kernels and by
/// the tuned one. Saves both pictures.
void show_product(Show& show);

/// The sum of an array of u32 by the textbook's reduction and by the tuned one, held against the host's.
void show_sum(Show& show);

}  // namespace axisloom::cli
