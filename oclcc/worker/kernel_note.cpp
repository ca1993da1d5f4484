#include "worker/kernel_note.hpp"

#include "base/byte_codec.hpp"
#include "base/file_io.hpp"

#include <algorithm>
#include <fcntl.h>
#include <unistd.h>

namespace oclcc::worker {

namespace {

using clbin::base::ByteReader;
using clbin::base::ByteWriter;

constexpr const char* k_name = "kernel";
constexpr std::uint64_t k_max_kernel_name_bytes = 65535;
constexpr std::uint64_t k_max_file_bytes = 1ULL << 20U;

} // namespace

KernelNote::KernelNote() : m_file(::open(k_name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)) {}

void KernelNote::set(const std::string& kernel) {
  if (kernel.size() > k_max_kernel_name_bytes) {
    return;
  }
  // Writes with one call, so that a name is never incomplete. The rest of a longer previous name
  // follows it.
  ByteWriter record;
  record.write_text(kernel);
  [[maybe_unused]] const ssize_t written =
      ::pwrite(m_file.number(), record.view().data(), record.size(), 0);
}

void KernelNote::clear() {
  set({});
}

std::optional<std::string> read_kernel_note(const std::filesystem::path& folder) {
  const auto file = clbin::base::read_whole_file(folder / k_name, k_max_file_bytes);
  if (!file) {
    return std::nullopt;
  }
  ByteReader reader(*file, "kernel note");
  const auto name = reader.read_text("name");
  return name && !name->empty() ? std::optional<std::string>(*name) : std::nullopt;
}

} // namespace oclcc::worker
