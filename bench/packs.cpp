// A base with 1,000 packs (oclcc --split=entry), each with the binaries of one device: opens the
// folder and selects an entry for a device, and compares the time with the limit of 5 ms. Prints
// how many bytes the base needs to know a pack. Usage: packs OCLCC
#include "base/file_io.hpp"
#include "call_times.hpp"
#include "clbin/clbin.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace {

using namespace clbin;
using bench::value_of;
using Clock = std::chrono::steady_clock;

constexpr std::uint32_t k_devices = 1000;
constexpr std::uint32_t k_programs = 20;
constexpr std::size_t k_payload_bytes = 2000; // a small kernel
constexpr int k_runs = 201;
constexpr double k_max_milliseconds = 5;

std::string device_name(std::uint32_t device) {
  return fmt::format("device {}", device);
}

format::BundleInput bundle_for(std::uint32_t first, std::uint32_t count) {
  format::BundleInput input{"bench", {}};
  for (std::uint32_t i = 0; i < k_programs; ++i) {
    format::ProgramInput& program = input.programs.emplace_back();
    program.name = fmt::format("program{}", i);
    program.variants = {{"default", ""}};
    program.source = test::sample_source(fmt::format("// {}\nkernel void k() {{}}\n", i));
    for (std::uint32_t device = first; device < first + count; ++device) {
      program.entries.push_back(
          test::sample_entry("default", test::sample_device(device_name(device)),
                             test::random_bytes(k_payload_bytes, device * k_programs + i)));
    }
  }
  return input;
}

Identity identity_of(std::uint32_t device) {
  const format::DeviceIdentity from = test::sample_device(device_name(device)).identity;
  Identity identity;
  identity.platform_name = from.platform_name;
  identity.platform_version = from.platform_version;
  identity.vendor = from.vendor;
  identity.device_name = from.device_name;
  identity.driver_version = from.driver_version;
  identity.device_version = from.device_version;
  identity.opencl_c_versions = from.opencl_c_versions;
  identity.address_bits = from.address_bits;
  identity.architecture = from.architecture;
  return identity;
}

// Median and worst, in milliseconds, of opening and selecting in a new bundle each time.
bool select_from(const std::filesystem::path& folder) {
  std::vector<double> times;
  for (int run = 0; run < k_runs; ++run) {
    const std::uint32_t device = static_cast<std::uint32_t>(run) * 7919U % k_devices;
    const Identity identity = identity_of(device);
    const auto start = Clock::now();
    const Bundle bundle = Bundle::open_set(folder.string());
    const Selection selected = bundle.select(identity, "program7");
    times.push_back(std::chrono::duration<double, std::milli>(Clock::now() - start).count());
    const base::Bytes expected = test::random_bytes(k_payload_bytes, device * k_programs + 7);
    if (selected.data().size() != expected.size() ||
        !std::equal(expected.begin(), expected.end(), selected.data().begin())) {
      std::fprintf(stderr, "packs: the entry of another device was selected\n");
      std::exit(1);
    }
  }
  std::ranges::sort(times);
  const bool met = times[times.size() / 2] <= k_max_milliseconds;
  std::printf("open and select, %u packs: median %.2f ms, worst of %d %.2f ms (limit %.0f)  %s\n",
              k_devices, times[times.size() / 2], k_runs, times.back(), k_max_milliseconds,
              met ? "met" : "NOT MET");
  return met;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: packs OCLCC\n");
    return 2;
  }
  const auto scratch = value_of(base::TemporaryFolder::create({}, "packs"));
  const std::filesystem::path folder = scratch.path() / "packs";
  const std::filesystem::path whole = scratch.path() / "whole.clbin";
  const base::Bytes all =
      value_of(format::write_bundle(bundle_for(0, k_devices), format::WriteOptions{1}));
  if (!base::write_output_file(whole, all) ||
      std::system(
          fmt::format("'{}' --split=entry {} -o {}", argv[1], whole.string(), folder.string())
              .c_str()) != 0) {
    return 1;
  }
  const bool is_fast = select_from(folder);
  const std::uint64_t base = std::filesystem::file_size(folder / "base.clbin");
  format::BundleInput none = bundle_for(0, 0);
  const std::uint64_t without = value_of(format::write_bundle(none, {})).size();
  std::printf("a base of %llu bytes, of which %llu for each pack\n",
              static_cast<unsigned long long>(base),
              static_cast<unsigned long long>((base - without) / k_devices));
  return is_fast ? 0 : 1;
}
