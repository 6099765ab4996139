// Loads modules, finds their kernels ahead of the first launch, and raises the kernels' limits when asked.
#include "device/cuda/program.hpp"

#include <array>
#include <cstring>

namespace axisloom::device::cuda {

namespace {

/// Groups per cluster that every card with clusters can launch; more has to be allowed kernel by kernel.
constexpr unsigned kPortableCluster = 8;

template <typename T>
T field(std::span<const std::byte> bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

/// The driver takes no length: a binary that was cut short would be read past its end. So its ELF headers must lie
/// within it; PTX is text, which load() closes with a zero.
bool complete(std::span<const std::byte> binary) {
  constexpr size_t kElfHeader = 64;
  const std::string_view text(reinterpret_cast<const char*>(binary.data()), binary.size());
  if (!text.starts_with("\x7f"
                        "ELF"))
    return text.find(".version") != text.npos;
  if (binary.size() < kElfHeader) return false;
  const auto fits = [&](size_t offset_at, size_t count_at, size_t size_at) {
    const auto offset = field<u64>(binary, offset_at), count = u64{field<std::uint16_t>(binary, count_at)};
    return offset <= binary.size() && count * field<std::uint16_t>(binary, size_at) <= binary.size() - offset;
  };
  return fits(32, 56, 54) && fits(40, 60, 58);  // segments, sections
}

}  // namespace

Kernel::Kernel(const Context& context, CUfunction function, std::string name)
    : context_(context), function_(function), name_(std::move(name)) {
  static_local_ = size_t(attribute(kFuncSharedSizeBytes));
  const DriverApi& api = *context_.api;
  if (!api.cuFuncGetParamInfo) return;
  argument_sizes_.emplace();
  for (;;) {
    size_t offset = 0, size = 0;
    const CUresult result = api.cuFuncGetParamInfo(function_, argument_sizes_->size(), &offset, &size);
    if (result == kInvalidValue) return;  // past the last one
    context_.check(result, api.cuFuncGetParamInfo.name, name_);
    argument_sizes_->push_back(size);
  }
}

int Kernel::attribute(int which) const {
  int value = 0;
  context_.call_for(name_, &DriverApi::cuFuncGetAttribute, &value, which, function_);
  return value;
}

void Kernel::raise(int which, int value) const {
  context_.call_for(name_, &DriverApi::cuFuncSetAttribute, function_, which, value);
}

KernelAttributes Kernel::attributes() const {
  return {.registers = attribute(kFuncNumRegs),
          .spilled_bytes = attribute(kFuncLocalSizeBytes),
          .local_bytes = attribute(kFuncSharedSizeBytes),
          .max_items = attribute(kFuncMaxThreadsPerBlock)};
}

void Kernel::require_arguments(std::span<const Arg> args) const {
  if (!argument_sizes_) return;
  const auto refuse = [&](const std::string& what) { context_.refuse(Errc::usage, "kernel " + name_ + " " + what); };
  if (args.size() != argument_sizes_->size())
    refuse(concat("takes ", argument_sizes_->size(), " arguments, not ", args.size()));
  for (size_t i = 0; i < args.size(); ++i) {
    const size_t given = args[i].map ? sizeof(CUtensorMap) : args[i].buffer ? sizeof(CUdeviceptr) : args[i].size;
    const size_t taken = (*argument_sizes_)[i];
    if (given != taken) refuse(concat("takes ", taken, " bytes as argument ", i, ", not ", given));
  }
}

void Kernel::allow(size_t local_bytes, unsigned cluster) {
  const DeviceInfo& info = context_.card.info;
  if (static_local_ > info.local_memory_max || local_bytes > info.local_memory_max - static_local_)
    context_.refuse(Errc::unsupported,
                    concat("kernel ", name_, " asks for ", local_bytes, " and declares ", static_local_,
                           " bytes of local memory; a group can have ", info.local_memory_max));
  const bool more_local = local_bytes + static_local_ > info.local_memory;
  const bool more_cluster = cluster > kPortableCluster;
  if (!more_local && !more_cluster) return;
  const std::lock_guard lock(mutex_);
  // To the card's limit at once, so that the launches of other threads never see it change.
  if (more_local && !local_raised_) {
    raise(kFuncMaxDynamicSharedSizeBytes, int(info.local_memory_max - static_local_));
    local_raised_ = true;
  }
  if (more_cluster && !cluster_raised_) {
    raise(kFuncNonPortableClusterSizeAllowed, 1);
    cluster_raised_ = true;
  }
}

std::shared_ptr<CudaProgram> CudaProgram::load(const SharedContext& context, const std::string& name,
                                               std::span<const std::byte> binary, std::string& rejected) {
  if (!complete(binary)) {
    rejected = "it is neither complete machine code nor PTX";
    return nullptr;
  }
  std::shared_ptr<CudaProgram> program(new CudaProgram(context, name, binary));
  std::vector<std::byte> image(binary.begin(), binary.end());
  image.push_back(std::byte{0});
  std::array<char, 8192> log{};
  int options[] = {kJitErrorLogBuffer, kJitErrorLogBufferSizeBytes};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  const auto scope = context->enter();
  const DriverApi& api = *context->api;
  const CUresult result = api.cuModuleLoadDataEx(&program->module_, image.data(), 2, options, values);
  if (result != kSuccess) {
    program->module_ = nullptr;
    if (classify(result) != Errc::device) context->check(result, api.cuModuleLoadDataEx.name, "loading " + name);
    rejected = result_name(api, result) + (log[0] ? concat(": ", log.data()) : "");
    return nullptr;
  }
  program->load_kernels();
  return program;
}

CudaProgram::~CudaProgram() {
  if (!module_) return;
  context_->release([&](const DriverApi& api) { api.cuModuleUnload(module_); });
}

/// Drivers load kernels lazily; now is the time, since a launch must not (it may be under capture into a graph).
void CudaProgram::load_kernels() {
  const DriverApi& api = *context_->api;
  if (!api.cuModuleGetFunctionCount || !api.cuModuleEnumerateFunctions || !api.cuFuncGetName || !api.cuFuncLoad) return;
  unsigned count = 0;
  context_->call(&DriverApi::cuModuleGetFunctionCount, &count, module_);
  std::vector<CUfunction> functions(count);
  if (count > 0) context_->call(&DriverApi::cuModuleEnumerateFunctions, functions.data(), count, module_);
  for (CUfunction function : functions) {
    const char* name = nullptr;
    context_->call(&DriverApi::cuFuncGetName, &name, function);
    context_->call(&DriverApi::cuFuncLoad, function);
    kernel(name);
  }
}

Kernel& CudaProgram::kernel(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (const auto found = kernels_.find(name); found != kernels_.end()) return found->second;
  CUfunction function = nullptr;
  context_->call_for("looking for kernel " + name + " in " + name_, &DriverApi::cuModuleGetFunction, &function, module_,
                     name.c_str());
  return kernels_.try_emplace(name, *context_, function, name).first->second;
}

}  // namespace axisloom::device::cuda
