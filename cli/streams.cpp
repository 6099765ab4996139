// Standard input and output pass through a temporary file: readers and writers of formats need to seek.
#include "streams.hpp"

#include "io/file.hpp"
#include "messages.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

namespace axisloom::cli {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (fs::temp_directory_path() / "axisloom-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw Error(Errc::file, fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)),
                  "set TMPDIR to a folder that can be written");
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

File open_file(const std::string& path, const char* mode) {
  File file(std::fopen(path.c_str(), mode), std::fclose);
  if (!file)
    throw Error(Errc::file, fmt::format("cannot open {}: {}", path, std::strerror(errno)),
                "check the folder and its rights");
  return file;
}

void pour(std::FILE* from, std::FILE* to, const char* what) {
  std::array<char, 1 << 16> block;
  while (const std::size_t got = std::fread(block.data(), 1, block.size(), from)) {
    if (std::fwrite(block.data(), 1, got, to) != got)
      throw Error(Errc::file, fmt::format("cannot write {}: {}", what, std::strerror(errno)), "make room for it");
  }
  if (std::ferror(from) != 0)
    throw Error(Errc::file, fmt::format("cannot read {}: {}", what, std::strerror(errno)), "check where it comes from");
}

}  // namespace

io::HostArray read_file(const std::string& path, io::ReadOptions options) {
  if (path != "-") return io::read(path, options);
  if (options.format.empty()) options.format = "npy";
  const TemporaryFolder folder;
  const std::string file = folder.file("standard-input");
  {
    const File copy = open_file(file, "wb");
    pour(stdin, copy.get(), "standard input");
    if (std::fflush(copy.get()) != 0)
      throw Error(Errc::file, fmt::format("cannot keep standard input: {}", std::strerror(errno)),
                  "make room in TMPDIR");
  }
  return io::read(file, options);
}

void write_file(const std::string& path, const io::HostArray& array, const std::string& format) {
  const InterruptsHeld held;
  if (path != "-") return io::write(path, array, format);
  const TemporaryFolder folder;
  const std::string file = folder.file("standard-output");
  io::write(file, array, format.empty() ? "npy" : format);
  const File written = open_file(file, "rb");
  pour(written.get(), stdout, "standard output");
}

bool is_image_file(const std::string& path, const std::string& format) {
  std::string extension = fs::path(path).extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  for (const io::Format& known : io::formats()) {
    const bool matches = format.empty() ? std::find(known.extensions.begin(), known.extensions.end(), extension) !=
                                              known.extensions.end()
                                        : known.name == format;
    if (matches) return known.name != "npy" && known.name != "raw";
  }
  return false;
}

std::string format_names(bool io::Format::*ability) {
  std::string names;
  for (const io::Format& format : io::formats())
    if (format.*ability) names += fmt::format("{}{}", names.empty() ? "" : "|", format.name);
  return names;
}

}  // namespace axisloom::cli
