// Opens NCCL at run time.
#include "distributed/nccl_api.hpp"

#include <axisloom/error.hpp>

#include "core/text.hpp"

namespace axisloom::distributed {
namespace {

constexpr const char* remedy = "install NCCL 2.7 or newer, or let AXISLOOM_NCCL name the library of the communicator";

/// "NCCL 2.4.8", as far as the library tells.
std::string name_of(const NcclApi& api) {
  int number = 0;
  const bool known = api.ncclGetVersion && api.ncclGetVersion(&number) == kNcclSuccess;
  return known ? concat("NCCL ", nccl_version_text(number)) : "not NCCL";
}

}  // namespace

std::string nccl_version_text(int number) {
  const int unit = number < 10000 ? 1000 : 10000;
  return concat(number / unit, ".", number % unit / 100, ".", number % 100);
}

std::shared_ptr<const NcclApi> open_nccl(const std::string& file) {
  // The name by which programs link it, so that the loader gives what they have loaded already.
  const std::string name = file.empty() ? "libnccl.so.2" : file;
  auto api = std::make_shared<const NcclApi>(NcclApi{{device::DynamicLibrary(std::span(&name, 1))}});
  if (!api->library)
    throw Error(Errc::unsupported, concat("NCCL was not found: ", joined(api->library.tried(), "; ")), remedy);
  if (!api->missing.empty())
    throw Error(Errc::unsupported,
                concat(api->library.path(), " is ", name_of(*api), ": it lacks ", joined(api->missing, ", ")), remedy);
  return api;
}

}  // namespace axisloom::distributed
