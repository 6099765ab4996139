/* What a stranger's first program in C does: transpose an array, reduce it by a plan, and read an error. */
#include <axisloom/axisloom.h>

#include <stdio.h>
#include <string.h>

enum { rows = 2, columns = 3 };

static float matrix[rows][columns] = {{1, 2, 3}, {4, 5, 6}};
static int64_t shape[] = {rows, columns};
static const DLDataType float32 = {kDLFloat, 32, 1};

/* A row-major tensor in host memory. */
static DLTensor tensor(void* data, int32_t ndim, int64_t* extents) {
  DLTensor made = {0};
  made.data = data;
  made.device.device_type = kDLCPU;
  made.ndim = ndim;
  made.dtype = float32;
  made.shape = extents;
  return made;
}

static axl_status transpose(void) {
  axl_operation operation = {0};
  float turned[columns][rows];
  int64_t turned_shape[] = {columns, rows};
  DLTensor in = tensor(matrix, 2, shape), out = tensor(turned, 2, turned_shape);
  const DLTensor* inputs[] = {&in};
  axl_status status;
  operation.name = "transpose";
  status = axl_run(&operation, inputs, 1, &out, NULL);
  if (status != AXL_OK) fprintf(stderr, "%s\n", axl_last_error());
  return status == AXL_OK && turned[2][1] != matrix[1][2] ? AXL_INTERNAL : status;
}

static axl_status sum_of_columns(void) {
  axl_option options[] = {{"axes", "0"}};
  axl_operation operation = {0};
  float sums[columns];
  int64_t sums_shape[] = {columns};
  DLTensor in = tensor(matrix, 2, shape), out = tensor(sums, 1, sums_shape);
  const DLTensor* inputs[] = {&in};
  axl_plan* plan = NULL;
  axl_status status;
  operation.name = "sum";
  operation.options = options;
  operation.option_count = 1;
  axl_plan_options plan_options = {0};
  plan_options.size = sizeof plan_options;
  plan_options.candidate = "plain";
  status = axl_plan_create_with(&operation, inputs, 1, &out, 0, NULL, &plan_options, &plan);
  if (status == AXL_OK) status = axl_plan_run(plan, inputs, 1, &out);
  axl_plan_free(plan);
  return status == AXL_OK && sums[2] != matrix[0][2] + matrix[1][2] ? AXL_INTERNAL : status;
}

static axl_status ask_for_the_shape(void) {
  const char* pattern[] = {"h w -> w h 1"};
  axl_operation operation = {0};
  DLTensor in = tensor(NULL, 2, shape);
  const DLTensor* inputs[] = {&in};
  axl_array_type result;
  axl_status status;
  operation.name = "rearrange";
  operation.arguments = pattern;
  operation.argument_count = 1;
  status = axl_result(&operation, inputs, 1, &result);
  return status == AXL_OK && (result.ndim != 3 || result.shape[0] != columns) ? AXL_INTERNAL : status;
}

static axl_status misspell(void) {
  axl_operation operation = {0};
  DLTensor in = tensor(matrix, 2, shape);
  const DLTensor* inputs[] = {&in};
  operation.name = "transposed";
  return axl_run(&operation, inputs, 1, &in, NULL);
}

int main(void) {
  if (transpose() != AXL_OK || sum_of_columns() != AXL_OK || ask_for_the_shape() != AXL_OK) return 1;
  if (misspell() != AXL_USAGE || !strstr(axl_last_error(), "transposed")) return 1;
  printf("axisloom %s refuses: %s\n", axl_version(), axl_last_error());
  return 0;
}
