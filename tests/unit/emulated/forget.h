// Forgets what differs between the specialisations of a kernel, so that the next one can be included.
#undef ELEMENT_BYTES
#undef TILE_I
#undef TILE_O
#undef VECTOR_I
#undef ROWS
