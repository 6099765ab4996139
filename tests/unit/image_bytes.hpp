// Small PNG and JPEG files built byte by byte, so that the tests of their readers need no encoder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace axisloom::image_bytes {

inline std::string big_endian(std::uint32_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

inline std::uint32_t crc32(const std::string& bytes) {
  std::uint32_t crc = 0xffffffff;
  for (const char c : bytes) {
    crc ^= static_cast<unsigned char>(c);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320U : 0U);
  }
  return ~crc;
}

/// A zlib stream of one stored block (at most 65,535 bytes).
inline std::string zlib_stored(const std::string& bytes) {
  const auto length = static_cast<std::uint32_t>(bytes.size());
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : bytes) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  std::string out("\x78\x01\x01");
  for (const std::uint32_t word : {length, ~length}) {
    out += {static_cast<char>(word & 0xff), static_cast<char>(word >> 8 & 0xff)};
  }
  return out + bytes + big_endian(b << 16 | a, 4);
}

inline std::string chunk(const std::string& type, const std::string& data) {
  return big_endian(static_cast<std::uint32_t>(data.size()), 4) + type + data + big_endian(crc32(type + data), 4);
}

struct PngParts {
  std::uint32_t width = 1;
  std::uint32_t height = 1;
  int depth = 8;
  int colour = 0;            // 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGB and alpha
  std::string between = {};  // chunks before the image data
  bool interlaced = false;
};

/// A PNG whose image data are these filtered rows (a filter byte before each row).
inline std::string png(const PngParts& parts, const std::string& rows) {
  std::string header = big_endian(parts.width, 4) + big_endian(parts.height, 4);
  header += {static_cast<char>(parts.depth), static_cast<char>(parts.colour), 0, 0, parts.interlaced ? '\1' : '\0'};
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + parts.between + chunk("IDAT", zlib_stored(rows)) +
         chunk("IEND", "");
}

struct JpegParts {
  int width = 8;
  int height = 8;
  int components = 1;
  std::string adobe_transform = {};  // one byte, or nothing
};

/// A baseline JPEG of 8 x 8 blocks that are flat: each component of each block, in scan order, has the level
/// 128 + (sum of its component's differences so far). Differences lie between -15 and 15.
inline std::string jpeg(const JpegParts& parts, const std::vector<int>& differences) {
  const auto segment = [](char marker, const std::string& body) {
    return std::string{'\xff', marker} + big_endian(static_cast<std::uint32_t>(body.size() + 2), 2) + body;
  };
  std::string file("\xff\xd8");
  if (!parts.adobe_transform.empty()) {
    file += segment('\xee', "Adobe" + std::string("\0\x64\0\0\0\0", 6) + parts.adobe_transform);
  }
  // A quantiser of 8 makes a coefficient of 1 raise a flat block by one level.
  file += segment('\xdb', std::string(1, '\0') + std::string(64, '\x08'));
  std::string frame = "\x08" + big_endian(static_cast<std::uint32_t>(parts.height), 2) +
                      big_endian(static_cast<std::uint32_t>(parts.width), 2) + static_cast<char>(parts.components);
  std::string scan(1, static_cast<char>(parts.components));
  for (int i = 1; i <= parts.components; ++i) {
    frame += {static_cast<char>(i), '\x11', '\0'};
    scan += {static_cast<char>(i), '\0'};
  }
  file += segment('\xc0', frame);
  // DC: five codes of three bits, for magnitudes of 0 to 4 bits. AC: the code 0 is "end of block".
  file += segment('\xc4', std::string("\0\0\0\5\0\0\0\0\0\0\0\0\0\0\0\0\0", 17) + std::string("\0\1\2\3\4", 5));
  file += segment('\xc4', std::string("\x10\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 17) + std::string(1, '\0'));
  file += segment('\xda', scan + std::string("\0\x3f\0", 3));
  std::string bits;
  const auto put = [&bits](int value, int count) {
    for (int i = count - 1; i >= 0; --i) bits += (value >> i & 1) != 0 ? '1' : '0';
  };
  for (const int difference : differences) {
    int length = 0;
    while ((difference < 0 ? -difference : difference) >> length != 0) ++length;
    put(length, 3);
    put(difference < 0 ? difference + (1 << length) - 1 : difference, length);
    put(0, 1);
  }
  while (bits.size() % 8 != 0) bits += '1';
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    file += static_cast<char>(std::stoi(bits.substr(i, 8), nullptr, 2));
    if (file.back() == '\xff') file += '\0';
  }
  return file + "\xff\xd9";
}

}  // namespace axisloom::image_bytes
