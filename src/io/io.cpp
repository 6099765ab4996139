// Which format a file has, the table of all formats, and memory for what is read.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>

#include "core/host_memory.hpp"
#include "core/text.hpp"
#include "io/codec.hpp"

namespace axisloom::io {

namespace {

struct Codec {
  Format format;
  Reader* read;
  Writer* write;                          // null when the format is only read
  Check* check;                           // null when it holds every array
  bool (*begins)(std::string_view head);  // whether a file starts as this format does; null when any may
  std::vector<std::string> (*names)(const InputFile& file) = nullptr;  // of its arrays; null: it is one
};

#ifdef AXISLOOM_PICTURES
bool begins_npz(std::string_view head) {
  return head.starts_with("PK\3\4") || head.starts_with("PK\5\6");  // the latter holds nothing
}
bool begins_png(std::string_view head) {
  return head.starts_with("\x89PNG\r\n\x1a\n");
}
bool begins_jpeg(std::string_view head) {
  return head.starts_with("\xff\xd8\xff");
}
#endif
bool begins_pnm(std::string_view head) {
  return head.size() > 2 && head[0] == 'P' && head[1] >= '1' && head[1] <= '6' &&
         (head[2] == '#' || std::isspace(u8(head[2])));
}
bool begins_pam(std::string_view head) {
  return head.starts_with("P7\n");
}

std::span<const Codec> codecs() {
  static const Codec table[] = {
      {{"npy", {".npy"}, true, true, false}, read_npy, write_npy, check_npy, begins_npy},
      {{"raw", {".raw", ".bin"}, true, true, false}, read_raw, write_raw, nullptr, nullptr},
#ifdef AXISLOOM_PICTURES
      {{"npz", {".npz"}, true, false, false}, read_npz, nullptr, nullptr, begins_npz, names_in_npz},
      {{"png", {".png"}, true, true, true, true}, read_png, write_png, check_png, begins_png},
      {{"jpeg", {".jpg", ".jpeg"}, true, true, true, true, true}, read_jpeg, write_jpeg, check_jpeg, begins_jpeg},
#endif
      {{"pnm", {".pnm", ".pgm", ".ppm", ".pbm"}, true, true, true}, read_pnm, write_pnm, check_pnm, begins_pnm},
      {{"pam", {".pam"}, true, true, true}, read_pnm, write_pam, check_pam, begins_pam},
  };
  return table;
}

std::string known_extensions(bool writing) {
  std::string text;
  for (const Codec& codec : codecs()) {
    if (writing && !codec.write) continue;
    for (const std::string_view extension : codec.format.extensions) text.append(text.empty() ? "" : " ") += extension;
  }
  return text;
}

const Codec& codec_named(std::string_view wanted) {
  for (const Codec& codec : codecs())
    if (codec.format.name == wanted) return codec;
  throw Error(Errc::usage, fmt::format("no file format is called {}", in_quotes(wanted)),
              "use " + joined(formats(), ", ", &Format::name));
}

const Codec* codec_of_extension(const std::string& extension) {
  for (const Codec& codec : codecs())
    if (std::ranges::count(codec.format.extensions, extension) > 0) return &codec;
  return nullptr;
}

const Codec* codec_of_content(std::string_view head) {
  for (const Codec& codec : codecs())
    if (codec.begins && codec.begins(head)) return &codec;
  return nullptr;
}

/// The format asked for, else that of the extension, else that of the content; refuses content of another format.
const Codec& codec_to_read(const InputFile& file, const std::string& wanted) {
  const std::string head = file.head(kMostMagic);
  const Codec* found = codec_of_content(head);
  const Codec* claimed = wanted.empty() ? codec_of_extension(extension_of(file.path())) : &codec_named(wanted);
  if (!claimed && !found)
    file.fail("format", "neither the extension nor the content tells it",
              fmt::format("name it with --input-format, or use one of the extensions {}", known_extensions(false)));
  if (!claimed) return *found;
  if (claimed->begins && !claimed->begins(head)) {
    const std::string content = head.empty() ? "the file is empty"
                                : found      ? fmt::format("the content is {}", found->format.name)
                                             : fmt::format("the content starts with {}", in_quotes(head));
    file.fail(
        "format",
        fmt::format("{} by {}, but {}", claimed->format.name, wanted.empty() ? "its extension" : "request", content),
        found ? fmt::format("read it as {} with --input-format", found->format.name) : "");
  }
  return *claimed;
}

/// The format asked for, else that of the extension.
const Codec& codec_to_write(const std::string& path, std::string_view format) {
  const std::string extension = extension_of(path);
  const Codec* codec = format.empty() ? codec_of_extension(extension) : &codec_named(format);
  if (!codec)
    fail(path, "format", fmt::format("no format is known for the extension {}", in_quotes(extension)),
         fmt::format("name it with --output-format, or use one of the extensions {}", known_extensions(true)));
  if (!codec->write)
    fail(path, "format", fmt::format("{} is only read, not written", codec->format.name),
         fmt::format("name another with --output-format, or use one of the extensions {}", known_extensions(true)));
  return *codec;
}

/// Refuses views that reach outside their memory.
void check_extent(const HostArray& array) {
  validate(array.view, "array");
  const auto elements = i64(array.bytes / size_of(array.view.dtype));
  if (array.view.bounds().high > elements && array.view.count() > 0)
    throw Error(Errc::usage,
                fmt::format("{} reaches outside its {} bytes of memory", to_string(array.view), array.bytes));
}

}  // namespace

bool begins_npy(std::string_view head) {
  return head.starts_with("\x93NUMPY");
}

std::string extension_of(const std::string& path) {
  return core::lower_case(std::filesystem::path(path).extension().string());
}

HostArray HostArray::allocate(const View& view) {
  const Bounds bounds = view.bounds();
  if (bounds.low < 0)
    throw Error(Errc::usage, fmt::format("{} starts before its memory", to_string(view)), "raise the view's offset");
  const auto elements = size_t(std::max<i64>(bounds.high, 0));
  if (elements > std::numeric_limits<std::ptrdiff_t>::max() / size_of(view.dtype))
    throw Error(Errc::out_of_memory, fmt::format("{} does not fit in host memory", to_string(view)));
  HostArray array;
  array.view = view;
  array.view.align = core::host_alignment;
  array.bytes = elements * size_of(view.dtype);
  void* const memory = core::allocate_host(std::max<size_t>(array.bytes, 1));
  if (!memory)
    throw Error(Errc::out_of_memory,
                fmt::format("cannot allocate {} bytes of host memory for {}", array.bytes, to_string(view)));
  array.memory = std::shared_ptr<std::byte>(static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); });
  return array;
}

HostArray allocate_for(const std::string& path, const View& view) {
  const auto bytes = size_t(view.count()) * size_of(view.dtype);
  if (const size_t most = memory_of_machine(); bytes > most)
    throw Error(Errc::out_of_memory,
                fmt::format("{}: {} needs {} bytes, and there are {} of memory in all", printable(path),
                            to_string(view), bytes, most),
                "do it in parts");
  return HostArray::allocate(view);
}

size_t memory_of_machine() {
  const auto of_machine = size_t(::sysconf(_SC_PHYS_PAGES)) * size_t(::sysconf(_SC_PAGESIZE));
  // Of a container; elsewhere there is no such file, or it says "max".
  size_t of_container = of_machine;
  for (const char* limit : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
    size_t bytes = 0;
    if (std::ifstream(limit) >> bytes) of_container = std::min(of_container, bytes);
  }
  return of_container;
}

HostArray read(const InputFile& file, const ReadOptions& options) {
  return codec_to_read(file, options.format).read(file, options);
}

HostArray read(const std::string& path, const ReadOptions& options) {
  return read(InputFile(path), options);
}

std::vector<std::string> arrays_in(const InputFile& file, const std::string& format) {
  const Codec& codec = codec_to_read(file, format);
  return codec.names ? codec.names(file) : std::vector<std::string>{""};
}

const Format& format_of(const InputFile& file, const std::string& wanted) {
  return codec_to_read(file, wanted).format;
}

const Format& format_to_write(const std::string& path, std::string_view format) {
  return codec_to_write(path, format).format;
}

void check_writable(const std::string& path, const View& view, std::string_view format) {
  const Codec& codec = codec_to_write(path, format);
  if (codec.check) codec.check(path, view);
}

void write(OutputFile& file, const HostArray& array, const WriteOptions& options) {
  check_writable(file.path(), array.view, options.format);
  check_extent(array);
  codec_to_write(file.path(), options.format).write(file, array, options);
}

void write(const std::string& path, const HostArray& array, const WriteOptions& options) {
  check_writable(path, array.view, options.format);
  OutputFile file(path);
  write(file, array, options);
  file.commit();
}

std::span<const Format> formats() {
  static const std::vector<Format> list = [] {
    std::vector<Format> all;
    for (const Codec& codec : codecs()) all.push_back(codec.format);
    return all;
  }();
  return list;
}

}  // namespace axisloom::io
