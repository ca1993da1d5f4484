// Calls every function of clbin.h on amplifying bundles, without a driver. Memory must stay within
// the bound of libclbin(3), and work must grow at most linearly with the bundle.
#include "clbin/clbin.h"

#include "format/bundle/bundle_reader.hpp"
#include "support/amplifying_bundles.hpp"
#include "support/counted_memory.hpp"
#include "support/fake_driver.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace clbin {
namespace {

constexpr std::uint64_t k_mebibyte = 1ULL << 20U;
constexpr std::uint64_t k_base_bytes = 64 * k_mebibyte;
constexpr std::uint64_t k_bytes_for_each = 16;
constexpr std::uint64_t k_raw_bytes = 128 * k_mebibyte;    // 2 GiB would take seconds
constexpr std::uint64_t k_limit_bytes = 4096 * k_mebibyte; // malloc fails beyond it
constexpr double k_hang_seconds = 20;                      // of processor time

// The payloads of a bundle that a call reads.
enum class Reads : std::uint8_t { nothing, payloads_of_entries, every_blob };

struct Cost {
  std::uint64_t peak_bytes = 0;
  std::uint64_t taken_bytes = 0;
  double seconds = 0;
  clbin_status status = CLBIN_SUCCESS;
};

Cost cost_of(const std::function<clbin_status()>& call) {
  test::forget_peak();
  const std::uint64_t live = test::live_memory();
  const std::uint64_t taken = test::taken_memory();
  const std::clock_t start = std::clock();
  Cost cost;
  cost.status = call();
  cost.seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  cost.taken_bytes = test::taken_memory() - taken;
  cost.peak_bytes = test::peak_memory() - live;
  return cost;
}

// Returns the size of the largest payload with its reference.
std::uint64_t payload_bytes(const base::Bytes& bytes, Reads reads) {
  const auto reader =
      format::BundleReader::open(base::memory_source(bytes), {}, format::TrailingBytes::refuse)
          .value();
  std::uint64_t largest = 0;
  const auto consider = [&](std::uint32_t index) {
    const auto blob = reader.blob(index).value();
    const std::uint64_t reference =
        blob.reference == format::k_no_index ? 0 : reader.blob(blob.reference).value().raw_bytes;
    largest = std::max(largest, blob.raw_bytes + reference);
  };
  if (reads == Reads::every_blob) {
    for (std::uint32_t index = 0; index < reader.blob_count(); ++index) {
      consider(index);
    }
    return largest;
  }
  for (std::uint32_t index = 0; index < reader.entry_count(); ++index) {
    if (const auto entry = reader.entry(index)) {
      consider(entry->blob);
    }
  }
  return largest;
}

clbin_identity identity_of(const format::DeviceIdentity& device) {
  clbin_identity identity{};
  identity.struct_size = sizeof(identity);
  identity.platform_name = device.platform_name.c_str();
  identity.platform_version = device.platform_version.c_str();
  identity.vendor = device.vendor.c_str();
  identity.device_name = device.device_name.c_str();
  identity.driver_version = device.driver_version.c_str();
  identity.device_version = device.device_version.c_str();
  identity.opencl_c_versions = device.opencl_c_versions.front().c_str();
  identity.architecture = device.architecture.c_str();
  identity.vendor_id = device.vendor_id;
  identity.address_bits = device.address_bits;
  return identity;
}

int accept_text(const char*, size_t, void*) {
  return 0;
}

struct Call {
  std::string name;
  Reads reads;
  std::function<clbin_status(const clbin_bundle*)> make;
};

class HostileBundle : public ::testing::TestWithParam<test::AmplifyingKind> {
protected:
  HostileBundle() : m_device_identity(test::amplified_device()) {
    ::setenv("CLBIN_CACHE", "0", 1);
    m_device = m_driver.add_device(m_device_identity);
    m_context = m_driver.add_context({m_device});
    m_driver.script_source({CL_SUCCESS, {"k"}, "", "binary"});
  }

  clbin_status select(const clbin_bundle* bundle, const char* program, const char* variant) {
    const clbin_identity identity = identity_of(m_device_identity);
    clbin_selection* selection = nullptr;
    const clbin_status status =
        clbin_select(bundle, &identity, program, variant, &selection, nullptr);
    clbin_selection_free(selection);
    return status;
  }

  clbin_status load(const clbin_bundle* bundle, clbin_fallback fallback,
                    const std::vector<std::size_t>& problem_size = {}) {
    clbin_load_options options{};
    options.struct_size = sizeof(options);
    options.fallback = fallback;
    options.problem_size = problem_size.data();
    options.problem_dimensions = problem_size.size();
    options.resolve = test::FakeDriver::resolve;
    options.resolve_user_data = &m_driver;
    cl_program program = nullptr;
    clbin_report* report = nullptr;
    const clbin_status status =
        clbin_load(bundle, m_context, &m_device, 1, "p", &options, &program, &report, nullptr);
    if (program != nullptr) {
      m_driver.functions().ReleaseProgram(program);
    }
    EXPECT_NE(clbin_report_json(report), nullptr);
    clbin_report_free(report);
    m_driver.forget_calls();
    return status;
  }

  std::vector<Call> calls() {
    return {
        {"list", Reads::nothing,
         [](const clbin_bundle* bundle) {
           clbin_listing* listing = nullptr;
           const clbin_status status = clbin_list(bundle, &listing, nullptr);
           clbin_listing_free(listing);
           return status;
         }},
        {"list as JSON", Reads::every_blob,
         [](const clbin_bundle* bundle) {
           return clbin_list_json(bundle, accept_text, nullptr, nullptr);
         }},
        {"select", Reads::payloads_of_entries,
         [this](const clbin_bundle* bundle) { return select(bundle, "p", nullptr); }},
        {"select of a missing program", Reads::nothing,
         [this](const clbin_bundle* bundle) { return select(bundle, "missing", nullptr); }},
        {"select of a missing variant", Reads::nothing,
         [this](const clbin_bundle* bundle) { return select(bundle, "p", "missing"); }},
        {"load", Reads::payloads_of_entries,
         [this](const clbin_bundle* bundle) { return load(bundle, CLBIN_FALLBACK_IF_NEEDED); }},
        {"load for a problem size", Reads::payloads_of_entries,
         [this](const clbin_bundle* bundle) {
           return load(bundle, CLBIN_FALLBACK_IF_NEEDED, {1000});
         }},
        {"load of entries", Reads::payloads_of_entries,
         [this](const clbin_bundle* bundle) { return load(bundle, CLBIN_FALLBACK_NEVER); }},
        {"load of source", Reads::nothing,
         [this](const clbin_bundle* bundle) { return load(bundle, CLBIN_FALLBACK_ALWAYS); }},
        {"verify", Reads::every_blob,
         [](const clbin_bundle* bundle) { return clbin_verify(bundle, nullptr); }},
    };
  }

  // Opens the bundle, makes the call and closes it.
  Cost measure(const base::Bytes& bytes, const Call& call) {
    clbin_open_options options{};
    options.struct_size = sizeof(options);
    options.max_total_raw_bytes = k_raw_bytes;
    return cost_of([&] {
      clbin_bundle* bundle = nullptr;
      const clbin_status opened =
          clbin_open_memory(bytes.data(), bytes.size(), &options, &bundle, nullptr);
      const clbin_status status = opened == CLBIN_SUCCESS ? call.make(bundle) : opened;
      clbin_close(bundle);
      return status;
    });
  }

  test::FakeDriver m_driver;
  format::DeviceIdentity m_device_identity;
  cl_device_id m_device = nullptr;
  cl_context m_context = nullptr;
};

TEST_P(HostileBundle, CostsNoMoreThanTheManualSays) {
  constexpr std::array<std::uint32_t, 2> k_scales = {1, 4};
  test::set_memory_limit(k_limit_bytes);
  std::map<std::string, std::vector<Cost>> costs;
  for (const std::uint32_t scale : k_scales) {
    const base::Bytes bytes = GetParam().make(scale);
    const std::map<Reads, std::uint64_t> payloads = {
        {Reads::nothing, 0},
        {Reads::payloads_of_entries, payload_bytes(bytes, Reads::payloads_of_entries)},
        {Reads::every_blob, payload_bytes(bytes, Reads::every_blob)}};
    for (const Call& call : calls()) {
      const Cost cost = measure(bytes, call);
      const std::uint64_t bound =
          k_base_bytes + k_bytes_for_each * bytes.size() + payloads.at(call.reads);
      EXPECT_LE(cost.peak_bytes, bound)
          << call.name << " at scale " << scale << " of " << bytes.size() << " bytes: status "
          << clbin_status_name(cost.status);
      EXPECT_NE(cost.status, CLBIN_ERROR_OUT_OF_MEMORY) << call.name << " at scale " << scale;
      EXPECT_LT(cost.seconds, k_hang_seconds) << call.name << " at scale " << scale;
      costs[call.name].push_back(cost);
      if (std::getenv("HOSTILE_COSTS") != nullptr) {
        std::printf("%-30.*s %-28s %u %9zu bytes: peak %7.1f MiB, taken %8.1f MiB, %6.2f s, %s\n",
                    static_cast<int>(GetParam().name.size()), GetParam().name.data(),
                    call.name.c_str(), scale, bytes.size(),
                    static_cast<double>(cost.peak_bytes) / k_mebibyte,
                    static_cast<double>(cost.taken_bytes) / k_mebibyte, cost.seconds,
                    clbin_status_name(cost.status));
      }
    }
  }
  test::set_memory_limit(~std::uint64_t{0});
  for (const auto& [name, of_scales] : costs) {
    // A bundle of four times the size may cost four times the work, plus a constant part.
    EXPECT_LE(of_scales[1].taken_bytes, 5 * of_scales[0].taken_bytes + k_base_bytes) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, HostileBundle,
                         ::testing::ValuesIn(test::amplifying_kinds().begin(),
                                             test::amplifying_kinds().end()),
                         [](const auto& kind) { return std::string(kind.param.name); });

} // namespace
} // namespace clbin
