// Files by name, and "-" for standard input and output.
#pragma once

#include "io/io.hpp"

#include <string>

namespace axisloom::cli {

/// As io::read; "-" takes standard input, .npy unless the options name another format.
io::HostArray read_file(const std::string& path, io::ReadOptions options);
/// As io::write, with interrupts held; "-" writes to standard output, .npy unless a format is given.
void write_file(const std::string& path, const io::HostArray& array, const std::string& format);

/// Whether a file holds a picture, by the format given, else by its extension.
bool is_image_file(const std::string& path, const std::string& format);
/// "npy|raw|png" of the formats with that ability.
std::string format_names(bool io::Format::*ability);

}  // namespace axisloom::cli
