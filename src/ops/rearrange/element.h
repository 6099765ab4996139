// What is moved as a whole.
CONSTANT(ELEMENT, type)                      // an integer or packet as large as an element
CONSTANT(ELEMENT_BYTES, one_of(1 2 4 8 16))  // of an element
