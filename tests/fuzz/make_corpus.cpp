// Writes the seeds of the fuzz targets below the folder named on the command line. Run it after adding a seed here:
//   g++ -std=c++20 -Itests/unit -Isrc -Iinclude tests/fuzz/make_corpus.cpp src/jit/entry_file.cpp src/jit/sha256.cpp
//     src/core/folder.cpp -ljpeg -o make_corpus && ./make_corpus tests/fuzz/corpus
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

#include "cache_entry.hpp"
#include "image_bytes.hpp"
#include "jit/entry_file.hpp"

#include <jpeglib.h>

namespace {

using axisloom::image_bytes::chunk;
using axisloom::image_bytes::jpeg;
using axisloom::image_bytes::png;

class Corpus {
 public:
  explicit Corpus(std::filesystem::path folder) : folder_(std::move(folder)) {}
  void put(const std::string& target, const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories(folder_ / target);
    std::ofstream(folder_ / target / name, std::ios::binary) << bytes;
  }

  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

std::string npy(int version, const std::string& dictionary, const std::string& data) {
  std::string file("\x93NUMPY");
  file += {static_cast<char>(version), '\0', static_cast<char>(dictionary.size()), '\0'};
  if (version > 1) file += std::string(2, '\0');
  return file + dictionary + data;
}

std::string little_endian(std::uint32_t value, int bytes) {
  const std::string big = axisloom::image_bytes::big_endian(value, bytes);
  return {big.rbegin(), big.rend()};
}

/// An archive with one array, which is stored as it is.
std::string npz(const std::string& array) {
  const std::string name = "a.npy", size = little_endian(static_cast<std::uint32_t>(array.size()), 4);
  const std::string common = little_endian(20, 2) + std::string(8, '\0') +
                             little_endian(axisloom::image_bytes::crc32(array), 4) + size + size + little_endian(5, 2);
  const std::string member = "PK\3\4" + common + std::string(2, '\0') + name + array;
  const std::string entry = "PK\1\2" + little_endian(20, 2) + common + std::string(16, '\0') + name;
  return member + entry + "PK\5\6" + std::string(4, '\0') + little_endian(1, 2) + little_endian(1, 2) +
         little_endian(static_cast<std::uint32_t>(entry.size()), 4) +
         little_endian(static_cast<std::uint32_t>(member.size()), 4) + std::string(2, '\0');
}

void put_npy(const Corpus& corpus) {
  corpus.put("npy", "npz", npz(npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", "ab")));
  corpus.put("npy", "c_order", npy(1, "{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n", "abcdefghijkl"));
  corpus.put("npy", "fortran", npy(2, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", "abcdef"));
  corpus.put("npy", "swapped", npy(3, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }\n", "abcdefgh"));
  corpus.put("npy", "scalar", npy(1, "{'shape': (), 'fortran_order': False, 'descr': '<f8'}", "abcdefgh"));
  corpus.put("npy", "empty", npy(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (4L, 0L), }\n", ""));
  corpus.put("npy", "structured",
             npy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n", "abcd"));
}

std::string progressive_jpeg() {
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);
  jpeg_create_compress(&info);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &memory, &size);
  info.image_width = info.image_height = 16;
  info.input_components = 3;
  info.in_color_space = JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  for (int y = 0; y < 16; ++y) {
    JSAMPLE row[48];
    for (int x = 0; x < 48; ++x) row[x] = static_cast<JSAMPLE>(x * 5 + y * 11);
    JSAMPROW rows[] = {row};
    jpeg_write_scanlines(&info, rows, 1);
  }
  jpeg_finish_compress(&info);
  const std::string bytes(reinterpret_cast<const char*>(memory), size);
  jpeg_destroy_compress(&info);
  std::free(memory);
  return bytes;
}

void put_images(const Corpus& corpus) {
  corpus.put("image", "pam", "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\nrgba");
  corpus.put("image", "grey.png", png({2, 2, 16}, std::string(10, '\0')));
  corpus.put("image", "palette.png",
             png({3, 1, 2, 3, chunk("PLTE", "abcdefghi") + chunk("tRNS", "X")}, std::string("\0\x84", 2)));
  corpus.put("image", "adam7.png", png({2, 2, 8, 2, "", true}, std::string("\0abc\0def\0ghijkl", 15)));
  corpus.put("image", "plain.pbm", "P1\n# comment\n3 2 0101 1\n1\n");
  corpus.put("image", "plain.pgm", "P2 2 2 300 0 255 7 300\n");
  corpus.put("image", "plain.ppm", "P3 1 1 15 1 2 15\n");
  corpus.put("image", "raw.pbm", std::string("P4\n10 2\n\xff\xff\x55\x00", 12));
  corpus.put("image", "raw.pgm", "P5 2 1 65535\nabcd");
  corpus.put("image", "raw.ppm", "P6 1 2 255\nabcdef");
  corpus.put("image", "grey.jpg", jpeg({24, 16}, {1, 2, 3, -4, 5, 6}));
  corpus.put("image", "colour.jpg", jpeg({8, 8, 3}, {0, 0, 15}));
  corpus.put("image", "progressive.jpg", progressive_jpeg());
}

void put_patterns(const Corpus& corpus) {
  const auto seed = [&](const std::string& name, const std::string& pattern, const std::string& numbers) {
    corpus.put("pattern", name, pattern + '\0' + numbers);
  };
  seed("transpose", "h w -> w h", {0, 2, 3, 5});
  seed("blocks", "n (c x) h w -> n c h w x", {0, 4, 1, 32, 2, 2, 'x', 8});
  seed("pool", "b c (h y) (w x) -> b c h w", {2, 4, 2, 3, 4, 6, 'y', 2, 'x', 3});
  seed("repeat", "h w -> h (w c) 1", {1, 2, 2, 2, 'c', 3});
  seed("ellipsis", "a ... (b 2) -> (...) b a 2", {0, 4, 2, 3, 4, 6});
  seed("einsum", "i k, k j -> i j", {2, 2, 2, 3, 2, 3, 4});
  seed("compact", "ik,kj", {3, 2, 2, 3, 2, 3, 4});
  seed("diagonal", "...ii,i...->...i", {3, 3, 2, 3, 3, 2, 1, 2});
  seed("names", "row, row col -> (col 2)", {3, 1, 3, 2, 3, 4});
  seed("unit", "() 1 a -> a", {0, 3, 1, 1, 7});
}

/// The bytes of an entry as the cache writes it.
std::string cache_entry(const Corpus& corpus, const std::string& key, std::string_view program) {
  corpus.put("cache", "written", "");
  const std::filesystem::path file = corpus.folder() / "cache" / "written";
  std::filesystem::remove(file);
  const auto folder = axisloom::core::open_folder(file.parent_path(), false);
  if (!axisloom::jit::write_entry(folder.descriptor, "written", key, std::as_bytes(std::span(program)))) std::abort();
  std::ifstream in(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(in), {}};
  std::filesystem::remove(file);
  return bytes;
}

void put_cache_entries(const Corpus& corpus) {
  const std::string whole = cache_entry(corpus, cache_key, "a program");
  corpus.put("cache", "whole", whole);
  corpus.put("cache", "without_program", cache_entry(corpus, cache_key, ""));
  corpus.put("cache", "of_another_key", cache_entry(corpus, std::string(cache_key.size(), 'f'), "a program"));
  corpus.put("cache", "cut_in_its_program", whole.substr(0, whole.size() - 1));
  corpus.put("cache", "cut_in_its_header", whole.substr(0, 100));
  corpus.put("cache", "cut_in_its_first_word", whole.substr(0, 5));
  corpus.put("cache", "longer_than_it_says", whole + "more");
  corpus.put("cache", "a_file_of_somebody", "kept for years");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_corpus FOLDER\n", stderr);
    return 2;
  }
  const Corpus corpus(argv[1]);
  put_npy(corpus);
  put_images(corpus);
  put_patterns(corpus);
  put_cache_entries(corpus);
  return 0;
}
