#include "compile/source_compression.hpp"

#include "compile/compile_bundle.hpp"

#include <cstdint>
#include <new>
#include <system_error>
#include <utility>

namespace oclcc {

using clbin::format::SourcePackage;

namespace {

constexpr std::uint64_t k_max_bytes = 256ULL << 10U;

std::uint64_t size_of(const SourcePackage& source) {
  std::uint64_t size = source.main.text.size();
  for (const auto& header : source.headers) {
    size += header.text.size();
  }
  return size;
}

} // namespace

SourceCompression::SourceCompression(std::vector<std::shared_ptr<const SourcePackage>> sources)
    : m_sources(std::move(sources)), m_frames(std::make_shared<clbin::format::SourceFrames>()) {
  m_frames->compression_level = clbin::format::WriteOptions().compression_level;
}

// The writer compresses what is missing, and reports errors.
void SourceCompression::compress(const std::stop_token& stop) {
  try {
    for (const auto& source : m_sources) {
      if (stop.stop_requested()) {
        return;
      }
      if (source && size_of(*source) <= k_max_bytes) {
        (void)compress_source(bundled_source(*source), *m_frames);
      }
    }
  } catch (const std::bad_alloc&) {
  }
}

void SourceCompression::start() {
  try {
    m_thread = std::jthread([this](const std::stop_token& stop) { compress(stop); });
  } catch (const std::system_error&) { // a limit of processes
  }
}

std::shared_ptr<const clbin::format::SourceFrames> SourceCompression::finish() {
  if (m_thread.joinable()) {
    m_thread.join();
  }
  return m_frames;
}

} // namespace oclcc
