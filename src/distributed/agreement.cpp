// A digest of what each rank asks for is compared; texts are exchanged only where something is wrong.
#include "distributed/agreement.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace axisloom::distributed {
namespace {

/// As it travels.
struct Ballot {
  u64 digest = 0;
  i64 text_bytes = 0;
  i32 failed = 0;
  i32 code = 0;
  Vote vote;
};

/// FNV-1a, the same in every program.
u64 digest_of(std::string_view text) {
  u64 digest = 0xcbf29ce484222325;
  for (const char c : text) digest = (digest ^ u8(c)) * 0x100000001b3;
  return digest;
}

std::vector<std::string> gathered_texts(Communicator& ranks, const std::string& mine, const std::vector<Ballot>& all) {
  const auto longest = size_t(std::ranges::max(all, {}, &Ballot::text_bytes).text_bytes);
  std::vector<std::byte> padded(longest);
  std::ranges::copy(std::as_bytes(std::span(mine)), padded.begin());
  const std::vector<std::byte> bytes = ranks.allgather(padded);
  std::vector<std::string> texts;
  for (size_t rank = 0; rank < all.size(); ++rank)
    texts.emplace_back(reinterpret_cast<const char*>(bytes.data()) + rank * longest, size_t(all[rank].text_bytes));
  return texts;
}

[[noreturn]] void throw_difference(const std::vector<std::string>& texts, size_t other) {
  throw Error(Errc::usage,
              concat("rank 0 and rank ", other, " do not ask for the same: rank 0 for ", texts[0], "; rank ", other,
                     " for ", texts[other]),
              "give all ranks the same pattern, mesh, shape, lengths, dtype and options");
}

[[noreturn]] void throw_failure(Communicator& ranks, const std::vector<Ballot>& all,
                                const std::vector<std::string>& texts, const std::optional<Error>& mine) {
  if (mine) throw Error(*mine);
  const size_t failed = size_t(std::ranges::find(all, 1, &Ballot::failed) - all.begin());
  throw Error(Errc(all[failed].code),
              concat("rank ", failed, " cannot take part, so rank ", ranks.rank(), " cannot either: ", texts[failed]));
}

}  // namespace

std::vector<Vote> agree(Communicator& ranks, const std::string& asked, const Vote& vote,
                        const std::optional<Error>& failure) {
  const std::string text = failure ? concat(asked, ": ", failure->parts().message) : asked;
  const std::vector<Ballot> all = gathered(ranks, Ballot{.digest = digest_of(asked),
                                                         .text_bytes = i64(text.size()),
                                                         .failed = failure ? 1 : 0,
                                                         .code = failure ? i32(failure->code()) : 0,
                                                         .vote = vote});
  const auto other = std::ranges::find_if(all, [&](const Ballot& one) { return one.digest != all[0].digest; });
  const bool failed = std::ranges::any_of(all, [](const Ballot& one) { return one.failed == 1; });
  if (other != all.end() || failed) {
    const std::vector<std::string> texts = gathered_texts(ranks, text, all);
    if (other != all.end()) throw_difference(texts, size_t(other - all.begin()));
    throw_failure(ranks, all, texts, failure);
  }
  std::vector<Vote> votes;
  for (const Ballot& one : all) votes.push_back(one.vote);
  return votes;
}

std::optional<int> first_failed(Communicator& ranks, const std::optional<Error>& failure) {
  const std::vector<u8> failed = gathered(ranks, u8(failure.has_value()));
  const auto first = std::ranges::find(failed, 1);
  if (first == failed.end()) return std::nullopt;
  return int(first - failed.begin());
}

}  // namespace axisloom::distributed
