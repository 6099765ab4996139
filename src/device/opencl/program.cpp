// Building and loading OpenCL programs, their binaries, and the pool of kernel objects.
#include "device/opencl/program.hpp"

#include "device/opencl/describe.hpp"
#include "device/opencl/pocl.hpp"

#include <algorithm>
#include <charconv>

namespace axisloom::device::opencl {

namespace {

// Makes NVIDIA's build log tell registers and spills; the machine code is the same.
constexpr std::string_view nvidia_verbose = "-cl-nv-verbose";

std::string joined_options(const Context& context, const BuildRequest& request) {
  std::vector<std::string> options = request.options;
  if (is_nvidia(context.info)) options.emplace_back(nvidia_verbose);
  return joined(options, " ");
}

std::string build_log(const Context& context, cl_program program) {
  try {
    return query_text(cl().clGetProgramBuildInfo, program, context.device(), CL_PROGRAM_BUILD_LOG);
  } catch (const Error& error) {
    if (error.code() == Errc::device_lost) throw;
    return concat("(the build log cannot be read: ", error.what(), ")");
  }
}

cl_int compile(const Context& context, cl_program program, const std::string& options) {
  const cl_device_id device = context.device();
  return cl().clBuildProgram(program, 1, &device, options.c_str(), nullptr, nullptr);
}

std::string_view text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

int number_before(std::string_view text, std::string_view unit) {
  const size_t end = text.find(unit);
  if (end == text.npos) return -1;
  const size_t before = text.find_last_not_of("0123456789", end == 0 ? 0 : end - 1);
  const size_t begin = before == text.npos ? 0 : before + 1;
  int number = -1;
  std::from_chars(text.data() + begin, text.data() + end, number);
  return number;
}

}  // namespace

SharedProgram build_program(const SharedContext& context, const BuildRequest& request) {
  require_pocl_folder(context->info, "compile " + request.name);
  const char* source = request.source.c_str();
  const size_t length = request.source.size();
  ProgramHandle program(create(cl().clCreateProgramWithSource, context->get(), 1, &source, &length));
  const cl_int code = compile(*context, program, joined_options(*context, request));
  if (code != CL_SUCCESS) {
    std::string message = "cannot compile " + request.name;
    if (code == CL_BUILD_PROGRAM_FAILURE) message += ":\n" + build_log(*context, program) + "\n";
    throw call_error(cl().clBuildProgram.name, code, {.message = std::move(message)});
  }
  std::string log = build_log(*context, program);
  auto built = std::make_shared<KernelProgram>(context, std::move(program), request.name, std::move(log));
  if (request.resident == 0 || !is_nvidia(context->info)) return built;
  const std::string fitted = with_resident_groups(text_of(built->binary()), request.resident);
  const auto loaded = load_program(context, request, std::as_bytes(std::span(fitted)));
  return loaded ? loaded : built;
}

std::string with_resident_groups(std::string_view ptx, unsigned groups) {
  constexpr std::string_view group_size = "\n.reqntid";  // stands on a line of its own
  std::string text;
  for (size_t at = 0; at < ptx.size();) {
    const size_t end = std::min(ptx.find('\n', at + 1), ptx.size());
    text += ptx.substr(at, end - at);
    if (ptx.substr(at).starts_with(group_size)) text += concat("\n.minnctapersm ", groups);
    at = end;
  }
  return text;
}

SharedProgram load_program(const SharedContext& context, const BuildRequest& request,
                           std::span<const std::byte> binary) {
  if (binary.empty()) return nullptr;
  require_pocl_folder(context->info, "load " + request.name);
  const auto& entry = cl().clCreateProgramWithBinary;
  const cl_device_id device = context->device();
  const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
  const size_t length = binary.size();
  cl_int status = CL_SUCCESS;
  cl_int code = CL_SUCCESS;
  const char* failed = entry.name;
  ProgramHandle program(entry(context->get(), 1, &device, &length, &bytes, &status, &code));
  if (code == CL_SUCCESS) code = status;
  if (code == CL_SUCCESS) {
    failed = cl().clBuildProgram.name;
    code = compile(*context, program, joined_options(*context, request));
  }
  if (code == CL_SUCCESS) {
    std::string log = build_log(*context, program);
    return std::make_shared<KernelProgram>(context, std::move(program), request.name, std::move(log));
  }
  // Whatever speaks of the binary is a rejection; only a lack of memory or device is the caller's concern.
  if (classify(failed, code) == Errc::device) return nullptr;
  throw call_error(failed, code, {.message = "cannot load " + request.name});
}

std::vector<std::byte> KernelProgram::binary() const {
  return context_->guarded([&] {
    // A borrowed context may have several devices; a program then has a place for each, filled or not.
    const auto devices = query_list<cl_device_id>(cl().clGetProgramInfo, program_, CL_PROGRAM_DEVICES);
    const auto sizes = query_list<size_t>(cl().clGetProgramInfo, program_, CL_PROGRAM_BINARY_SIZES);
    const auto mine = size_t(std::ranges::find(devices, context_->device()) - devices.begin());
    std::vector<std::byte> bytes(mine < sizes.size() ? sizes[mine] : 0);
    if (bytes.empty()) return bytes;
    std::vector<void*> places(sizes.size(), nullptr);
    places[mine] = bytes.data();
    call(cl().clGetProgramInfo, program_, CL_PROGRAM_BINARIES, places.size() * sizeof(void*), places.data(), nullptr);
    return bytes;
  });
}

KernelAttributes KernelProgram::attributes(const std::string& kernel) {
  const Lease lease(*this, kernel);
  const auto get = [&](auto fallback, cl_kernel_work_group_info what) {
    return query_or(fallback, cl().clGetKernelWorkGroupInfo, lease.get(), context_->device(), what);
  };
  KernelAttributes result = attributes_from_log(log_, kernel);
  constexpr cl_ulong unknown = ~cl_ulong{0};  // becomes -1
  if (result.spilled_bytes < 0) result.spilled_bytes = int(get(unknown, CL_KERNEL_PRIVATE_MEM_SIZE));
  result.local_bytes = int(get(unknown, CL_KERNEL_LOCAL_MEM_SIZE));
  result.max_items = int(get(~size_t{0}, CL_KERNEL_WORK_GROUP_SIZE));
  return result;
}

KernelProgram::Lease::Lease(KernelProgram& program, const std::string& kernel) : program_(program) {
  {
    const std::lock_guard lock(program.mutex_);
    pool_ = &program.free_[kernel];
    if (!pool_->empty()) {
      kernel_.splice(kernel_.begin(), *pool_, pool_->begin());
      return;
    }
  }
  const auto& entry = cl().clCreateKernel;
  cl_int code = CL_SUCCESS;
  KernelHandle handle(entry(program.program_, kernel.c_str(), &code));
  if (code != CL_SUCCESS)
    throw call_error(entry.name, code, {.message = "cannot use kernel \"" + kernel + "\" of " + program.name_});
  const auto arguments = query<cl_uint>(cl().clGetKernelInfo, handle, CL_KERNEL_NUM_ARGS);
  kernel_.push_back({std::move(handle), arguments});
}

KernelProgram::Lease::~Lease() {
  const std::lock_guard lock(program_.mutex_);
  pool_->splice(pool_->begin(), kernel_);
}

KernelAttributes attributes_from_log(std::string_view log, std::string_view kernel) {
  KernelAttributes result;
  const std::string entry = concat("entry function '", kernel, "'");
  const size_t begin = log.find(entry);
  if (begin == log.npos) return result;
  const size_t end = log.find("entry function '", begin + entry.size());
  const std::string_view part = log.substr(begin, end == log.npos ? end : end - begin);
  result.registers = number_before(part, " registers");
  result.spilled_bytes = number_before(part, " bytes spill stores");
  return result;
}

}  // namespace axisloom::device::opencl
