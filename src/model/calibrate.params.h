// Parameters of the kernels that measure a device: one layout for host and device.
typedef struct {
  i64 count;   // packets in all, steps of a chain, or elements
  i64 per_group;   // of them that a group takes
  i64 stride;  // elements
  i64 rounds;  // that are made over the same elements
} CalibrateParams;
