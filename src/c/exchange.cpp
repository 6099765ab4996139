// Exchanges for C: each function is a call of the C++ interface behind a guard.
#include <axisloom/communicator.hpp>
#include <axisloom/exchange.hpp>

#include "c/handles.hpp"
#include "c/redistribution.hpp"
#include "c/tensor.hpp"

#include <memory>
#include <optional>

using namespace axisloom;

struct axl_exchange {
  Exchange exchange;
  Device device;
};
struct axl_shared_output {
  SharedOutput output;
};

namespace axisloom::c {
namespace {

ExchangeOptions options_of(const axl_exchange_options* pointer) {
  ExchangeOptions options;
  const auto given = sized_copy(pointer, "the options have", "axl_exchange_options");
  if (given.workspace != 0) options.workspace = given.workspace;
  options.windows = given.no_windows == 0;
  return options;
}

axl_exchange_report report_of(const ExchangeReport& report) {
  return {.size = sizeof(axl_exchange_report),
          .path = name(report.path).data(),  // a literal, which ends with a 0
          .reason = report.reason.c_str(),
          .not_direct = report.not_direct.c_str(),
          .rounds = report.rounds,
          .bytes_sent = report.bytes_sent,
          .bytes_received = report.bytes_received,
          .bytes_kept = report.bytes_kept,
          .workspace_bytes = report.workspace_bytes,
          .ranks = report.ranks};
}

axl_exchange& writable(axl_exchange* exchange) {
  return required(exchange, "the exchange");
}

}  // namespace
}  // namespace axisloom::c

using namespace axisloom::c;

axl_status axl_exchange_create(const axl_redistribution* plan, const DLTensor* in, const DLTensor* out,
                               const axl_communicator* ranks, const axl_device* device,
                               const axl_exchange_options* options, axl_exchange** exchange) {
  return guarded([&] {
    axl_exchange** const place = &required(exchange, "the exchange");
    const Redistribution& redistribution = required(plan, "the plan").plan;
    ExchangeOptions asked = options_of(options);
    asked.device = device_of(device);
    asked.in = array_of(in, the_input).view();
    if (out) asked.out = array_of(out, the_output).view();
    auto communicator = communicator_of(required(ranks, "the communicator"));
    *place = new axl_exchange{Exchange(redistribution, asked.in->dtype, std::move(communicator), asked), asked.device};
  });
}

axl_status axl_exchange_report_of(const axl_exchange* exchange, axl_exchange_report* report) {
  return guarded([&] {
    axl_exchange_report& place = required(report, "the report");
    const size_t size = sized_copy(report, "the report has", "axl_exchange_report").size;
    axl_exchange_report all = report_of(required(exchange, "the exchange").exchange.report());
    all.size = size;
    std::memcpy(&place, &all, std::min(size, sizeof all));
  });
}

axl_status axl_exchange_run(axl_exchange* pointer, const DLTensor* in, const DLTensor* out) {
  return guarded([&] {
    Exchange& exchange = writable(pointer).exchange;
    const void* const from = planned_host(exchange.in_view(), in, the_input);
    const void* const to = planned_host(exchange.out_view(), out, the_output);
    exchange.run(from, const_cast<void*>(to));
  });
}

axl_status axl_exchange_enqueue(axl_exchange* pointer, const axl_queue* queue, const DLTensor* in,
                                const DLTensor* out) {
  return guarded([&] {
    axl_exchange& given = writable(pointer);
    Exchange& exchange = given.exchange;
    const Buffer from = planned_buffer(given.device, exchange.in_view(), in, the_input);
    const Buffer to = planned_buffer(given.device, exchange.out_view(), out, the_output);
    exchange.run(required(queue, "the queue").queue, from, to);
  });
}

axl_status axl_exchange_share_output(axl_exchange* exchange, axl_shared_output** output) {
  return guarded([&] {
    axl_shared_output** const place = &required(output, "the shared output");
    *place = new axl_shared_output{writable(exchange).exchange.share_output()};
  });
}

void* axl_shared_output_data(const axl_shared_output* output) {
  return output ? output->output.data() : nullptr;
}

axl_status axl_exchange_run_shared(axl_exchange* pointer, const DLTensor* in, const axl_shared_output* output) {
  return guarded([&] {
    Exchange& exchange = writable(pointer).exchange;
    const void* const from = planned_host(exchange.in_view(), in, the_input);
    exchange.run(from, required(output, "the shared output").output);
  });
}

axl_status axl_exchange_enqueue_shared(axl_exchange* pointer, const axl_queue* queue, const DLTensor* in,
                                       const axl_shared_output* output) {
  return guarded([&] {
    axl_exchange& given = writable(pointer);
    const Buffer from = planned_buffer(given.device, given.exchange.in_view(), in, the_input);
    given.exchange.run(required(queue, "the queue").queue, from, required(output, "the shared output").output);
  });
}

void axl_shared_output_free(axl_shared_output* output) {
  delete output;
}

void axl_exchange_free(axl_exchange* exchange) {
  delete exchange;
}
