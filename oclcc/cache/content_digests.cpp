#include "cache/content_digests.hpp"

#include "base/file_descriptor.hpp"
#include "cache/cache_folder.hpp"
#include "cache/cache_space.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace oclcc {

using clbin::base::ByteView;
using clbin::base::Digest;
using clbin::base::Hasher;
using clbin::cache::CacheFolder;
using clbin::cache::IfMissing;

namespace {

constexpr std::string_view k_content_stamp_label = "oclcc-content-stamp-1";
constexpr std::string_view k_content_name_label = "oclcc-content-name-1";
constexpr std::string_view k_content_seal_label = "oclcc-content-1";
constexpr std::size_t k_content_part_bytes = 1U << 20U;
constexpr std::size_t k_content_digest_bytes = sizeof(Digest::bytes);
// A file that changed this recently may change again within the resolution of its times.
constexpr std::int64_t k_settled_seconds = 2;

void add_content_time(Hasher& hasher, const timespec& time) {
  hasher.add_u64(static_cast<std::uint64_t>(time.tv_sec));
  hasher.add_u64(static_cast<std::uint64_t>(time.tv_nsec));
}

Digest content_stamp_of(const struct stat& status) {
  Hasher hasher;
  hasher.add_field(k_content_stamp_label);
  hasher.add_u64(status.st_dev);
  hasher.add_u64(status.st_ino);
  hasher.add_u64(static_cast<std::uint64_t>(status.st_size));
  add_content_time(hasher, status.st_mtim);
  add_content_time(hasher, status.st_ctim);
  return hasher.finish();
}

Digest content_seal_of(ByteView stamp, ByteView contents) {
  Hasher hasher;
  hasher.add_field(k_content_seal_label);
  hasher.add(stamp);
  hasher.add(contents);
  return hasher.finish();
}

std::string content_name_of(const std::filesystem::path& path) {
  Hasher hasher;
  hasher.add_field(k_content_name_label);
  hasher.add_field(path.string());
  return clbin::base::to_hex(hasher.finish()) + std::string(clbin::cache::k_content_suffix);
}

std::optional<Digest> content_hash(int file) {
  Hasher hasher;
  std::vector<std::byte> part(k_content_part_bytes);
  while (true) {
    const ssize_t count = ::read(file, part.data(), part.size());
    if (count == 0) {
      return hasher.finish();
    }
    if (count > 0) {
      hasher.add(ByteView(part).first(static_cast<std::size_t>(count)));
    } else if (errno != EINTR) {
      return std::nullopt;
    }
  }
}

struct OpenContentFile {
  clbin::base::FileDescriptor file;
  struct stat status {};
};

std::optional<OpenContentFile> open_content_file(const std::filesystem::path& path) {
  OpenContentFile opened;
  // O_NONBLOCK: does not wait for the other end of a pipe, which is rejected next.
  opened.file =
      clbin::base::FileDescriptor(clbin::base::open_retrying(path.c_str(), O_RDONLY | O_NONBLOCK));
  if (!opened.file.is_open() || ::fstat(opened.file.number(), &opened.status) != 0 ||
      !S_ISREG(opened.status.st_mode)) {
    return std::nullopt;
  }
  return opened;
}

bool is_settled(const struct stat& status, std::chrono::system_clock::time_point now) {
  const std::int64_t seconds = std::chrono::system_clock::to_time_t(now);
  return std::max<std::int64_t>(status.st_ctim.tv_sec, status.st_mtim.tv_sec) + k_settled_seconds <
         seconds;
}

} // namespace

std::optional<std::string> ContentDigests::of(const std::filesystem::path& path) {
  std::error_code error;
  const auto real = std::filesystem::canonical(path, error);
  if (error) {
    return std::nullopt;
  }
  if (const auto known = m_known.find(real); known != m_known.end()) {
    return known->second;
  }
  auto digest = std::filesystem::is_directory(real, error) ? of_folder(real) : of_file(real);
  if (digest) {
    m_known.emplace(real, *digest);
  }
  return digest;
}

std::optional<std::string> ContentDigests::of_file(const std::filesystem::path& path) {
  const auto opened = open_content_file(path);
  if (!opened) {
    return std::nullopt;
  }
  const Digest stamp = content_stamp_of(opened->status);
  const std::string name = content_name_of(path);
  if (const auto known = remembered(name, stamp)) {
    return clbin::base::to_hex(*known);
  }
  const auto contents = content_hash(opened->file.number());
  struct stat after {};
  if (!contents || ::fstat(opened->file.number(), &after) != 0 ||
      content_stamp_of(after) != stamp) {
    return std::nullopt;
  }
  if (m_settings.now && is_settled(after, m_settings.now())) {
    remember(name, stamp, *contents);
  }
  return clbin::base::to_hex(*contents);
}

std::optional<std::string> ContentDigests::of_folder(const std::filesystem::path& path) {
  std::map<std::string, std::string> files; // directories list their files in any order
  std::error_code error;
  for (std::filesystem::directory_iterator file(path, error);
       !error && file != std::filesystem::directory_iterator(); file.increment(error)) {
    if (!file->is_regular_file(error)) {
      continue;
    }
    auto digest = of(file->path());
    if (!digest) {
      return std::nullopt;
    }
    files.emplace(file->path().filename().string(), *std::move(digest));
  }
  if (error) {
    return std::nullopt;
  }
  Hasher hasher;
  for (const auto& [name, digest] : files) {
    hasher.add_field(name);
    hasher.add_field(digest);
  }
  return clbin::base::to_hex(hasher.finish());
}

std::optional<Digest> ContentDigests::remembered(const std::string& name, const Digest& stamp) {
  if (m_settings.use != clbin::cache::CacheUse::on) {
    return std::nullopt;
  }
  const auto folder =
      clbin::cache::open_part(m_settings, clbin::cache::k_compilations_part, IfMissing::leave);
  if (!folder.has_value()) {
    return std::nullopt;
  }
  const auto kept = folder->read(name, 3 * k_content_digest_bytes);
  if (!kept.has_value() || kept->bytes.size() != 3 * k_content_digest_bytes) {
    return std::nullopt;
  }
  const ByteView bytes = kept->bytes;
  const ByteView contents = bytes.subspan(k_content_digest_bytes, k_content_digest_bytes);
  const Digest seal = content_seal_of(bytes.first(k_content_digest_bytes), contents);
  if (!std::ranges::equal(bytes.first(k_content_digest_bytes), stamp.bytes) ||
      !std::ranges::equal(bytes.subspan(2 * k_content_digest_bytes), seal.bytes)) {
    return std::nullopt;
  }
  Digest digest;
  std::ranges::copy(contents, digest.bytes.begin());
  return digest;
}

void ContentDigests::remember(const std::string& name, const Digest& stamp,
                              const Digest& contents) {
  if (m_settings.use != clbin::cache::CacheUse::on) {
    return;
  }
  clbin::base::ByteWriter kept;
  kept.write_bytes(stamp.bytes);
  kept.write_bytes(contents.bytes);
  kept.write_bytes(content_seal_of(stamp.bytes, contents.bytes).bytes);
  // Without it, the next run reads the file again. The look-ups report problems of the directory.
  (void)clbin::cache::with_part(m_settings, clbin::cache::k_compilations_part,
                                [&](const CacheFolder& folder) {
                                  return folder.replace(name, kept.view(), m_settings.now());
                                });
}

} // namespace oclcc
