// How items of a group wait for each other, and what a warp does together. Members of the kernel's structure.

axl_items* axl_shared;

// Gives way to the group's other items until something holds. Whoever is given way to goes on, or finds that it cannot:
// after some rounds of that nobody ever will.
template <class Condition>
__attribute__((noinline)) void axl_wait_until(const Condition condition) {
  for (u32& idle = axl_shared->idle; !condition(); axl_this_call->barrier())
    if (++idle > 4 * GROUP) return axl_this_call->fault(*axl_this_call, "its items wait for each other for ever");
  axl_shared->idle = 0;
}

// So many items meet; the last of them does what they came for, and all go on.
template <class Work>
__attribute__((noinline)) void axl_meet(axl_meeting& meeting, const u32 items, const Work work) {
  const u32 times = meeting.times;
  if (++meeting.came < items) return axl_wait_until([&meeting, times] { return meeting.times != times; });
  work();
  meeting.came = 0;
  ++meeting.times;
  axl_shared->idle = 0;
}
void axl_meet(axl_meeting& meeting, const u32 items) {
  axl_meet(meeting, items, [] {});
}

// The items of a warp meet, each with something of its own; the work is done with what all of them brought, by lane.
template <class T, class Work>
void axl_warp(T& mine, const Work work) {
  const u32 first = axl_item / 32 * 32, items = GROUP - first < 32 ? GROUP - first : 32;
  axl_shared->brought[axl_item] = &mine;
  axl_meet(axl_shared->warps[axl_item / 32], items, [&] { work((T* const*)(axl_shared->brought + first), items); });
}

#define AXL_CAN_SHUFFLE 1
template <class T>
T axl_shuffle_down(const T value, const u32 distance) {
  struct Letter {
    T sent, received;
    u32 distance;
  } mine = {value, value, distance};
  axl_warp(mine, [](Letter* const* const all, const u32 items) {
    for (u32 lane = 0; lane < items; ++lane)
      if (lane + all[lane]->distance < items) all[lane]->received = all[lane + all[lane]->distance]->sent;
  });
  return mine.received;
}
#define shuffle_down_u32(x, d) axl_shuffle_down<u32>(x, d)
#define shuffle_down_u64(x, d) axl_shuffle_down<u64>(x, d)
