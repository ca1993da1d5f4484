#include "support/secret_search.hpp"

#include "base/crypto/secret_bytes.hpp"
#include "base/file_io.hpp"
#include "support/bundle_samples.hpp"

#include <algorithm>
#include <cstdint>
#include <fcntl.h>
#include <fmt/format.h>
#include <fstream>
#include <string>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

namespace clbin::test {
namespace {

constexpr std::size_t k_chunk_bytes = 1U << 20U;

struct Region {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

std::vector<Region> readable_regions() {
  std::vector<Region> regions;
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    std::size_t dash = 0;
    const std::uint64_t begin = std::stoull(line, &dash, 16);
    std::size_t space = 0;
    const std::uint64_t end = std::stoull(line.substr(dash + 1), &space, 16);
    if (line.at(dash + 1 + space + 1) == 'r') {
      regions.push_back({begin, end});
    }
  }
  return regions;
}

// `bytes` are those at `address`. Skips the addresses of `own`, which contains what was read.
std::size_t copies_in(base::ByteView bytes, std::uint64_t address, const Region& own,
                      const std::array<std::byte, 32>& masked,
                      const std::array<std::byte, 32>& mask) {
  std::size_t copies = 0;
  for (std::size_t at = 0; at + masked.size() <= bytes.size(); ++at) {
    if (address + at >= own.begin && address + at < own.end) {
      continue;
    }
    std::size_t equal = 0;
    while (equal < masked.size() && (bytes[at + equal] ^ mask[equal]) == masked[equal]) {
      ++equal;
    }
    copies += equal == masked.size() ? 1U : 0U;
  }
  return copies;
}

} // namespace

bool can_wipe_on_fork() {
  constexpr int k_no_advice = -1;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  void* const memory =
      ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool can =
      ::madvise(memory, page, MADV_WIPEONFORK) == 0 && ::madvise(memory, page, k_no_advice) != 0;
  ::munmap(memory, page);
  return can;
}

std::size_t copies_in_memory(const std::array<std::byte, 32>& masked,
                             const std::array<std::byte, 32>& mask) {
  const int memory = ::open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
  if (memory < 0) {
    return SIZE_MAX; // no test expects that many
  }
  base::Bytes chunk(k_chunk_bytes + masked.size());
  const auto first = reinterpret_cast<std::uint64_t>(chunk.data());
  const Region own{first, first + chunk.size()};
  std::size_t copies = 0;
  for (const Region& region : readable_regions()) {
    for (std::uint64_t at = region.begin; at < region.end; at += k_chunk_bytes) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(chunk.size(), region.end - at));
      const ssize_t read = ::pread(memory, chunk.data(), size, static_cast<off_t>(at));
      if (read <= 0) {
        continue; // what libsodium protects, and [vvar]
      }
      copies += copies_in({chunk.data(), static_cast<std::size_t>(read)}, at, own, masked, mask);
      base::wipe(chunk);
    }
  }
  ::close(memory);
  return copies;
}

std::vector<std::filesystem::path> files_that_contain(const std::filesystem::path& folder,
                                                      base::ByteView bytes) {
  std::vector<std::filesystem::path> found;
  const std::string_view text = base::as_text(bytes);
  std::error_code error;
  for (std::filesystem::recursive_directory_iterator files(folder, error), end; files != end;
       files.increment(error)) {
    bool contains = files->path().filename().string().find(text) != std::string::npos;
    if (files->is_regular_file(error)) {
      const auto content = base::read_whole_file(files->path(), 1U << 30U);
      contains = contains || !content.has_value() ||
                 base::as_text(*content).find(text) != std::string_view::npos;
    }
    if (contains) {
      found.push_back(files->path());
    }
  }
  return found;
}

std::vector<std::filesystem::path> files_that_show(const std::filesystem::path& folder,
                                                   base::ByteView key) {
  std::string digits;
  for (const std::byte byte : key) {
    digits += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
  }
  std::string base64 = base::to_base64(key);
  base64.resize(base64.find('=')); // padding, and the digits before it, depend on what follows
  std::vector<std::filesystem::path> found = files_that_contain(folder, key);
  for (const std::string& text : {digits, base64}) {
    const auto more = files_that_contain(folder, bytes_of(text));
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

} // namespace clbin::test
