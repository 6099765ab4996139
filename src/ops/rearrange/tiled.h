// Tiles along i and o that groups walk.
SETTING(AXIS_I, count)  // position among the walked axes of that which counts tiles along i
SETTING(AXIS_O, count)  // the same along o
