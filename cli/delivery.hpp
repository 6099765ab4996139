// Where the result of an operation goes: to a file, or, as text, to standard output.
#pragma once

#include "harness/arguments.hpp"

#include "io/file.hpp"

namespace axisloom::cli {

using harness::Texts;
using Older = io::OutputFile::Older;

class Delivery {
 public:
  /// Opens the output; an empty one is standard output, as text, and "-" the same, as .npy. What cannot be written is
  /// said before any work.
  Delivery(const std::string& output, const std::string& format, Older older, std::optional<int> quality);

  /// What the result becomes; null: text.
  const io::Format* becomes() const;
  /// Refuses what the format does not hold, and too much to be printed.
  void require(const View& result) const;
  void deliver(const io::HostArray& result);

 private:
  std::string format_;
  int quality_ = io::WriteOptions().quality;
  std::unique_ptr<io::OutputFile> file_;  // null: standard output, as text
};

/// Whether an output is a folder: it is there, or its name ends in a slash.
bool is_folder(const std::string& output);
/// The files in a folder, made if need be, that results go to: of the inputs' names, and of their extensions unless a
/// format is given. Refuses names that meet, and files that are inputs.
Texts outputs_in(const std::string& folder, const Texts& inputs, const std::string& format);

}  // namespace axisloom::cli
