// Messages that are cut into pieces, where a workspace does not hold them whole: sender and receiver cut alike, without
// asking each other.
#pragma once

#include <axisloom/distributed.hpp>

#include "core/integers.hpp"

namespace axisloom::distributed {

/// Bytes to which a piece's place in a buffer of messages is aligned: a line of the cache, and the widest vector.
inline constexpr i64 slot_alignment = 64;

/// The most elements that a piece of a message has where it goes in so many rounds; less for more rounds.
i64 most_elements(i64 elements, i64 rounds);

/// What of a message goes in a round; perhaps nothing. Pieces begin where rows of its boxes begin, if these are short
/// enough: each piece is then a box or few.
Transfer piece_of(const Transfer& whole, i64 round, i64 rounds);

}  // namespace axisloom::distributed
