// A block of ROWS x VECTOR_I elements of ELEMENT_BYTES, transposed in an item's registers:
//
//   row[0]  x00 x01 x02 x03       column[0]  x00 x10 x20 x30
//   row[1]  x10 x11 x12 x13  -->  column[1]  x01 x11 x21 x31
//   ...                           ...
//
// Elements below 4 bytes are transposed inside words: ROWS = 4 bytes or halves of one column become one word or two
// (even8/odd8, then low16/high16: the byte transpose of PyTorch pull request 194310).
#include "unpack.h"

CONSTANT(ELEMENT_BYTES, one_of(1 2 4 8 16))  // of an element
CONSTANT(TILE_I, size)                       // elements of a tile along i
CONSTANT(VECTOR_I, size)                     // elements of a row of a block
CONSTANT(ROWS, one_of(1 2 4))                // of a block

#define U32S_I (VECTOR_I * ELEMENT_BYTES >= 4 ? VECTOR_I * ELEMENT_BYTES / 4 : 1)  // of one packet of a row
#define COLUMN (ROWS * ELEMENT_BYTES)                                               // bytes that one column holds
#define COLUMN_U32S (COLUMN / 4)

// Transposes ROWS packets into VECTOR_I columns of ROWS elements each: row[r][word] -> column[k][word].
INLINE void transpose_block(u32 (*const row)[U32S_I], u32 (*const column)[COLUMN_U32S]) {
#if ELEMENT_BYTES >= 4
  EACH(k, VECTOR_I)
    EACH(r, ROWS)
      EACH(w, ELEMENT_BYTES / 4) column[k][r * (ELEMENT_BYTES / 4) + w] = row[r][k * (ELEMENT_BYTES / 4) + w];
#elif ELEMENT_BYTES == 2
  EACH(k, VECTOR_I)
    EACH(w, 2) {
      const u32 above = row[2 * w][k / 2], below = row[2 * w + 1][k / 2];
      column[k][w] = k % 2 == 0 ? low16(above, below) : high16(above, below);
    }
#elif VECTOR_I == 1
  column[0][0] = row[0][0] | (row[1][0] << 8) | (row[2][0] << 16) | (row[3][0] << 24);
#else
  EACH(m, VECTOR_I / 4) {
    const u32 even01 = even8(row[0][m], row[1][m]), odd01 = odd8(row[0][m], row[1][m]);
    const u32 even23 = even8(row[2][m], row[3][m]), odd23 = odd8(row[2][m], row[3][m]);
    column[4 * m][0] = low16(even01, even23);
    column[4 * m + 1][0] = low16(odd01, odd23);
    column[4 * m + 2][0] = high16(even01, even23);
    column[4 * m + 3][0] = high16(odd01, odd23);
  }
#endif
}

// Writes a column to u32 number `word` of a part of local memory.
INLINE void local_put(LOCAL_REF(u32, part), const int word, const u32* const column) {
#if COLUMN_U32S == 4
  local_store_packet(u32x4, part, word, make_u32x4(column[0], column[1], column[2], column[3]));
#elif COLUMN_U32S == 2
  local_store_packet(u32x2, part, word, make_u32x2(column[0], column[1]));
#else
  local_store(part, word, column[0]);
#endif
}
