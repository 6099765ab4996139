// Parameters of the kernel that measures arithmetic: one layout for host and device, widest members first.
#define PEAK_CHAINS 16

typedef struct {
  i32 steps;
  f32 factor;
} PeakParams;
