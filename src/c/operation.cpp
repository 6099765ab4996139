// An operation in plain C text as a value of its own.
#include "c/operation.hpp"

#include "c/failure.hpp"

namespace axisloom::c {
namespace {

template <class T>
std::span<const T> list_of(const T* first, size_t count, const char* what) {
  if (count > 0) required(first, what);
  return {first, count};
}

std::string required_text(const char* text, const char* what) {
  return &required(text, what);
}

}  // namespace

Lengths lengths_of(const axl_length* lengths, size_t count) {
  Lengths list;
  for (const axl_length& length : list_of(lengths, count, "the list of lengths"))
    list.emplace_back(required_text(length.name, "the name of a length"), length.value);
  return list;
}

Operation operation_of(const axl_operation* pointer) {
  const axl_operation& given = required(pointer, "the operation");
  Operation op{required_text(given.name, "the operation's name")};
  for (const char* argument : list_of(given.arguments, given.argument_count, "the list of arguments"))
    op.arguments.push_back(required_text(argument, "an argument"));
  op.lengths = lengths_of(given.lengths, given.length_count);
  for (const axl_option& option : list_of(given.options, given.option_count, "the list of options"))
    op.options.emplace_back(required_text(option.name, "the name of an option"), option.value ? option.value : "");
  return op;
}

}  // namespace axisloom::c
