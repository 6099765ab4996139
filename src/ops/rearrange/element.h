// What is moved as a whole.
CONSTANT(ELEMENT, type)                      // an integer or packet as large as an element
CONSTANT(ELEMENT_BYTES, one_of(1 2 4 8 16))  // of an element

#if ELEMENT_BYTES == 16
#define ZERO make_u32x4(0, 0, 0, 0)
#else
#define ZERO 0
#endif
