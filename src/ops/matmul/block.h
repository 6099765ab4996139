// Which block of C a group makes, and how tiles of the operands are dealt out to its items.
//
// Groups walk in bands of BAND blocks, so that those that run together share rows of A and columns of B.
CONSTANT(BLOCK_M, size)    // rows of a group's block of C
CONSTANT(BLOCK_N, size)    // and its columns
CONSTANT(BAND, size)       // blocks down which a band of groups walks
CONSTANT(A_ALONG_M, flag)  // A lies together along m
CONSTANT(B_ALONG_N, flag)  // B lies together along n
CONSTANT(SPLIT, flag, 0)   // k is cut into parts, whose sums go to the workspace

// What a group writes.
#if SPLIT
#define OUTPUT OUT(ACC, partial)
#else
#define OUTPUT IN_D OUT(RESULT, c)
#endif

typedef struct {
  index_t point;           // of the batch
  index_t part;            // of k
  index_t m0, n0;          // the block's corner
  index_t m_left, n_left;  // from there to the edges
  index_t k_begin, k_end;
} Block;

// Parts are counted where k is cut.
INLINE Block block_of(const ProductParams* const p, const index_t number, const int cut) {
  const index_t blocks_m = p->blocks_m, blocks_n = p->blocks_n;
  const index_t within = number % (blocks_m * blocks_n), outer = number / (blocks_m * blocks_n);
  const index_t band_begin = within / (BAND * blocks_n) * BAND;
  const index_t band = min_index(BAND, blocks_m - band_begin);
  Block block;
  block.part = cut ? outer % p->parts_k : 0;
  block.point = cut ? outer / p->parts_k : outer;
  block.m0 = (band_begin + within % (BAND * blocks_n) % band) * BLOCK_M;
  block.n0 = within % (BAND * blocks_n) / band * BLOCK_N;
  block.m_left = (index_t)p->m - block.m0;
  block.n_left = (index_t)p->n - block.n0;
  block.k_begin = block.part * (index_t)p->part_k;
  block.k_end = cut ? min_index(block.k_begin + (index_t)p->part_k, p->k) : (index_t)p->k;
  return block;
}

// How an operand lies in memory and in a tile, by x, which is m for A and n for B, and k. A unit is what an item loads
// at once: `vector` elements.
typedef struct {
  int block;         // x's of a tile
  int along_x;       // x's lie together, else k's do
  int vector;        // elements of a unit
  int pitch;         // elements from row to row of a tile
  index_t stride_x;  // elements of memory
  index_t stride_k;
  index_t left;      // x's from the tile's corner to the edge
} Side;

// What a kernel defines first: units of a row of k's that neighbouring items take.
#if defined(ROW_UNITS)
// Where unit number `unit` of a tile lies, counted from the tile's corner. All sizes are powers of two, so that the
// place of unit u * GROUP + item is the sum of those of u * GROUP, a constant, and of item: one address and one
// distance to the edge serve all of an item's units.
INLINE int unit_x(const Side side, const int unit) {
  return side.along_x ? unit % (side.block / side.vector) * side.vector : unit / ROW_UNITS(side) % side.block;
}
INLINE int unit_k(const Side side, const int unit) {
  if (side.along_x) return unit / (side.block / side.vector);
  return (unit % ROW_UNITS(side) + unit / (ROW_UNITS(side) * side.block) * ROW_UNITS(side)) * side.vector;
}
INLINE int units_of(const Side side) { return side.block * STEP_K / side.vector / GROUP; }

// Where an item's first unit lies in memory, when x0 is the tile's corner.
INLINE index_t first_unit(const Side side, const index_t x0, const int item) {
  return (x0 + unit_x(side, item)) * side.stride_x + unit_k(side, item) * side.stride_k;
}

// Elements that exist from an item's unit on that lies `x` and `k` behind its first one, when `k_left` of the k's do.
INLINE index_t unit_left(const Side side, const int item, const int x, const int k, const index_t k_left) {
  const index_t left_k = k_left - k - unit_k(side, item);
  const index_t left_x = side.left - x - unit_x(side, item);
  return side.along_x ? (left_k > 0 ? left_x : 0) : (left_x > 0 ? left_k : 0);
}
#endif
