// index_t counts elements of arrays. It has 32 bits where every offset provably fits, since 64 take twice the
// registers.
CONSTANT(INDEX_BITS, one_of(32 64))  // of an offset in elements

typedef JOIN(i, INDEX_BITS) index_t;
#define min_index JOIN(min_i, INDEX_BITS)
#define max_index JOIN(max_i, INDEX_BITS)

// The number of the group and that of the item in it, to count from. Where a group has one item, that is a constant.
#define THIS_GROUP ((index_t)group_id())
#define THIS_ITEM ((index_t)(GROUP > 1 ? item_id() : 0u))
