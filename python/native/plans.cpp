#include "native/plans.hpp"

#include "native/streams.hpp"

#include <axisloom/error.hpp>

#include <cstring>
#include <string>
#include <unordered_map>

namespace axisloom::python {
namespace {

// Kinds of calls that are remembered; when there are more, all are forgotten. A program has some hundred at most.
constexpr std::size_t most_asked = 4096;
// Ways in which outputs of one kind of call lie: NumPy's memory is aligned to 16 bytes or to more, by chance.
constexpr std::size_t most_outputs = 16;

/// A call as bytes.
class Key {
 public:
  void clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }

  void add(std::string_view text) {
    add(text.size());
    bytes_.append(text);
  }
  template <class Number>
  void add(Number number) requires std::is_arithmetic_v<Number> {
    bytes_.append(reinterpret_cast<const char*>(&number), sizeof number);
  }
  void add(const View& view) {
    add(std::uint8_t(view.dtype));
    add(std::uint8_t(view.rank()));
    add(std::uint16_t(view.align));
    add(view.offset);
    bytes_.append(reinterpret_cast<const char*>(view.shape.begin()), sizeof(std::int64_t) * std::size_t(view.rank()));
    bytes_.append(reinterpret_cast<const char*>(view.strides.begin()), sizeof(std::int64_t) * std::size_t(view.rank()));
  }

 private:
  std::string bytes_;
};

std::string_view device_text(const Call& call) {
  if (!call.device || call.device == Py_None) return {};
  return text_of(call.device, "device=");
}

void write_key(Key& key, const Call& call, const Operands& operands) {
  key.clear();
  key.add(call.name);
  key.add(call.arguments.size());
  for (const std::string_view argument : call.arguments) key.add(argument);
  key.add(call.lengths.size());
  for (const auto& [name, length] : call.lengths) key.add(name), key.add(length);
  key.add(call.options.size());
  for (const auto& [name, value] : call.options) key.add(name), key.add(value);
  key.add(device_text(call));
  key.add(operands.device().impl().get() ? std::uintptr_t(operands.device().impl().get()) : 0);
  for (const Operand& operand : operands) key.add(operand.view());
}

std::vector<View> views_of(const Operands& operands) {
  std::vector<View> views;
  for (const Operand& operand : operands) views.push_back(operand.view());
  return views;
}

/// Arrays on a device stay there; those of the host go to the one that is named, or that has the result first.
Device device_for_call(const Call& call, const Operation& op, const Operands& operands, std::span<const View> views) {
  const std::string_view named = device_text(call);
  if (!operands.on_host()) {
    if (!named.empty() && named != operands.device().info().spec())
      throw Error(Errc::usage, "device= is \"" + std::string(named) + "\", but the array lies on " +
                                   operands.device().info().spec() + ": take it there first");
    return operands.device();
  }
  return named.empty() ? device_for(op, views) : device_named(named);
}

Asked ask(const Call& call, const Operands& operands) {
  Asked asked;
  asked.op = operation_of(call);
  const std::vector<View> views = views_of(operands);
  asked.result = result_view(asked.op, views);
  asked.device = device_for_call(call, asked.op, operands, views);
  asked.on_host = asked.device.info().api == Api::host;
  return asked;
}

}  // namespace

Operation operation_of(const Call& call) {
  Operation op;
  op.name = call.name;
  for (const std::string_view argument : call.arguments) op.arguments.emplace_back(argument);
  for (const auto& [name, length] : call.lengths) op.lengths.emplace_back(name, length);
  for (const auto& [name, value] : call.options) op.options.emplace_back(name, value);
  return op;
}

const Remembered& Asked::plan_for(const Operands& operands, const Operand& output) {
  for (const auto& [view, plan] : plans_)
    if (view == output.view()) return plan;
  if (plans_.size() == most_outputs) plans_.clear();
  std::vector<View> views = views_of(operands);
  views.push_back(output.view());
  Plan made = plan(op, views, device);
  const std::int64_t bytes = made.report().bytes_moved;
  return plans_.emplace_back(output.view(), Remembered{std::move(made), bytes}).second;
}

Asked& asked_for(const Call& call, const Operands& operands) {
  // Only one thread at a time has the interpreter's lock, and it is not given up in here.
  static auto& remembered = *new std::unordered_map<std::string, Asked>;
  static auto& key = *new Key;
  write_key(key, call, operands);
  const auto found = remembered.find(key.bytes());
  if (found != remembered.end()) return found->second;
  const std::string bytes = key.bytes();
  Asked asked = ask(call, operands);
  if (remembered.size() >= most_asked) remembered.clear();
  return remembered.insert_or_assign(bytes, std::move(asked)).first->second;
}

}  // namespace axisloom::python
