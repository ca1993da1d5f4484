// Opens a bundle of 10 000 entries, selects one, and compares time and memory with the limits of
// doc/performance.md. Exit status 1 if one is not met.
#include "base/file_io.hpp"
#include "call_times.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <malloc.h>
#include <vector>

extern "C" {
void* __libc_malloc(std::size_t size_bytes);
void* __libc_calloc(std::size_t count, std::size_t size_bytes);
void* __libc_realloc(void* memory, std::size_t size_bytes);
void __libc_free(void* memory);
}

namespace {

// Memory from malloc, current and peak, including that of zstd. For one thread only.
std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;

void* count(void* memory) {
  live_bytes += memory == nullptr ? 0 : malloc_usable_size(memory);
  peak_bytes = std::max(peak_bytes, live_bytes);
  return memory;
}

void discount(void* memory) {
  live_bytes -= memory == nullptr ? 0 : malloc_usable_size(memory);
}

} // namespace

extern "C" {

void* malloc(std::size_t size_bytes) {
  return count(__libc_malloc(size_bytes));
}

void* calloc(std::size_t number, std::size_t size_bytes) {
  return count(__libc_calloc(number, size_bytes));
}

void* realloc(void* memory, std::size_t size_bytes) {
  discount(memory);
  return count(__libc_realloc(memory, size_bytes));
}

void free(void* memory) {
  discount(memory);
  __libc_free(memory);
}
}

namespace {

using namespace clbin;
using bench::value_of;
using Clock = std::chrono::steady_clock;

constexpr int k_runs = 201;
constexpr double k_max_microseconds = 200;
constexpr std::size_t k_max_extra_bytes = 1U << 20U;
constexpr std::uint32_t k_entries = 10000;

struct Measured {
  double median_us = 0;
  double worst_us = 0;
  std::size_t peak_bytes = 0;    // open, select and read the payload
  std::size_t payload_bytes = 0; // stored and raw, of the payload and its reference
};

std::size_t payload_bytes_of(const format::BundleReader& reader, std::uint32_t index) {
  const format::BlobView blob = value_of(reader.blob(index));
  const std::size_t own = static_cast<std::size_t>(blob.stored_bytes + blob.raw_bytes);
  return blob.reference == format::k_no_index ? own
                                              : own + payload_bytes_of(reader, blob.reference);
}

template <typename OpenSource>
Measured measure(std::uint32_t groups, OpenSource open_source) {
  std::vector<double> times;
  Measured measured;
  for (int run = 0; run < k_runs; ++run) {
    // Selects another entry every time, spread over the whole bundle.
    const std::uint32_t number = static_cast<std::uint32_t>(run) * 7919U % k_entries;
    const std::string program = fmt::format("program{}", number / (k_entries / groups));
    const base::Digest target =
        format::target_digest(test::sample_device(fmt::format("device {}", number)));
    const std::size_t live_before = live_bytes;
    peak_bytes = live_bytes;
    const auto start = Clock::now();
    const format::BundleReader reader =
        value_of(format::BundleReader::open(open_source(), {}, format::TrailingBytes::refuse));
    const format::GroupView group = value_of(reader.find_group(program, "default"));
    const auto found = value_of(reader.find_exact(group, target));
    const std::chrono::duration<double, std::micro> elapsed = Clock::now() - start;
    times.push_back(elapsed.count());
    if (found.size() != 1) {
      std::fprintf(stderr, "bundle_lookup: %zu entries for device %u\n", found.size(), number);
      std::exit(1);
    }
    const std::size_t bytes = payload_bytes_of(reader, found[0].blob);
    const base::Bytes raw = value_of(reader.read_blob(found[0].blob));
    const std::size_t peak = peak_bytes - live_before;
    if (peak - std::min(peak, bytes) >=
        measured.peak_bytes - std::min(measured.peak_bytes, measured.payload_bytes)) {
      measured.peak_bytes = peak;
      measured.payload_bytes = bytes;
    }
  }
  std::sort(times.begin(), times.end());
  measured.median_us = times[times.size() / 2];
  measured.worst_us = times.back();
  return measured;
}

bool report(const char* where, std::uint32_t groups, const Measured& measured) {
  const std::size_t extra =
      measured.peak_bytes - std::min(measured.peak_bytes, measured.payload_bytes);
  const bool met = measured.median_us <= k_max_microseconds && extra <= k_max_extra_bytes;
  std::printf("%-6s %6u groups: open + select median %6.1f us, worst %7.1f us (floor %.0f); "
              "memory %6zu bytes beyond the payload's (floor %zu)  %s\n",
              where, groups, measured.median_us, measured.worst_us, k_max_microseconds, extra,
              k_max_extra_bytes, met ? "met" : "NOT MET");
  return met;
}

bool run(std::uint32_t groups, const std::filesystem::path& folder) {
  const base::Bytes bytes =
      value_of(format::write_bundle(test::large_input(groups, k_entries / groups), {1}));
  const std::filesystem::path path = folder / fmt::format("{}.clbin", groups);
  if (!base::write_output_file(path, bytes)) {
    std::fprintf(stderr, "bundle_lookup: cannot write %s\n", path.c_str());
    std::exit(1);
  }
  const bool memory_met =
      report("memory", groups, measure(groups, [&bytes] { return base::memory_source(bytes); }));
  const bool file_met = report(
      "file", groups, measure(groups, [&path] { return value_of(base::open_file_source(path)); }));
  std::printf("       bundle: %zu bytes\n", bytes.size());
  return memory_met && file_met;
}

} // namespace

int main() {
  const auto folder = value_of(base::TemporaryFolder::create({}, "bundle_lookup"));
  bool met = true;
  for (const std::uint32_t groups : {1U, 100U, k_entries}) {
    met = run(groups, folder.path()) && met;
  }
  return met ? 0 : 1;
}
