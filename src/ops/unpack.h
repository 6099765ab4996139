// The components of a packet into x[0], x[1], ...
#define UNPACK_2(x, v) x[0] = v.s0, x[1] = v.s1
#define UNPACK_4(x, v) UNPACK_2(x, v), x[2] = v.s2, x[3] = v.s3
#define UNPACK_8(x, v) UNPACK_4(x, v), x[4] = v.s4, x[5] = v.s5, x[6] = v.s6, x[7] = v.s7
#define UNPACK_16(x, v)                                                               \
  UNPACK_8(x, v), x[8] = v.s8, x[9] = v.s9, x[10] = v.sa, x[11] = v.sb, x[12] = v.sc, \
                  x[13] = v.sd, x[14] = v.se, x[15] = v.sf
