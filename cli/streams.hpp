// Files by name, and "-" for standard input and output.
#pragma once

#include "io/file.hpp"

namespace axisloom::cli {

/// "-" is standard input.
io::InputFile open_input(const std::string& path);
/// As io::read. What is a large part of the machine's memory is mapped; should its file then become shorter, the
/// program ends with a message.
io::HostArray read_file(const io::InputFile& file, io::ReadOptions options = {});

/// Opens what results go to, before there are any; "-" is standard output.
std::unique_ptr<io::OutputFile> open_output(const std::string& path, io::OutputFile::Older older);
/// The format asked for; where none is, .npy for standard output, and elsewhere what the extension says.
std::string format_of_output(const std::string& path, const std::string& asked);

/// Makes a folder, and those above it, unless it is there; throws Error(file).
void make_folder(const std::string& folder);

/// "npy|raw|png" of the formats with that ability.
std::string format_names(bool io::Format::*ability);

}  // namespace axisloom::cli
