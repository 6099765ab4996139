// Making, wrapping and borrowing OpenCL buffers.
#include "device/opencl/memory.hpp"

#include "core/host_memory.hpp"
#include "device/opencl/describe.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace axisloom::device::opencl {

namespace {

// Even an empty buffer needs a cl_mem, and OpenCL has none of size 0.
size_t at_least_one(size_t bytes) {
  return std::max<size_t>(bytes, 1);
}

constexpr size_t page = 4096;  // more alignment is of no use

[[noreturn]] void refuse_allocation(const Context& context, const char* name, cl_int code, size_t bytes) {
  const bool too_large = bytes > context.info.max_allocation;
  throw call_error(name, code,
                   {.message = concat("cannot allocate ", bytes, " bytes; the device's largest buffer ",
                                      "(CL_DEVICE_MAX_MEM_ALLOC_SIZE) is ", context.info.max_allocation,
                                      " bytes and its memory ", context.info.global_memory, " bytes"),
                    .remedy = too_large ? "split the array over several buffers" : "free other buffers first"});
}

// NVIDIA's driver grants any size, even 2^64 - 1 bytes, and fails only when the buffer is used.
void require_within_limit(const Context& context, size_t bytes) {
  if (bytes <= context.info.max_allocation) return;
  refuse_allocation(context, cl().clCreateBuffer.name, CL_INVALID_BUFFER_SIZE, bytes);
}

MemoryHandle create_buffer(const Context& context, cl_mem_flags flags, size_t bytes, void* host) {
  require_within_limit(context, bytes);
  const auto& entry = cl().clCreateBuffer;
  cl_int code = CL_SUCCESS;
  MemoryHandle memory(entry(context.get(), flags, at_least_one(bytes), host, &code));
  if (code != CL_SUCCESS) refuse_allocation(context, entry.name, code, bytes);
  return memory;
}

void CL_CALLBACK free_host_memory(cl_mem, void* host) {
  std::free(host);
}

// The memory is freed by the runtime's callback, since commands may still use it when our last handle goes.
SharedBuffer allocate_in_place(const SharedContext& context, size_t bytes) {
  require_within_limit(*context, bytes);
  std::unique_ptr<void, decltype(&std::free)> host(core::allocate_host(at_least_one(bytes)), std::free);
  if (!host) refuse_allocation(*context, cl().clCreateBuffer.name, CL_OUT_OF_HOST_MEMORY, bytes);
  MemoryHandle memory = create_buffer(*context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, host.get());
  call(cl().clSetMemObjectDestructorCallback, memory, free_host_memory, host.get());
  void* const address = host.release();
  return std::make_shared<MemoryObject>(
      context, std::move(memory),
      MemoryObject::Traits{.bytes = bytes, .alignment = core::host_alignment, .host = address});
}

void* map_all(cl_command_queue queue, cl_mem memory, size_t bytes) {
  return create(cl().clEnqueueMapBuffer, queue, memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE, size_t{0}, bytes, 0,
                nullptr, nullptr);
}

QueueHandle create_queue(const Context& context) {
  return QueueHandle(
      create(cl().clCreateCommandQueue, context.get(), context.device(), cl_command_queue_properties{0}));
}

}  // namespace

MemoryObject::~MemoryObject() {
  if (!traits_.mapped || forked()) return;
  // The runtime frees the memory after the unmap, and that waits for every use; should it fail, there is nothing to
  // repair, but the uses must still be over.
  const auto count = cl_uint(waits_.size());
  const cl_int code = cl().clEnqueueUnmapMemObject(unmap_queue_, memory_, traits_.host, count,
                                                   count ? waits_.data() : nullptr, nullptr);
  if (code != CL_SUCCESS && count) cl().clWaitForEvents(count, waits_.data());
}

Location MemoryObject::location() const noexcept {
  if (traits_.location) return *traits_.location;
  if (traits_.host) return {nullptr, reinterpret_cast<std::uintptr_t>(traits_.host)};
  return {memory_, 0};
}

void MemoryObject::map() {
  traits_.host = map_all(unmap_queue_, memory_, at_least_one(traits_.bytes));
  traits_.alignment = core::alignment_of(traits_.host, page);
  traits_.mapped = true;
}

void MemoryObject::keep_mapped_until(SharedEvent event) {
  const std::lock_guard lock(mutex_);
  uses_.reserve(uses_.size() + 1);
  waits_.reserve(uses_.size() + 1);
  std::erase_if(uses_, [](const SharedEvent& use) {
    constexpr cl_event_info status = CL_EVENT_COMMAND_EXECUTION_STATUS;
    const auto native = static_cast<cl_event>(use->native());
    return query_or<cl_int>(CL_QUEUED, cl().clGetEventInfo, native, status) <= CL_COMPLETE;
  });
  uses_.push_back(std::move(event));
  waits_.clear();
  for (const SharedEvent& use : uses_) waits_.push_back(static_cast<cl_event>(use->native()));
}

SharedBuffer allocate_memory(const SharedContext& context, size_t bytes) {
  if (context->info.unified_memory) return allocate_in_place(context, bytes);
  return std::make_shared<MemoryObject>(
      context, create_buffer(*context, CL_MEM_READ_WRITE, bytes, nullptr),
      MemoryObject::Traits{.bytes = bytes, .alignment = context->info.base_alignment});
}

SharedBuffer allocate_staging_memory(const SharedContext& context, size_t bytes) {
  if (context->info.unified_memory) return allocate_in_place(context, bytes);
  auto staging = std::make_shared<MemoryObject>(
      context, create_buffer(*context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, bytes, nullptr),
      MemoryObject::Traits{.bytes = bytes}, create_queue(*context));
  staging->map();
  return staging;
}

SharedBuffer wrap_memory(const SharedContext& context, void* host, size_t bytes) {
  if (!context->info.unified_memory) return nullptr;
  if (!host && bytes) throw Error(Errc::usage, concat("cannot wrap ", bytes, " bytes at a null address"));
  const cl_mem_flags in_place = bytes ? CL_MEM_USE_HOST_PTR : 0;
  return std::make_shared<MemoryObject>(
      context, create_buffer(*context, CL_MEM_READ_WRITE | in_place, bytes, bytes ? host : nullptr),
      MemoryObject::Traits{.bytes = bytes, .alignment = core::alignment_of(host, page), .host = host});
}

SharedBuffer borrow_memory(const SharedContext& context, cl_mem memory, size_t bytes) {
  const auto refuse = [](const std::string& why) { throw Error(Errc::usage, "cannot borrow this cl_mem: " + why); };
  if (!memory) refuse("it is null");
  const auto& info = cl().clGetMemObjectInfo;
  cl_mem_object_type type = 0;
  const cl_int code = info(memory, CL_MEM_TYPE, sizeof type, &type, nullptr);
  if (code == CL_INVALID_MEM_OBJECT) refuse("it is none");
  check(info, code);
  if (type != CL_MEM_OBJECT_BUFFER) refuse("it is not a buffer");
  if (query<cl_context>(info, memory, CL_MEM_CONTEXT) != context->get()) refuse("it belongs to another context");
  const auto size = query<size_t>(info, memory, CL_MEM_SIZE);
  if (size < bytes) refuse(concat("it holds ", size, " bytes, fewer than the ", bytes, " named"));
  MemoryObject::Traits traits{.bytes = bytes};
  const auto begin = query<size_t>(info, memory, CL_MEM_OFFSET);
  if (const auto whole = query<cl_mem>(info, memory, CL_MEM_ASSOCIATED_MEMOBJECT)) traits.location = {whole, begin};
  // Host memory used in place is aligned as its address is, a sub-buffer as its offset is.
  traits.alignment = std::min(core::alignment_of(begin, page), reported_alignment(context->device()));
  if (query<cl_mem_flags>(info, memory, CL_MEM_FLAGS) & CL_MEM_USE_HOST_PTR) {
    auto* const host = query<void*>(info, memory, CL_MEM_HOST_PTR);
    traits.location = {nullptr, reinterpret_cast<std::uintptr_t>(host)};
    if (context->info.unified_memory) {
      traits.host = host;
      traits.alignment = core::alignment_of(host, page);
    }
  }
  return std::make_shared<MemoryObject>(context, retain<MemoryHandle>(cl().clRetainMemObject, memory), traits);
}

bool works_in_place(const SharedContext& context) {
  constexpr size_t bytes = core::host_alignment;
  constexpr unsigned char mark = 0xa5;
  const SharedBuffer buffer = allocate_in_place(context, bytes);
  auto* const memory = static_cast<cl_mem>(buffer->native());
  auto* const host = static_cast<unsigned char*>(buffer->host());
  std::memset(host, 0, bytes);
  const QueueHandle queue = create_queue(*context);
  call(cl().clEnqueueFillBuffer, queue, memory, &mark, sizeof mark, size_t{0}, bytes, 0, nullptr, nullptr);
  call(cl().clFinish, queue);
  const bool seen_without_map = std::all_of(host, host + bytes, [](unsigned char c) { return c == mark; });
  void* const mapped = map_all(queue, memory, bytes);
  call(cl().clEnqueueUnmapMemObject, queue, memory, mapped, 0, nullptr, nullptr);
  call(cl().clFinish, queue);
  return seen_without_map && mapped == host;
}

}  // namespace axisloom::device::opencl
