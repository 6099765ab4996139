// Tiles along i and o that groups walk.
CONSTANT(AXIS_I, count)  // position among the walked axes of that which counts tiles along i
CONSTANT(AXIS_O, count)  // the same along o
