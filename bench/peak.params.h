// Parameters of the kernels that measure arithmetic: one layout for host and device, widest members first.
#define PEAK_CHAINS 16
#define TENSOR_CHAINS 8

typedef struct {
  i32 steps;
  f32 factor;  // these two of peak.kernel alone
  f32 addend;
} PeakParams;
