// Where the items of a group meet on the host. All of them run on one thread, one at a time, and give way only where they
// wait: so plain numbers do.

// Items that meet, time after time.
struct axl_meeting {
  u32 came, times;
};

// What the items of a group share beside local memory.
struct axl_items {
  axl_meeting group, warps[32], warpgroups[8];
  u32 idle;             // how often in a row an item found nothing that it could go on with
  void* brought[1024];  // by each item to the meeting that it came to
};
