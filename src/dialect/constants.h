// What the host compiles into every kernel. Build options add what depends on the device: AXL_HAS_F64, AXL_HAS_F16,
// AXL_DEVICE_SCOPE, AXL_CONTRACT, AXL_REHEARSAL and AXL_CONSTANT_INDICES are defined or not.
CONSTANT(GROUP, size)            // work-items of a group
CONSTANT(RESIDENT, count, 0)     // groups that a compute unit should hold, to which registers are fitted; 0: no matter
CONSTANT(AXL_PARAMS_SIZE, size)  // bytes of the PARAMS structure on the host
CONSTANT(AXL_CHECKED, flag, 0)   // every access is checked
CONSTANT(AXL_TRACE, flag, 0)     // every access is recorded
