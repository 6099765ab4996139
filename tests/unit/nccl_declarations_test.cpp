// The library's own declarations of NCCL against NCCL's header, where that is installed with a toolkit.
#include "distributed/nccl_api.hpp"

#include "declarations_support.hpp"

#include <gtest/gtest.h>

#if __has_include("/usr/local/cuda/include/nccl.h")
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#include "/usr/local/cuda/include/nccl.h"
#pragma GCC diagnostic pop

namespace axisloom::distributed {
namespace {

#define AXISLOOM_COMPARE_NCCL(name, result, parameters) \
  static_assert(compatible(decltype(NcclApi::name.function){}, static_cast<decltype(&::name)>(nullptr)), #name);
AXISLOOM_NCCL(AXISLOOM_COMPARE_NCCL, AXISLOOM_COMPARE_NCCL)
#undef AXISLOOM_COMPARE_NCCL

TEST(NcclDeclarations, ConstantsAgreeWithTheHeader) {
  EXPECT_EQ(kNcclSuccess, ncclSuccess);
  EXPECT_EQ(kNcclInProgress, ncclInProgress);
  EXPECT_EQ(kNcclInt8, ncclInt8);
  EXPECT_EQ(nccl_version_text(NCCL_VERSION_CODE),
            std::to_string(NCCL_MAJOR) + "." + std::to_string(NCCL_MINOR) + "." + std::to_string(NCCL_PATCH));
}

}  // namespace
}  // namespace axisloom::distributed
#endif
