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
    require(*clbin_error_message(error) != '\0', "an error has a message");
  }
  clbin_error_free(error);
}

// Returns a struct that `function` fills.
template <typename Struct, typename Function, typename... Arguments>
Struct filled(const Function& function, Arguments... arguments) {
  Struct result{};
  result.struct_size = sizeof(result);
  require(function(arguments..., &result) == CLBIN_SUCCESS, "an object has what it counts");
  return result;
}

void look_at_kernel(const clbin_listing* listing, std::size_t group, std::size_t entry,
                    std::size_t index) {
  const auto kernel = filled<clbin_kernel>(clbin_listing_kernel, listing, group, entry, index);
  look_at(kernel.name);
  require(kernel.argument_count >= -1, "a kernel has a number of arguments or none is known");
  for (std::int32_t i = 0; i < kernel.argument_count; ++i) {
    const auto argument = filled<clbin_argument>(clbin_listing_argument, listing, group, entry,
                                                 index, static_cast<std::size_t>(i));
    require((argument.name == nullptr) == (argument.type == nullptr),
            "an argument has both texts or none");
    if (argument.name == nullptr) {
      return;
    }
    look_at(argument.name);
    look_at(argument.type);
  }
}

void look_at_entry(const clbin_listing* listing, std::size_t group, std::size_t index) {
  const auto entry = filled<clbin_entry>(clbin_listing_entry, listing, group, index);
  for (const char* const text :
       {entry.platform, entry.device, entry.driver_version, entry.target_spec, entry.format,
        entry.options, entry.raw_digest}) {
    look_at(text);
  }
  for (std::size_t kernel = 0; kernel < entry.kernel_count; ++kernel) {
    look_at_kernel(listing, group, index, kernel);
  }
}

void look_at_listing(const clbin_listing* listing) {
  for (std::size_t index = 0; index < clbin_listing_group_count(listing); ++index) {
    const auto group = filled<clbin_group>(clbin_listing_group, listing, index);
    look_at(group.program);
    look_at(group.variant);
    look_at(group.options);
    for (std::size_t entry = 0; entry < group.entry_count; ++entry) {
      look_at_entry(listing, index, entry);
    }
  }
}

void look_at_report(const clbin_report* report) {
  require(report != nullptr, "a load leaves a report");
  look_at(clbin_report_text(report));
  look_at(clbin_report_json(report));
  const auto info = filled<clbin_report_info>(clbin_report_get, report);
  look_at(info.program);
  look_at(info.variant);
  std::for_each_n(info.devices, info.device_count, look_at);
  std::for_each_n(info.warnings, info.warning_count, look_at);
  for (std::size_t index = 0; index < info.attempt_count; ++index) {
    const auto attempt = filled<clbin_attempt>(clbin_report_attempt, report, index);
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
      const auto group = filled<clbin_group>(clbin_listing_group, listing, std::size_t{0});
      use_program(bundle, group.program, group.variant);
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
      const auto info = filled<clbin_selection_info>(clbin_selection_get, selection);
      require(info.data != nullptr && info.size_bytes > 0 &&
                  info.size_bytes <= limits().max_raw_bytes,
              "a selection has bytes within the limit");
      look_at(info.options);
      look_at(info.format);
      look_at(info.rule);
      std::for_each_n(info.kernels, info.kernel_count, look_at);
    }
    clbin_selection_free(selection);
  }

  void load(const clbin_bundle* bundle, const char* program, const char* variant,
            clbin_fallback fallback, std::size_t device_count) {
    clbin_load_options options{};
    options.struct_size = sizeof(options);
    options.variant = variant;
    options.fallback = fallback;
    options.resolve = test::FakeDriver::resolve;
    options.resolve_user_data = &m_driver;
    if (device_count > 1) {
      options.answers = clbin_check_answers(CLBIN_ANSWERS_ONCE);
      options.answers_ms = 10;
    }
    cl_program loaded = nullptr;
    clbin_report* report = nullptr;
    clbin_error* error = nullptr;
    const clbin_status status = clbin_load(bundle, m_context, m_devices.data(), device_count,
                                           program, &options, &loaded, &report, &error);
    check_error(status, error);
    require((status == CLBIN_SUCCESS) == (loaded != nullptr), "a load that succeeds has a program");
    look_at_report(report);
    if (loaded != nullptr) {
      m_driver.functions().ReleaseProgram(loaded);
    }
    require(m_driver.live_programs() == 0 && m_driver.live_kernels() == 0 &&
                m_driver.live_launch_objects() == 0,
            "a load leaves nothing but its program");
    clbin_report_free(report);
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
