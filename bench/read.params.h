// Parameters of the kernel that only reads: one layout for host and device.
typedef struct {
  i64 packets;  // of 16 bytes
} ReadParams;
