// SHA-256 against the vectors of FIPS 180-4 and NIST's CAVP, and at every length around the block size.
#include <gtest/gtest.h>

#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

TEST(Sha256, PublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, BytesAboveAscii) {
  const std::string four = "\xc9\x8c\x8e\x55";
  EXPECT_EQ(sha256(four), "7abc22c0ae5af26ce93dbb94433a0e0b2e119d014f8e7f65bd56c61ccccd9504");
  EXPECT_EQ(sha256(std::as_bytes(std::span(four))), sha256(four));
}

/// One digest over the digests of all lengths from 0 to 300, as Python's hashlib computes it: padding at every
/// remainder.
TEST(Sha256, EveryLengthAroundTheBlockSize) {
  std::string all;
  std::string message;
  for (int length = 0; length <= 300; ++length) {
    all += sha256(message);
    message += static_cast<char>(length % 256);
  }
  EXPECT_EQ(sha256(all), "d64e80cd14d5651b82fc752683de544bebae3046132ed7278785fdd2e9f3c310");
}

}  // namespace
}  // namespace axisloom::jit
