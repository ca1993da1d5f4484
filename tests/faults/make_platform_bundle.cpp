// Makes the bundles of host_run.hpp with the drivers that OCL_ICD_VENDORS shows:
//
//   make_platform_bundle [FILE entries|source|both|two-drivers]
//
// The program "numbers" has an entry for every device and one in another vendor's format, or the
// source, or both. two-drivers adds each entry a second time, for the driver version "lifted 1.0".
// Prints "device PLATFORM / DEVICE", one per line. Exit status 77 if there is no device.

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "opencl/device_query.hpp"
#include "support/driver_bundle.hpp"

#include <cstdio>
#include <cstdlib>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <string_view>

namespace {

using namespace clbin;

constexpr int k_exit_skip = 77;

constexpr const char* k_factors = "#ifndef TWICE\n#define TWICE 2\n#endif\n#define THRICE 3\n";
constexpr const char* k_kernels =
    "kernel void twice(global int* a) { a[get_global_id(0)] *= TWICE; }\n"
    "kernel void thrice(global int* a) { a[get_global_id(0)] *= THRICE; }\n";

// Wine 8 does not pass on clCompileProgram, which a source with headers needs.
format::SourcePackage source() {
  if (std::getenv("CLBIN_TEST_HOST") != nullptr) {
    return {{"numbers.cl", "kernels/numbers.cl", std::string(k_factors) + k_kernels}, {}};
  }
  return {{"numbers.cl", "kernels/numbers.cl", std::string("#include \"factors.h\"\n") + k_kernels},
          {{"factors.h", "kernels/factors.h", k_factors}}};
}

format::BundleInput contents(const std::vector<test::InstalledDevice>& devices,
                             std::string_view kind) {
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "numbers";
  program.variants = {{"default", "-DKEPT=1"}};
  if (kind != "entries") {
    program.source = source();
  }
  if (kind == "source") {
    return input;
  }
  program.entries.push_back(test::foreign_entry("twice"));
  for (const test::InstalledDevice& installed : devices) {
    const opencl::Context context = test::make_context(installed);
    program.entries.push_back(
        test::build_entry(installed, context, source(), program.variants[0].options));
    if (kind == "two-drivers") {
      format::EntryInput other = program.entries.back();
      other.target.identity.driver_version = "lifted 1.0";
      program.entries.push_back(std::move(other));
    }
  }
  return input;
}

} // namespace

int main(int count, char** words) {
  if (count != 1 && count != 3) {
    std::fputs("usage: make_platform_bundle [FILE entries|source|both|two-drivers]\n", stderr);
    return 2;
  }
  std::string reason;
  const auto devices = test::installed_devices(reason);
  if (devices.empty()) {
    std::puts(reason.c_str());
    return k_exit_skip;
  }
  for (const test::InstalledDevice& installed : devices) {
    const auto identity = opencl::query_identity(installed.driver, installed.device);
    std::puts(fmt::format("device {} / {}", installed.name,
                          identity ? identity->driver_version : identity.error().message)
                  .c_str());
  }
  if (count == 1) {
    return 0;
  }
  const auto bytes = format::write_bundle(contents(devices, words[2]), {});
  const auto written =
      bytes.has_value() ? base::write_output_file(words[1], *bytes) : tl::unexpected(bytes.error());
  if (!written) {
    std::fputs((written.error().message + "\n").c_str(), stderr);
    return 1;
  }
  return testing::UnitTest::GetInstance()->ad_hoc_test_result().Failed() ? 1 : 0;
}
