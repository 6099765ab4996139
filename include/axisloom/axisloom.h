/* The C interface of Axisloom, over DLPack's tensors. docs/c.md explains it.
 *
 * Every function that can fail returns an axl_status; what it gives comes through its last parameter, which is left as
 * it was when it fails. Nothing throws, prints or ends the process. A null pointer where none is allowed is refused
 * with AXL_USAGE. What is created here is given back by the axl_..._free of its type; what is borrowed stays yours.
 * All functions may be called from any thread, and one handle may be used by several threads at once. */
#ifndef AXISLOOM_AXISLOOM_H
#define AXISLOOM_AXISLOOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- DLPack ---
 * As dlpack.h of DLPack 1 declares them. A program that has dlpack.h, from 0.6 on, includes it before this header. */
#ifndef DLPACK_DLPACK_H_

/* Where memory lies; those that Axisloom can use. DLPack has more, which are refused. */
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3,
  kDLOpenCL = 4,
  kDLCUDAManaged = 13
} DLDeviceType;

/* A piece of memory's device. */
typedef struct {
  DLDeviceType device_type; /* where memory lies */
  int32_t device_id;        /* of CUDA the ordinal; of others it is not looked at */
} DLDevice;

/* Kinds of elements; those that Axisloom has. */
typedef enum { kDLInt = 0U, kDLUInt = 1U, kDLFloat = 2U, kDLBfloat = 4U, kDLComplex = 5U, kDLBool = 6U } DLDataTypeCode;

/* What an element is. */
typedef struct {
  uint8_t code;   /* a DLDataTypeCode */
  uint8_t bits;   /* of an element: 8 of a bool, 64 of a complex number of two floats */
  uint16_t lanes; /* 1; others are refused */
} DLDataType;

/* An array in memory that somebody else owns. */
typedef struct {
  void* data;           /* host memory, a CUdeviceptr or a cl_mem; null for an array without elements */
  DLDevice device;      /* where data lies */
  int32_t ndim;         /* 0 to 16 */
  DLDataType dtype;     /* of the elements */
  int64_t* shape;       /* ndim extents, slowest axis first; may be null where ndim is 0 */
  int64_t* strides;     /* ndim strides in elements, of any sign; null: row-major */
  uint64_t byte_offset; /* of element [0,...,0] from data */
} DLTensor;

/* The version that is declared here. */
#define DLPACK_MAJOR_VERSION 1
#define DLPACK_MINOR_VERSION 0 /* of 1.0 */
/* Bits of flags: the memory may only be read; it is a copy of the producer's. */
#define DLPACK_FLAG_BITMASK_READ_ONLY (1UL << 0UL)
#define DLPACK_FLAG_BITMASK_IS_COPIED (1UL << 1UL) /* the memory is a copy */

/* A version of DLPack. */
typedef struct {
  uint32_t major; /* other ones are refused */
  uint32_t minor; /* later ones add dtypes and devices */
} DLPackVersion;

/* What DLPack hands over: a tensor with its owner, whose deleter is called once by who has it last. The functions below
 * take DLTensor pointers, also those within these; include/axisloom/dlpack.hpp makes and takes them in C++. */
typedef struct DLManagedTensor {
  DLTensor dl_tensor;                            /* the tensor */
  void* manager_ctx;                             /* the owner's own */
  void (*deleter)(struct DLManagedTensor* self); /* frees all; may be null */
} DLManagedTensor;

/* The same from DLPack 1 on. */
typedef struct DLManagedTensorVersioned {
  DLPackVersion version;                                  /* of what follows */
  void* manager_ctx;                                      /* the owner's own */
  void (*deleter)(struct DLManagedTensorVersioned* self); /* frees all; may be null */
  uint64_t flags;                                         /* DLPACK_FLAG_BITMASK_... */
  DLTensor dl_tensor;                                     /* the tensor */
} DLManagedTensorVersioned;

#endif /* DLPACK_DLPACK_H_ */

/* --- Errors --- */

/* What a function that can fail returns: 0, or one of the codes below. */
typedef int32_t axl_status;
enum {
  AXL_OK = 0,
  AXL_USAGE = 1,          /* an invalid argument that is none of the next four */
  AXL_SHAPE = 2,          /* extents, strides, offsets or numbers of axes that no array has, or that do not match */
  AXL_DTYPE = 3,          /* a dtype that does not exist, or not here */
  AXL_AXIS = 4,           /* a number of an axis that the array does not have, or a list of axes that is none */
  AXL_PATTERN = 5,        /* a pattern that cannot be read, or whose names and lengths do not go together */
  AXL_OVERLAP = 6,        /* output and input share memory, or could */
  AXL_UNSUPPORTED = 7,    /* correct, but this device or build lacks a feature that it needs */
  AXL_NO_DEVICE = 8,      /* no device at all, or none of that name */
  AXL_FILE = 9,           /* a file that cannot be read or written, or is not what it claims */
  AXL_OUT_OF_MEMORY = 10, /* an allocation larger than the device or host grants */
  AXL_DEVICE = 11,        /* a call of a driver failed */
  AXL_DEVICE_LOST = 12,   /* the device, context or queue is gone; nothing on it can be used again */
  AXL_AFTER_FORK = 13,    /* the process forked after a device other than the host was opened */
  AXL_INTERNAL = -1       /* a fault of the library, worth a report */
};

/* "ok", "usage", "device_lost"; "unknown" for a number that is no status. */
const char* axl_status_name(axl_status status);
/* What the last call of this thread that failed had to say: operation, shapes, device and remedy in one text; empty
 * before the first. A call that succeeds leaves it. It is valid until the next call of this thread that fails. */
const char* axl_last_error(void);
/* The part of axl_last_error that says what can be done about it; may be empty. Valid as long. */
const char* axl_last_remedy(void);

/* Version of the library that runs, "MAJOR.MINOR.PATCH". */
const char* axl_version(void);

/* --- Operations --- */

/* The length of an axis that a pattern names. */
typedef struct {
  const char* name; /* of the axis */
  int64_t value;    /* its length */
} axl_length;

/* An option of an operation, without its dashes. */
typedef struct {
  const char* name;  /* "axes" */
  const char* value; /* null or empty for a flag */
} axl_option;

/* An operation as it would be typed. The text is read during a call and not kept.
 *   rearrange "n (c x) h w -> n c h w x" x=32     sum --axes 0,2 --keepdims
 * Each list may be null where its count is 0. */
typedef struct {
  const char* name;             /* "rearrange" */
  const char* const* arguments; /* patterns, layouts, axes */
  size_t argument_count;        /* of arguments */
  const axl_length* lengths;    /* of axes that a pattern names */
  size_t length_count;          /* of lengths */
  const axl_option* options;    /* as typed */
  size_t option_count;          /* of options */
} axl_operation;

enum { AXL_MAX_RANK = 16 /* largest number of axes */ };

/* What an array is, wherever it lies. */
typedef struct {
  DLDataType dtype;            /* of the elements */
  int32_t ndim;                /* number of axes */
  int64_t shape[AXL_MAX_RANK]; /* ndim extents; the rest is 0 */
} axl_array_type;

/* Dtype and shape of the result for inputs of these dtypes, shapes and strides; their data is not looked at. */
axl_status axl_result(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                      axl_array_type* result);

/* --- Devices and queues --- */

typedef struct axl_device axl_device; /* a device that is open */
typedef struct axl_queue axl_queue;   /* an in-order queue on one */
typedef struct axl_plan axl_plan;     /* an operation ready to run */
typedef struct axl_event axl_event;   /* a run that was queued */

/* specification: auto | cpu | gpu | cuda[:N] | opencl[:N] | opencl:NAME | host; null is auto. */
axl_status axl_device_open(const char* specification, axl_device** device);
/* A CUcontext, which must outlive all that is made with the device. */
axl_status axl_device_borrow_cuda(void* context, axl_device** device);
/* A cl_context and a cl_device_id, both retained. */
axl_status axl_device_borrow_opencl(void* context, void* id, axl_device** device);
/* "cuda:0 (NVIDIA H100)", valid as long as the device; null for null. */
const char* axl_device_label(const axl_device* device);
/* What was made with the device stays usable. */
void axl_device_free(axl_device* device);

/* A new in-order queue. */
axl_status axl_queue_create(const axl_device* device, axl_queue** queue);
/* The same, whose events tell how long their work took: see axl_event_seconds. */
axl_status axl_queue_create_timed(const axl_device* device, axl_queue** queue);
/* A CUstream of the caller (null: the default stream), which must outlive the queue, or a cl_command_queue, which is
 * retained, of this device's context. */
axl_status axl_queue_borrow(const axl_device* device, void* native, axl_queue** queue);
/* Returns when everything queued so far has finished, also when it fails. */
axl_status axl_queue_finish(const axl_queue* queue);
/* What was queued goes on. */
void axl_queue_free(axl_queue* queue);

/* --- Running --- */

/* One call for one thing, on arrays in host memory; returns when the output holds the result. Plans are remembered.
 * output: of the result's dtype and shape, strides as you like, apart from the inputs. device: null is the host. */
axl_status axl_run(const axl_operation* operation, const DLTensor* const* inputs, size_t count, const DLTensor* output,
                   const axl_device* device);

/* Checks, chooses and compiles for arrays like these, whose data is not looked at. output: null is row-major.
 * alignment: of the lowest address of every array that the plan will run on, a power of two in bytes; 0: they are
 * aligned as their elements are, complex numbers as their parts. device: null is the host. */
axl_status axl_plan_create(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                           const DLTensor* output, size_t alignment, const axl_device* device, axl_plan** plan);

enum { AXL_INDEX_AUTOMATIC = 0, AXL_INDEX_32 = 32, AXL_INDEX_64 = 64 };

/* What may be forced; what is 0 or null is chosen. Begin with all bytes 0, then set `size`: later versions may have
 * more members, and those beyond it count as 0. */
typedef struct {
  size_t size;                     /* sizeof(axl_plan_options) */
  const char* candidate;           /* this candidate or an error; null: the one with the lowest predicted time */
  const axl_length* configuration; /* values of tunables by name; may be null where its count is 0 */
  size_t configuration_count;      /* how many */
  int32_t index;                   /* AXL_INDEX_32 is refused where an offset might not fit */
  int32_t in_place;                /* not 0: output and input are the same bytes; square transposes only */
  int32_t checked;                 /* not 0: every access is checked against its bounds; slow, for tests */
} axl_plan_options;

/* The same with options; null: none. */
axl_status axl_plan_create_with(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                                const DLTensor* output, size_t alignment, const axl_device* device,
                                const axl_plan_options* options, axl_plan** plan);
/* "rows": the candidate that was chosen, "none" where there is nothing to do. Valid as long as the plan; null for null.
 */
const char* axl_plan_candidate(const axl_plan* plan);
/* Bytes of workspace that a run allocates from its queue's pool; 0 for moves. */
axl_status axl_plan_workspace(const axl_plan* plan, size_t* bytes);
/* Dtype and shape of a plan's result. */
axl_status axl_plan_result(const axl_plan* plan, axl_array_type* result);
/* On arrays in host memory, of the plan's dtypes, shapes and strides, and aligned as far; returns when the output holds
 * the result. */
axl_status axl_plan_run(const axl_plan* plan, const DLTensor* const* inputs, size_t count, const DLTensor* output);
/* Queues the work on arrays in the memory of the plan's device, and returns. They must live until it is done. */
axl_status axl_plan_enqueue(const axl_plan* plan, const axl_queue* queue, const DLTensor* const* inputs, size_t count,
                            const DLTensor* output);
/* The same, beginning after the events of other queues of the same device (null ones are done), and with an event of
 * its own. event: null where none is wanted. */
axl_status axl_plan_enqueue_after(const axl_plan* plan, const axl_queue* queue, const DLTensor* const* inputs,
                                  size_t count, const DLTensor* output, const axl_event* const* events,
                                  size_t event_count, axl_event** event);
/* Returns when the work has finished, also when it fails. */
axl_status axl_event_wait(const axl_event* event);
/* 1 when it has finished, else 0. */
axl_status axl_event_done(const axl_event* event, int32_t* done);
/* Seconds that it took by the device's own clock: of work that has finished, on a queue of axl_queue_create_timed. */
axl_status axl_event_seconds(const axl_event* event, double* seconds);
/* The work goes on. */
void axl_event_free(axl_event* event);
/* Runs that are queued go on; their device must outlive them. */
void axl_plan_free(axl_plan* plan);

/* --- Distributed arrays: who sends what to whom --- */

typedef struct axl_redistribution axl_redistribution; /* a rearrange of a distributed array, planned */
typedef struct axl_transfers axl_transfers;           /* what a rank sends, or what it receives */
typedef struct axl_copies axl_copies;                 /* copies that carry out a part of it */

enum { AXL_WHOLE = -1 /* in place of a rank: the whole array */ };

/* The shape of an array, or of a rank's part of it. */
typedef struct {
  int32_t ndim;                  /* number of axes */
  int64_t extents[AXL_MAX_RANK]; /* ndim of them, slowest axis first; the rest is 0 */
} axl_shape;

/* What one rank sends to one other. */
typedef struct {
  int32_t from;     /* the rank that sends */
  int32_t to;       /* the rank that receives; the same one: what it keeps */
  int64_t elements; /* of the message */
} axl_transfer;

/* The most that any rank has to do, without what it keeps. */
typedef struct {
  int64_t bytes_sent;        /* by the rank that sends most */
  int64_t bytes_received;    /* by the rank that receives most */
  int32_t messages_sent;     /* by the rank that sends the most messages */
  int32_t messages_received; /* by the rank that receives the most messages */
} axl_transfer_load;

/* A copy between two buffers, as the operation copy does it. Offsets and strides are in elements: in a local array from
 * its element [0,...,0], in a message from the start of its buffer. */
typedef struct {
  int32_t ndim;                       /* number of axes */
  int64_t extents[AXL_MAX_RANK];      /* ndim of them; the rest of this and of the strides is 0 */
  int64_t from_offset;                /* of the first element that is read */
  int64_t from_strides[AXL_MAX_RANK]; /* of what is read; 0 along an axis that repeats an element */
  int64_t to_offset;                  /* of the first element that is written */
  int64_t to_strides[AXL_MAX_RANK];   /* of what is written */
} axl_copy;

/* Plans "s@x h -> s h@x" on the mesh "x=4": docs/distributed.md has the notation. shape: ndim extents of the whole
 * input. Each rank makes the same plan, and asks for its own transfers. */
axl_status axl_redistribution_create(const char* pattern, const char* mesh, const int64_t* shape, int32_t ndim,
                                     const axl_length* lengths, size_t length_count, axl_redistribution** plan);
/* The number of ranks of its mesh. */
axl_status axl_redistribution_ranks(const axl_redistribution* plan, int32_t* ranks);
/* The shapes of a rank's local arrays, or of AXL_WHOLE; null where one is not wanted. */
axl_status axl_redistribution_shapes(const axl_redistribution* plan, int32_t rank, axl_shape* in, axl_shape* out);
/* How many ranks send a receiver addends of an element, which it adds up; 1 where nothing is added. */
axl_status axl_redistribution_addends(const axl_redistribution* plan, int32_t* addends);
/* Looks at every pair of ranks. */
axl_status axl_redistribution_load(const axl_redistribution* plan, DLDataType dtype, axl_transfer_load* load);
/* What a rank sends, in the order of receivers; what it keeps is among it. */
axl_status axl_redistribution_sends(const axl_redistribution* plan, int32_t rank, axl_transfers** transfers);
/* What it receives, in the order of senders. */
axl_status axl_redistribution_receives(const axl_redistribution* plan, int32_t rank, axl_transfers** transfers);
/* Transfers that were listed stay. */
void axl_redistribution_free(axl_redistribution* plan);

/* How many there are; 0 for null. */
size_t axl_transfers_count(const axl_transfers* transfers);
/* One of them, by its number from 0 on. */
axl_status axl_transfers_get(const axl_transfers* transfers, size_t number, axl_transfer* transfer);
/* Copies from the sender's local array to a message that begins at element `at` of its buffer. The tensor says how the
 * array lies; its data is not looked at, here and below. */
axl_status axl_transfers_pack(const axl_transfers* transfers, size_t number, const DLTensor* in, int64_t at,
                              axl_copies** copies);
/* Copies from there to the receiver's local array. */
axl_status axl_transfers_unpack(const axl_transfers* transfers, size_t number, const DLTensor* out, int64_t at,
                                axl_copies** copies);
/* Copies straight from the sender's local array to the receiver's, where the one reaches the memory of the other. */
axl_status axl_transfers_direct(const axl_transfers* transfers, size_t number, const DLTensor* in, const DLTensor* out,
                                axl_copies** copies);
/* Copies that were listed stay. */
void axl_transfers_free(axl_transfers* transfers);

/* How many there are; 0 for null. */
size_t axl_copies_count(const axl_copies* copies);
/* One of them, by its number from 0 on. */
axl_status axl_copies_get(const axl_copies* copies, size_t number, axl_copy* copy);
/* Gives the list back. */
void axl_copies_free(axl_copies* copies);

/* --- Distributed arrays on the move --- */

typedef struct axl_exchange axl_exchange;           /* a redistribution ready to be carried out */
typedef struct axl_shared_output axl_shared_output; /* an output that peers write into */

/* A message to another rank, or from it. Both sides give the same number of bytes. */
typedef struct {
  int32_t rank; /* the other one */
  void* data;   /* what is sent, which is only read; or where it is put */
  size_t bytes; /* its length */
} axl_message;

/* What an exchange asks of the engine that runs the ranks: of MPI axl_mpi_communicator of axisloom/mpi.h fills it in.
 * All ranks make the same calls in the same order, each from one thread at a time. A function that fails returns a
 * status other than AXL_OK. */
typedef struct axl_communicator {
  size_t size;                 /* sizeof(axl_communicator) */
  void* context;               /* given to each function */
  int32_t rank;                /* this one */
  int32_t ranks;               /* how many there are */
  int32_t takes_device_memory; /* not 0: messages may lie in memory of a CUDA device, by its addresses */
  /* What each rank gives, in the order of ranks; all give the same number of bytes. */
  axl_status (*allgather)(void* context, const void* mine, size_t bytes, void* all);
  /* Starts messages to and from any ranks but itself, at most one each way with each. What is started first between two
   * ranks comes first. Their memory stays with them until they are dropped. */
  axl_status (*start)(void* context, const axl_message* out, size_t out_count, const axl_message* in, size_t in_count,
                      void** messages);
  /* Returns when all have come that were to come, and the memory of those that were sent may be written. */
  axl_status (*wait)(void* context, void* messages);
  /* Called once for all that were started. Those that were not waited for are given up: nothing is written any more. */
  void (*drop)(void* context, void* messages);
  /* A communicator of the ranks that give the same number, in their order. Its release is called when it is done. */
  axl_status (*split)(void* context, int32_t group, struct axl_communicator* part);
  /* A window of memory of each rank, of so many bytes on this one, which all ranks reach. Null windows where they do
   * not reach each other's memory, and a null function where they never do; then the next three are not called. */
  axl_status (*share)(void* context, size_t bytes, void** windows);
  /* The window of a rank, as this one reaches it; begins at a multiple of 64 bytes. */
  axl_status (*window)(void* context, void* windows, int32_t rank, void** begin, size_t* bytes);
  /* Returns when all ranks have called it. What any wrote to a window before, all see afterwards. */
  axl_status (*barrier)(void* context, void* windows);
  /* All ranks let go of windows together. */
  void (*unshare)(void* context, void* windows);
  /* Gives the communicator back. May be null. */
  void (*release)(void* context);
  /* What the last function of this thread that failed had to say. May be null. */
  const char* (*error)(void* context);
} axl_communicator;

/* What may be asked of an exchange, the same on all ranks. Begin with all bytes 0, then set `size`, as of
 * axl_plan_options. */
typedef struct {
  size_t size;        /* sizeof(axl_exchange_options) */
  int64_t workspace;  /* most bytes that messages take at a time, each way; 0: 256 MiB */
  int32_t no_windows; /* not 0: messages even between ranks, or cards, that reach each other's memory */
} axl_exchange_options;

/* What was decided about an exchange, on this rank. Set `size` before it is asked for. Text is valid as long as the
 * exchange. */
typedef struct {
  size_t size;             /* sizeof(axl_exchange_report) */
  const char* path;        /* "local", "windows", "messages" */
  const char* reason;      /* why */
  const char* not_direct;  /* why there is no shared output; empty where there is */
  int64_t rounds;          /* of packing, sending and unpacking */
  int64_t bytes_sent;      /* to other ranks */
  int64_t bytes_received;  /* from other ranks */
  int64_t bytes_kept;      /* from its own input to its own output */
  int64_t workspace_bytes; /* for messages */
  int32_t ranks;           /* that exchange with each other */
} axl_exchange_report;

/* Makes a plan ready to be carried out by these ranks, as many as its mesh has. in, out: how the local arrays lie,
 * whose data is not looked at; out: null is row-major. device: null is the host. options: null are none. All ranks make
 * an exchange together, run it together and free it together. Before anything travels they compare what they ask for,
 * and where one cannot take part, it fails on all. The table is copied, its context must outlive the exchange, and its
 * release is left to the caller. One thread at a time uses an exchange. */
axl_status axl_exchange_create(const axl_redistribution* plan, const DLTensor* in, const DLTensor* out,
                               const axl_communicator* ranks, const axl_device* device,
                               const axl_exchange_options* options, axl_exchange** exchange);
/* What was decided. */
axl_status axl_exchange_report_of(const axl_exchange* exchange, axl_exchange_report* report);
/* From the local input to the local output, in host memory, which lie as the exchange was told. */
axl_status axl_exchange_run(axl_exchange* exchange, const DLTensor* in, const DLTensor* out);
/* The same in the memory of the exchange's device, in the order of the queue. Where messages go by way of the host, it
 * returns when all that other ranks have to do with is done, else when all is queued. */
axl_status axl_exchange_enqueue(axl_exchange* exchange, const axl_queue* queue, const DLTensor* in,
                                const DLTensor* out);
/* A row-major local output in memory that the peers reach, of the exchange's device. All ranks make it together. */
axl_status axl_exchange_share_output(axl_exchange* exchange, axl_shared_output** output);
/* Where its element [0,...,0] lies; null where this rank has no elements, and for null. */
void* axl_shared_output_data(const axl_shared_output* output);
/* Into the shared outputs of all ranks: nothing is packed. The peers leave them alone until the next run. */
axl_status axl_exchange_run_shared(axl_exchange* exchange, const DLTensor* in, const axl_shared_output* output);
/* The same between cards, in the order of the queue. */
axl_status axl_exchange_enqueue_shared(axl_exchange* exchange, const axl_queue* queue, const DLTensor* in,
                                       const axl_shared_output* output);
/* All ranks let go of it together, before they free the exchange. */
void axl_shared_output_free(axl_shared_output* output);
/* All ranks together. */
void axl_exchange_free(axl_exchange* exchange);

#ifdef __cplusplus
}
#endif

#endif /* AXISLOOM_AXISLOOM_H */
