// Before anything travels, ranks make sure that they mean the same, and that none of them is left behind.
#pragma once

#include <axisloom/error.hpp>
#include <axisloom/exchange.hpp>

#include "core/integers.hpp"

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

namespace axisloom::distributed {

/// What a rank tells the others beside what it is about.
struct Vote {
  u64 crossed = 0;           // a bit for each mesh axis along which it sends
  i64 rounds_in_halves = 0;  // that it needs with half of its workspace
  i64 rounds_at_once = 0;    // and with all of it
  i64 most_bytes = 0;        // that it sends or receives
  bool on_host = false;      // its arrays are in host memory
  bool on_card = false;      // or in that of a card, by CUDA
};

/// What each rank gives, by rank.
template <class Item>
std::vector<Item> gathered(Communicator& ranks, const Item& mine) {
  static_assert(std::is_trivially_copyable_v<Item>);
  const std::vector<std::byte> bytes = ranks.allgather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Item> all(bytes.size() / sizeof(Item));
  std::memcpy(all.data(), bytes.data(), all.size() * sizeof(Item));
  return all;
}

/// The votes of all ranks, by rank. Throws on every rank where two of them do not ask for the same, and where one has
/// failed: there its own error, on the others one that names it.
std::vector<Vote> agree(Communicator& ranks, const std::string& asked, const Vote& vote,
                        const std::optional<Error>& failure);

/// The error of what a rank does by itself before it agrees with the others; nothing where it did it.
std::optional<Error> failure_of(auto&& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  } catch (const std::bad_alloc&) {
    return Error(Errc::out_of_memory, "the host has no memory left");
  }
  return std::nullopt;
}

/// The first rank that has failed, where one has.
std::optional<int> first_failed(Communicator& ranks, const std::optional<Error>& failure);

}  // namespace axisloom::distributed
