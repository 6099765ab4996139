// The dtype of a result that is computed from several dtypes.
#pragma once

#include <axisloom/array.hpp>

namespace axisloom::ops {

/// NumPy's promotion: the smallest dtype that holds the values of both. bf16, which NumPy lacks, becomes f32 with f16,
/// i16, u16 and larger integers become f32 or f64 with it as they do with f16, and stays bf16 with i8, u8 and bool.
Dtype promoted(Dtype a, Dtype b);

}  // namespace axisloom::ops
