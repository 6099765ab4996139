// Parameters of the kernels that work out what results must be: one layout for host and device, widest members first.
#define FOLD_SUM 0
#define FOLD_LEAST 1
#define FOLD_GREATEST 2
#define FOLD_SQUARES 3
#define THIN_COLUMNS 8

typedef struct {
  u64 seed;     // of the hash
  u64 keep;     // bits of it that stay as they are
  u64 set;      // bits that are set afterwards
  i64 offset;   // position of the first element
  i64 tasks;    // of `fold` results x parts, of `thin` rows x blocks
  i64 results;  // these five of `fold` alone
  i64 reduced;
  i64 inner;
  i64 count;    // elements of a result: lead x reduced
  i64 share;    // of them, a part
  i64 k;        // these four of `thin` alone: steps from element to element
  i64 row;
  i64 column;
  i64 width;
  f32 unit;     // what a whole number stands for: a power of two
  i32 unused;
} JudgeParams;
