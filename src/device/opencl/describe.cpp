// DeviceInfo from OpenCL's queries, with the few facts that OpenCL has no query for.
#include "device/opencl/describe.hpp"

#include "core/host_memory.hpp"

#include "device/opencl/memory.hpp"

#include <algorithm>
#include <cstdio>

namespace axisloom::device::opencl {

namespace {

template <typename Value>
Value get(cl_device_id device, cl_device_info what) {
  return query<Value>(cl().clGetDeviceInfo, device, what);
}

template <typename Value>
Value get_or(Value fallback, cl_device_id device, cl_device_info what) {
  return query_or<Value>(fallback, cl().clGetDeviceInfo, device, what);
}

std::string text(cl_device_id device, cl_device_info what) {
  return query_text(cl().clGetDeviceInfo, device, what);
}

// A device that claims to be several kinds at once (Oclgrind does) runs the kernels for GPUs: they show more faults. So
// does a CPU without vectors of its own (rusticl's llvmpipe): it spreads work-items over lanes, as a GPU does, and took
// minutes to compile a kernel of explicit vectors.
Kind kind_of(cl_device_id device) {
  const auto type = get<cl_device_type>(device, CL_DEVICE_TYPE);
  if (type & CL_DEVICE_TYPE_GPU) return Kind::gpu;
  if (!(type & CL_DEVICE_TYPE_CPU)) return Kind::other;
  return get<cl_uint>(device, CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR) > 1 ? Kind::cpu : Kind::other;
}

// "OpenCL 3.0 CUDA" -> 300; the form "OpenCL <major>.<minor> <vendor>" is prescribed.
int version_of(const std::string& device_version) {
  int major = 0;
  int minor = 0;
  return std::sscanf(device_version.c_str(), "OpenCL %d.%d", &major, &minor) == 2 ? 100 * major + 10 * minor : 100;
}

bool has_extension(const std::string& extensions, const std::string& name) {
  return (" " + extensions + " ").find(" " + name + " ") != std::string::npos;
}

// PoCL ends its device version with what it compiles for: "OpenCL 3.0 PoCL HSTR: pthread-x86_64-pc-linux-gnu-znver3".
std::string pocl_architecture(const std::string& device_version) {
  const std::string mark = "HSTR: ";
  const size_t at = device_version.find(mark);
  return at == device_version.npos ? "" : device_version.substr(at + mark.size());
}

// 90 for 9.0; 0 where the driver does not say.
unsigned nvidia_capability(cl_device_id device) {
  return 10 * get_or<cl_uint>(0, device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV) +
         get_or<cl_uint>(0, device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
}

bool orders_across_device(cl_device_id device, int version) {
  if (version < 300) return false;
  constexpr cl_device_atomic_capabilities wanted = CL_DEVICE_ATOMIC_ORDER_ACQ_REL | CL_DEVICE_ATOMIC_SCOPE_DEVICE;
  const auto memory = get_or<cl_device_atomic_capabilities>(0, device, CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES);
  const auto fence = get_or<cl_device_atomic_capabilities>(0, device, CL_DEVICE_ATOMIC_FENCE_CAPABILITIES);
  return (memory & wanted) == wanted && (fence & wanted) == wanted;
}

void describe_identity(DeviceInfo& info, cl_device_id device) {
  const auto platform = get<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  info.kind = kind_of(device);
  info.name = text(device, CL_DEVICE_NAME);
  info.vendor = text(device, CL_DEVICE_VENDOR);
  info.platform = query_text(cl().clGetPlatformInfo, platform, CL_PLATFORM_NAME);
  info.driver = text(device, CL_DRIVER_VERSION);
  info.api_version = text(device, CL_DEVICE_VERSION);
  // An empty name stands for "cannot compile": such a device is the last choice.
  if (get<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE)) info.compiler = text(device, CL_DEVICE_OPENCL_C_VERSION);
}

void describe_sizes(DeviceInfo& info, cl_device_id device) {
  info.compute_units = get<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS);
  const auto per_dimension = query_list<size_t>(cl().clGetDeviceInfo, device, CL_DEVICE_MAX_WORK_ITEM_SIZES);
  info.max_group = get<size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE);
  if (!per_dimension.empty()) info.max_group = std::min(info.max_group, per_dimension.front());
  info.local_memory = get<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  info.local_memory_max = info.local_memory;
  info.global_memory = get<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  info.max_allocation = get<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  info.base_alignment = reported_alignment(device);
  // NVIDIA's driver answers with the sum of the first-level caches.
  info.last_level_cache = is_nvidia(info) ? 0 : get<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_CACHE_SIZE);
}

void describe_features(DeviceInfo& info, cl_device_id device) {
  const int version = version_of(info.api_version);
  const std::string extensions = text(device, CL_DEVICE_EXTENSIONS);
  info.unified_memory =
      info.kind == Kind::cpu && get_or<cl_bool>(CL_FALSE, device, CL_DEVICE_HOST_UNIFIED_MEMORY) == CL_TRUE;
  // Buffers lie in host memory of ours there; OpenCL's own promise (128 bytes on PoCL) is less than views assume.
  if (info.unified_memory) info.base_alignment = std::max(info.base_alignment, core::host_alignment);
  info.f64 = get_or<cl_device_fp_config>(0, device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  info.atomics_64 = has_extension(extensions, "cl_khr_int64_base_atomics") &&
                    has_extension(extensions, "cl_khr_int64_extended_atomics");
  info.f16 = has_extension(extensions, "cl_khr_fp16");
  info.byte_stores = version >= 110 || has_extension(extensions, "cl_khr_byte_addressable_store");
  info.device_scope_order = is_nvidia(info) || orders_across_device(device, version);
}

}  // namespace

size_t reported_alignment(cl_device_id device) {
  return std::max<size_t>(1, get<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN) / 8);  // the query is in bits
}

bool is_nvidia(const DeviceInfo& info) {
  return info.platform == "NVIDIA CUDA";
}

DeviceInfo describe(cl_device_id device, int index) {
  DeviceInfo info;
  info.api = Api::opencl;
  info.index = index;
  describe_identity(info, device);
  describe_sizes(info, device);
  describe_features(info, device);
  if (is_nvidia(info)) {
    const unsigned capability = nvidia_capability(device);
    if (capability) info.architecture = concat("sm_", capability);
    // 48 KiB is reported wherever it is asked, and more is accepted where the hardware has it: tried on 9.0 only.
    constexpr size_t accepted_on_9_0 = 200 * 1024;
    if (capability == 90) info.local_memory_max = std::max(info.local_memory, accepted_on_9_0);
  } else {
    info.architecture = pocl_architecture(info.api_version);
  }
  return info;
}

std::string build_identity(cl_device_id device) {
  const DeviceInfo info = describe(device, -1);
  const auto platform = get<cl_platform_id>(device, CL_DEVICE_PLATFORM);
  const std::string platform_version = query_text(cl().clGetPlatformInfo, platform, CL_PLATFORM_VERSION);
  return joined({"OpenCL", info.platform, platform_version, info.vendor, info.name, info.api_version, info.driver,
                 info.compiler, info.architecture},
                "|");
}

}  // namespace axisloom::device::opencl
