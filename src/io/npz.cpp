// NumPy's .npz files: ZIP archives of .npy files, stored or deflated (PKWARE's APPNOTE 6.3.10, with ZIP64). Deflated
// ones go through zlib into a file without a name.
#include <unistd.h>
#include <zlib.h>

#include <algorithm>

#include "core/text.hpp"
#include "io/codec.hpp"

namespace axisloom::io {

namespace {

constexpr std::string_view kDirectoryEnd = "PK\5\6", kDirectoryEnd64 = "PK\6\6", kLocator64 = "PK\6\7";
constexpr std::string_view kDirectoryEntry = "PK\1\2", kLocalHeader = "PK\3\4", kArraysEnd = ".npy";
constexpr size_t kDirectoryEndBytes = 22, kLocator64Bytes = 20, kEnd64Bytes = 56, kEntryBytes = 46, kLocalBytes = 30;
constexpr size_t kLongestComment = 0xffff, kLongestDirectory = size_t{1} << 26;
constexpr u64 kIn64 = 0xffffffff;  // a number that stands in the extra field instead

/// Little-endian numbers in a piece of the file.
class Fields {
 public:
  Fields(const InputFile& file, std::string_view bytes) : file_(file), bytes_(bytes) {}

  u64 number(size_t at, size_t width) const {
    const std::string_view bytes = text(at, width);
    u64 value = 0;
    for (size_t i = width; i-- > 0;) value = value << 8 | u8(bytes[i]);
    return value;
  }
  std::string_view text(size_t at, size_t length) const {
    if (at > bytes_.size() || length > bytes_.size() - at) file_.fail("directory", "it ends too early");
    return bytes_.substr(at, length);
  }

 private:
  const InputFile& file_;
  std::string_view bytes_;
};

struct Member {
  std::string name;  // without .npy
  u64 method = 0, crc = 0, packed = 0, bytes = 0, header = 0;
};

std::string piece_of(const InputFile& file, u64 offset, u64 length) {
  if (offset > file.size() || length > file.size() - offset) file.fail("directory", "it points behind the file's end");
  std::string piece(size_t(length), '\0');
  file.read_at(size_t(offset), std::as_writable_bytes(std::span(piece)));
  return piece;
}

/// Where the directory begins, and how long it is.
std::pair<u64, u64> directory_of(const InputFile& file) {
  const size_t length = std::min(file.size(), kDirectoryEndBytes + kLongestComment);
  const std::string tail = piece_of(file, file.size() - length, length);
  const size_t at = tail.rfind(kDirectoryEnd);
  if (at == std::string::npos) file.fail("directory", "there is none", "the file is cut short: write it again");
  const Fields end(file, std::string_view(tail).substr(at));
  const std::pair<u64, u64> found{end.number(16, 4), end.number(12, 4)};
  if (at < kLocator64Bytes || !std::string_view(tail).substr(at - kLocator64Bytes).starts_with(kLocator64))
    return found;
  const Fields locator(file, std::string_view(tail).substr(at - kLocator64Bytes));
  const std::string end64 = piece_of(file, locator.number(8, 8), kEnd64Bytes);
  if (!end64.starts_with(kDirectoryEnd64)) file.fail("directory", "its end is not where it should be");
  const Fields fields(file, end64);
  return {fields.number(48, 8), fields.number(40, 8)};
}

/// Takes the numbers that are too large for 32 bits from the extra fields: those of `numbers` that say so, in order.
void read_extra(const Fields& entry, size_t at, size_t end, std::initializer_list<u64*> numbers) {
  constexpr u64 kZip64 = 1;
  while (at + 4 <= end) {
    const u64 kind = entry.number(at, 2), length = entry.number(at + 2, 2);
    size_t next = at + 4;
    if (kind == kZip64)
      for (u64* number : numbers)
        if (*number == kIn64) *number = entry.number(std::exchange(next, next + 8), 8);
    at += 4 + length;
  }
}

std::vector<Member> members_of(const InputFile& file) {
  const auto [begin, length] = directory_of(file);
  if (length > kLongestDirectory) file.fail("directory", fmt::format("{} bytes are too many", length));
  const std::string directory = piece_of(file, begin, length);
  const Fields fields(file, directory);
  std::vector<Member> members;
  for (size_t at = 0; at < directory.size();) {
    if (fields.text(at, kDirectoryEntry.size()) != kDirectoryEntry) file.fail("directory", "an entry is damaged");
    const size_t name = fields.number(at + 28, 2), extra = fields.number(at + 30, 2),
                 comment = fields.number(at + 32, 2);
    Member member{std::string(fields.text(at + kEntryBytes, name)),
                  fields.number(at + 10, 2),
                  fields.number(at + 16, 4),
                  fields.number(at + 20, 4),
                  fields.number(at + 24, 4),
                  fields.number(at + 42, 4)};
    const bool encrypted = (fields.number(at + 8, 2) & 1) != 0;
    if (encrypted) file.fail(printable(member.name), "is encrypted");
    read_extra(fields, at + kEntryBytes + name, at + kEntryBytes + name + extra,
               {&member.bytes, &member.packed, &member.header});
    at += kEntryBytes + name + extra + comment;
    if (!member.name.ends_with(kArraysEnd)) continue;
    member.name.resize(member.name.size() - kArraysEnd.size());
    members.push_back(std::move(member));
  }
  return members;
}

Member chosen(const InputFile& file, const std::string& wanted) {
  const std::vector<Member> members = members_of(file);
  const std::string names = joined(members, ", ", [](const Member& member) { return printable(member.name); });
  if (members.empty()) file.fail("arrays", "there are none");
  if (wanted.empty() && members.size() == 1) return members.front();
  if (wanted.empty())
    throw Error(Errc::usage, fmt::format("{} has {} arrays", printable(file.path()), members.size()),
                "name one with --array: " + names);
  const auto found = std::ranges::find(members, wanted, &Member::name);
  if (found == members.end())
    throw Error(Errc::usage, fmt::format("{} has no array {}", printable(file.path()), in_quotes(wanted)),
                "name one of " + names);
  return *found;
}

void require_crc(const InputFile& file, const Member& member, u64 crc) {
  if (crc != member.crc) file.fail(printable(member.name), "CRC error: the data are damaged");
}

u64 crc_of(const InputFile& part) {
  InputStream stream(part);
  uLong crc = ::crc32(0, nullptr, 0);
  for (std::span<const std::byte> block = stream.block(); !block.empty(); block = stream.block()) {
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(block.data()), uInt(block.size()));
    stream.take(block.size());
  }
  stream.require_good();
  return crc;
}

/// zlib's stream of deflated bytes without a header of its own.
struct Inflater {
  z_stream stream{};
  Inflater() {
    if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw Error(Errc::out_of_memory, "no memory for zlib");
  }
  ~Inflater() { ::inflateEnd(&stream); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

/// The bytes of a deflated member, in a file without a name.
InputFile inflated(const InputFile& file, const Member& member, const InputFile& packed) {
  const std::string name = printable(member.name);
  if (member.bytes / kDeflateRatio > member.packed)
    file.fail(name, fmt::format("{} bytes cannot be in {}", member.bytes, member.packed));
  const Descriptor kept(open_nameless());
  if (!kept) file.fail("read", fmt::format("cannot be kept: {}", system_message()));
  Inflater inflater;
  InputStream stream(packed);
  std::vector<std::byte> out(size_t{1} << 18);
  uLong crc = ::crc32(0, nullptr, 0);
  u64 total = 0;
  for (int state = Z_OK; state != Z_STREAM_END;) {
    const std::span<const std::byte> block = stream.block();
    stream.require_good();
    inflater.stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(block.data()));
    inflater.stream.avail_in = uInt(block.size());
    inflater.stream.next_out = reinterpret_cast<Bytef*>(out.data());
    inflater.stream.avail_out = uInt(out.size());
    state = ::inflate(&inflater.stream, Z_NO_FLUSH);
    stream.take(block.size() - inflater.stream.avail_in);
    const size_t made = out.size() - inflater.stream.avail_out;
    total += made;
    if ((state != Z_OK && state != Z_STREAM_END) || total > member.bytes)
      file.fail(name, "the deflated data are damaged");
    crc = ::crc32(crc, reinterpret_cast<const Bytef*>(out.data()), uInt(made));
    if (const int error = write_all(kept.get(), std::span(out).first(made)))
      file.fail(name, fmt::format("cannot be kept: {}", system_message(error)),
                "free some space in TMPDIR, or set it to a folder with more");
  }
  if (total != member.bytes) file.fail(name, "the deflated data are cut short");
  require_crc(file, member, crc);
  static_cast<void>(::lseek(kept.get(), 0, SEEK_SET));
  return {kept.get(), file.path() + ": " + member.name};
}

InputFile opened(const InputFile& file, const Member& member) {
  const std::string header = piece_of(file, member.header, kLocalBytes);
  const Fields fields(file, header);
  if (!header.starts_with(kLocalHeader)) file.fail(printable(member.name), "its header is damaged");
  const u64 start = member.header + kLocalBytes + fields.number(26, 2) + fields.number(28, 2);
  if (start > file.size() || member.packed > file.size() - start)
    file.fail(printable(member.name), "it ends behind the file's end", "the file is cut short: write it again");
  InputFile part(file, size_t(start), size_t(member.packed), file.path() + ": " + member.name);
  if (member.method == Z_DEFLATED) return inflated(file, member, part);
  if (member.method != 0)
    file.fail(printable(member.name), fmt::format("packing method {} is not known", member.method),
              "write it with numpy.savez or numpy.savez_compressed");
  require_crc(file, member, crc_of(part));
  return part;
}

}  // namespace

HostArray read_npz(const InputFile& file, const ReadOptions& options) {
  const InputFile array = opened(file, chosen(file, options.array));
  if (!begins_npy(array.head(kMostMagic))) array.fail("format", "is no .npy file");
  return read_npy(array, options);
}

std::vector<std::string> names_in_npz(const InputFile& file) {
  std::vector<std::string> names;
  for (Member& member : members_of(file)) names.push_back(std::move(member.name));
  return names;
}

}  // namespace axisloom::io
