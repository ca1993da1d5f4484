// The run-time side: an application uses a bundle through clbin.h, with a scripted driver. Reads
// every text and number of the results.
#include "bundle_resealing.hpp"
#include "clbin/clbin.h"
#include "fuzz_check.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_bundle.hpp"
#include "support/sample_identities.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>

namespace clbin::fuzz {
namespace {

// Small limits find violations sooner.
clbin_open_options limits() {
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.max_directory_bytes = 1U << 20U;
  options.max_raw_bytes = 1U << 20U;
  options.max_total_raw_bytes = 16U << 20U;
  options.max_memory_bytes = 16U << 20U;
  return options;
}

void look_at(const char* text) {
  require(text != nullptr && std::strlen(text) < (1U << 26U), "a text ends");
}

// By reference, because the argument `status` may be a call that sets the error.
void check_error(clbin_status status, clbin_error*& error) {
  require((status == CLBIN_SUCCESS) == (error == nullptr),
          "a failure has an error, a success none");
  if (error != nullptr) {
    require(clbin_error_status(error) == status, "an error has the status of its call");
    require(*clbin_error_message(error) != '\0', "an error has a message");
  }
  clbin_error_free(error);
}

void look_at_kernel(const clbin_listing* listing, std::size_t group, std::size_t entry,
                    std::size_t kernel) {
  look_at(clbin_listing_kernel_name(listing, group, entry, kernel));
  std::array<std::uint64_t, 3> size{};
  clbin_listing_required_work_group_size(listing, group, entry, kernel, size.data());
  require(clbin_listing_kernel_argument_count(listing, group, entry, kernel) >= -1,
          "a kernel has a number of arguments or none is known");
  for (std::size_t argument = 0;; ++argument) {
    const char* const name = clbin_listing_argument_name(listing, group, entry, kernel, argument);
    const char* const type = clbin_listing_argument_type(listing, group, entry, kernel, argument);
    require((name == nullptr) == (type == nullptr), "an argument has both texts or none");
    if (name == nullptr) {
      return;
    }
    look_at(name);
    look_at(type);
  }
}

void look_at_listing(const clbin_listing* listing) {
  for (std::size_t group = 0; group < clbin_listing_group_count(listing); ++group) {
    look_at(clbin_listing_program(listing, group));
    look_at(clbin_listing_variant(listing, group));
    look_at(clbin_listing_group_options(listing, group));
    for (std::size_t entry = 0; entry < clbin_listing_entry_count(listing, group); ++entry) {
      for (int what = CLBIN_ENTRY_PLATFORM; what <= CLBIN_ENTRY_RAW_DIGEST; ++what) {
        look_at(
            clbin_listing_entry_text(listing, group, entry, static_cast<clbin_entry_text>(what)));
      }
      const std::size_t kernels = clbin_listing_kernel_count(listing, group, entry);
      for (std::size_t kernel = 0; kernel < kernels; ++kernel) {
        look_at_kernel(listing, group, entry, kernel);
      }
    }
  }
}

void look_at_report(const clbin_report* report) {
  require(report != nullptr, "a load leaves a report");
  look_at(clbin_report_text(report));
  look_at(clbin_report_json(report));
  for (std::size_t index = 0; index < clbin_report_attempt_count(report); ++index) {
    clbin_attempt attempt{};
    attempt.struct_size = sizeof(attempt);
    require(clbin_report_attempt(report, index, &attempt) == CLBIN_SUCCESS,
            "a report has its attempts");
    look_at(attempt.target);
    look_at(attempt.rule);
    look_at(attempt.reason);
  }
}

// Two devices: the seed has an entry for one, and PTX for an older GPU fits the other.
class Application {
public:
  Application()
      : m_devices{m_driver.add_device(test::unknown_identity("d")),
                  m_driver.add_device(test::nvidia_identity("sm_90"))},
        m_context(m_driver.add_context({m_devices[0], m_devices[1]})) {
    m_driver.script_binary(test::k_sample_payload,
                           {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
    m_driver.script_source({CL_SUCCESS, {"saxpy"}, "", "built"});
  }

  void use(const clbin_bundle* bundle) {
    clbin_listing* listing = nullptr;
    clbin_error* error = nullptr;
    check_error(clbin_list(bundle, &listing, &error), error);
    look_at_listing(listing);
    use_program(bundle, "saxpy", "default");
    if (clbin_listing_group_count(listing) > 0) {
      use_program(bundle, clbin_listing_program(listing, 0), clbin_listing_variant(listing, 0));
    }
    clbin_listing_free(listing);
    error = nullptr;
    check_error(clbin_verify(bundle, &error), error);
    error = nullptr;
    const auto accept = [](const char*, size_t, void*) { return 0; };
    check_error(clbin_list_json(bundle, accept, nullptr, &error), error);
  }

private:
  void use_program(const clbin_bundle* bundle, const char* program, const char* variant) {
    select(bundle, program, variant);
    for (const clbin_fallback fallback :
         {CLBIN_FALLBACK_IF_NEEDED, CLBIN_FALLBACK_NEVER, CLBIN_FALLBACK_ALWAYS}) {
      load(bundle, program, variant, fallback, 1);
    }
    load(bundle, program, variant, CLBIN_FALLBACK_IF_NEEDED, m_devices.size());
    m_driver.forget_calls();
  }

  static void select(const clbin_bundle* bundle, const char* program, const char* variant) {
    const format::DeviceIdentity device = test::nvidia_identity("sm_90");
    clbin_identity identity{};
    identity.struct_size = sizeof(identity);
    identity.platform_name = device.platform_name.c_str();
    identity.driver_version = device.driver_version.c_str();
    identity.architecture = device.architecture.c_str();
    identity.address_bits = device.address_bits;
    clbin_selection* selection = nullptr;
    clbin_error* error = nullptr;
    check_error(clbin_select(bundle, &identity, program, variant, &selection, &error), error);
    if (selection != nullptr) {
      std::size_t size = 0;
      require(clbin_selection_data(selection, &size) != nullptr && size > 0 &&
                  size <= limits().max_raw_bytes,
              "a selection has bytes within the limit");
      look_at(clbin_selection_options(selection));
      look_at(clbin_selection_format(selection));
      for (std::size_t kernel = 0; kernel < clbin_selection_kernel_count(selection); ++kernel) {
        look_at(clbin_selection_kernel_name(selection, kernel));
      }
    }
    clbin_selection_free(selection);
  }

  void load(const clbin_bundle* bundle, const char* program, const char* variant,
            clbin_fallback fallback, std::size_t device_count) {
    clbin_load_options* const options = clbin_load_options_create();
    clbin_load_options_set_resolver(options, test::FakeDriver::resolve, &m_driver);
    clbin_load_options_set_variant(options, variant);
    clbin_load_options_set_fallback(options, fallback);
    cl_program loaded = nullptr;
    clbin_report* report = nullptr;
    clbin_error* error = nullptr;
    const clbin_status status =
        clbin_load_devices(bundle, m_context, m_devices.data(), device_count, program, options,
                           &loaded, &report, &error);
    check_error(status, error);
    require((status == CLBIN_SUCCESS) == (loaded != nullptr), "a load that succeeds has a program");
    look_at_report(report);
    if (loaded != nullptr) {
      m_driver.functions().ReleaseProgram(loaded);
    }
    require(m_driver.live_programs() == 0 && m_driver.live_kernels() == 0,
            "a load leaves nothing but its program");
    clbin_report_free(report);
    clbin_load_options_free(options);
  }

  test::FakeDriver m_driver;
  std::array<cl_device_id, 2> m_devices;
  cl_context m_context;
};

void use_bundle(base::ByteView bytes) {
  const clbin_open_options options = limits();
  clbin_bundle* bundle = nullptr;
  clbin_error* error = nullptr;
  check_error(clbin_open_memory(bytes.data(), bytes.size(), &options, &bundle, &error), error);
  if (bundle != nullptr) {
    Application().use(bundle);
  }
  clbin_close(bundle);
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) {
    return 0; // the data of an empty vector may be null, which clbin.h forbids
  }
  ::setenv("CLBIN_CACHE", "0", 1); // a cache would make results depend on earlier inputs
  fuzz::use_bundle(bytes);
  const base::Bytes resealed = fuzz::reseal({bytes.begin(), bytes.end()});
  if (!std::equal(resealed.begin(), resealed.end(), bytes.begin(), bytes.end())) {
    fuzz::use_bundle(resealed);
  }
  return 0;
}
