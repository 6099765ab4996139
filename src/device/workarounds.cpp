// What compilers get wrong, in one table. By name, since these faults cannot be tried out: they end the program.
#include "device/device.hpp"

namespace axisloom::device {

std::vector<Workaround> workarounds(const DeviceInfo& device) {
  static constexpr Workaround all[] = {
      {"Oclgrind", "-cl-opt-disable", "it does not know every instruction that optimisation brings in (freeze)"},
      {"Oclgrind", "-disable-llvm-passes",
       "it does not know what inlining a function that returns a structure brings in (noalias.scope.decl)"},
      // Mesa 22.3: the generated code for a load of a kernel's argument at a computed place is a null pointer.
      {"rusticl", "-DAXL_CONSTANT_INDICES=1", "reading a parameter at an index that is not constant ends the program"},
  };
  std::vector<Workaround> some;
  for (const Workaround& one : all)
    if (device.platform == one.platform) some.push_back(one);
  return some;
}

}  // namespace axisloom::device
