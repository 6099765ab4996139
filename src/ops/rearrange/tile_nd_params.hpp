// The host's side of tile_nd.params.h and tile_flat.params.h.
#pragma once

#include "ops/rearrange/params.hpp"
#include "ops/rearrange/tile_flat_shape.hpp"
#include "ops/rearrange/tile_nd_shape.hpp"

namespace axisloom::ops {

#include "ops/rearrange/tile_nd.params.h"
// It takes TILE_ND_AXES from the one above.
#include "ops/rearrange/tile_flat.params.h"
static_assert(most_tile_nd_axes == TILE_ND_AXES);
static_assert(arguments_fit(sizeof(TileNdParams), 2) && arguments_fit(sizeof(TileFlatParams), 2));

/// What groups walk, slowest first: axes that tiles are one index of, then tiles along the two that are cut.
Loops tile_nd_walk(const Move& move, const TileNd& tile);

/// All but the walk and what a group takes.
TileNdParams tile_nd_params(const Move& move, const TileNd& tile, const TileNdPadding& padding, i64 items);

/// The same for tile_flat.kernel.
TileFlatParams tile_flat_params(const Move& move, const TileFlat& flat);

}  // namespace axisloom::ops
