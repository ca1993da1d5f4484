// Shared by the files of the C API: the objects behind its handles, and the boundary that no
// exception crosses.
#pragma once

#include "clbin/clbin.h"

#include "loader/run_time_program.hpp"

#include <cstring>
#include <exception>
#include <new>

struct clbin_error {
  std::string message;
  std::shared_ptr<const clbin::base::FailedCall> call; // null: none failed
  const char* text = ""; // of `message`, or a literal if there was no memory for a message
};

struct clbin_answer_check {
  clbin::loader::AnswerCheck check;
};

namespace clbin::c_api {

// A copy of a clbin_load_options.
struct LoadOptions {
  loader::LoadRequest request; // what the options determine; at most one constant of an id
  clbin_load_options given{};  // for resolve and library, of which one is null, and callback
};
// Returns the defaults if `options` is null. invalid_argument.
[[nodiscard]] base::Result<LoadOptions> load_options_of(const clbin_load_options* options);

// The functions of the ICD loader, from the first call that requires them. Thread-safe.
class IcdDriver {
public:
  // Returns the functions of the resolver or the library of `options`, if they have one. no_opencl.
  [[nodiscard]] base::Result<opencl::Driver>
  functions(const LoadOptions& options, opencl::TableUse use = opencl::TableUse::programs);

private:
  std::mutex m_mutex;
  std::optional<opencl::Driver> m_driver;
};

} // namespace clbin::c_api

struct clbin_bundle {
  // The settings of the user cache, and of the quarantine.
  clbin_bundle(clbin::format::BundleReader&& opened,
               const clbin::cache::CacheSettings& of_user_cache,
               const clbin::cache::CacheSettings& of_quarantine,
               clbin::loader::DecryptedBuilds chosen_decrypted_builds)
      : reader(std::move(opened)), decrypted_builds(chosen_decrypted_builds),
        cache(of_user_cache, of_quarantine) {}

  // Returns whether neither the user cache nor the layer may store what is built of the bundle.
  [[nodiscard]] bool is_secret() const {
    return reader.is_encrypted() && decrypted_builds == clbin::loader::DecryptedBuilds::refused;
  }

  clbin::format::BundleReader reader;
  std::unique_ptr<const clbin::loader::PackSet> packs{}; // null: opened without packs
  clbin::loader::DecryptedBuilds decrypted_builds;       // by builders; of_user_cache is for loads
  mutable clbin::loader::ProgramCache cache;             // thread-safe
  mutable clbin::c_api::IcdDriver driver;
};

struct clbin_report {
  clbin::loader::LoadReport report;
  // Filled by c_api::hand_over, after which `report` does not change.
  std::string text;
  std::vector<const char*> devices;
  std::vector<const char*> warnings;
  mutable std::once_flag json_made; // set by clbin_report_json
  mutable std::string json;
};

namespace clbin::c_api {

// Sets what is reported: the detail, and the callback of `options`. Both arguments must outlive it.
void set_reporting(loader::LoadRequest& request, const LoadOptions& options, bool wants_report,
                   const loader::LoadReport& report);

// invalid_argument, as clbin_open.
[[nodiscard]] base::Result<void> check_open_options(const clbin_open_options* options);
// As clbin_open.
[[nodiscard]] base::Result<std::unique_ptr<clbin_bundle>>
open_file(const char* path, const clbin_open_options* options);

// Returns what the two members mean. invalid_argument: one is not of its enumeration, or
// `unsigned_builds` is set without a required signature.
[[nodiscard]] base::Result<loader::UnsignedSource>
unsigned_builds_of(const clbin_signature_policy& policy, const clbin_switch& unsigned_builds);
// Replaces the folder by that of the caller, which turns the cache on. invalid_argument: it is not
// absolute.
[[nodiscard]] base::Result<void> set_folder(cache::CacheSettings& settings, const char* cache_dir);
// Returns settings with the user cache off, and the reason for reports.
[[nodiscard]] cache::CacheSettings without_user_cache(cache::CacheSettings settings,
                                                      std::string reason);
inline constexpr const char* k_unsigned_entries =
    "a signature is required, and nobody signs its entries";

// Stores an error in `*error` unless `error` is null. Returns its status, or
// CLBIN_ERROR_OUT_OF_MEMORY if the error cannot be allocated.
clbin_status set_error(clbin_error** error, base::Error&& reason) noexcept;
clbin_status set_error_text(clbin_error** error, clbin_status status, const char* text) noexcept;

// Runs `body`, a function that returns base::Result<void>, and converts its error or exception to a
// status.
template <typename Body>
clbin_status guarded(clbin_error** error, const Body& body) noexcept {
  if (error != nullptr) {
    *error = nullptr;
  }
  try {
    base::Result<void> result = body();
    if (result) {
      return CLBIN_SUCCESS;
    }
    return set_error(error, std::move(result.error()));
  } catch (const std::bad_alloc&) {
    return set_error_text(error, CLBIN_ERROR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception&) {
    return set_error_text(error, CLBIN_ERROR_INTERNAL, "an unexpected exception in libclbin");
  } catch (...) {
    return set_error_text(error, CLBIN_ERROR_INTERNAL,
                          "a callback threw, or an unexpected exception in libclbin");
  }
}

// invalid_argument, with the name of the parameter, if `pointer` is null.
[[nodiscard]] inline base::Result<void> require(const void* pointer, std::string_view parameter) {
  if (pointer == nullptr) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' is NULL", parameter);
  }
  return {};
}

// Returns the size of a launch. invalid_argument, with the name of the parameter: it is null, or
// not a size in 1 to 3 dimensions.
[[nodiscard]] base::Result<format::LaunchSize>
launch_size_of(const std::size_t* size, std::size_t dimensions, std::string_view parameter);

// As guarded(), for a function that returns an object through `*result`. `make` returns a Result of
// a smart pointer.
template <typename Object, typename Make>
clbin_status guarded_make(clbin_error** error, Object** result, std::string_view parameter,
                          const Make& make) noexcept {
  return guarded(error, [&]() -> base::Result<void> {
    CLBIN_TRY(require(result, parameter));
    *result = nullptr;
    CLBIN_TRY_ASSIGN(auto made, make());
    *result = made.release();
    return {};
  });
}

// No struct of this API will ever be longer. A larger struct_size shows that the caller did not set
// it.
inline constexpr std::size_t k_max_struct_bytes = 4096;

// Copies a struct of the caller, which may be from an older or newer version of the API.
// invalid_argument: struct_size is not plausible, or a member that this version does not know is
// set.
template <typename Struct>
[[nodiscard]] base::Result<Struct> copy_sized(const Struct* given, std::string_view name) {
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof(size));
  if (size < sizeof(size) || size > k_max_struct_bytes) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "struct_size of {} is {}; set it to sizeof({})", name, size, name);
  }
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  const std::size_t known = std::min(size, sizeof(Struct));
  if (std::any_of(bytes + known, bytes + size, [](unsigned char byte) { return byte != 0; })) {
    return base::fail(base::ErrorCode::invalid_argument,
                      "{} sets a member that version {} of libclbin does not support", name,
                      CLBIN_VERSION_NUMBER);
  }
  Struct copy{};
  std::memcpy(&copy, given, known);
  return copy;
}

// Fills a struct of the caller, which may be from an older or newer version of the API.
// INVALID_ARGUMENT: `filled` is null, or struct_size is not plausible.
template <typename Struct>
[[nodiscard]] clbin_status fill(Struct* filled, Struct view) noexcept {
  const std::size_t size = filled == nullptr ? 0 : filled->struct_size;
  if (size < sizeof(size) || size > k_max_struct_bytes) {
    return CLBIN_ERROR_INVALID_ARGUMENT;
  }
  view.struct_size = size;
  std::memset(filled, 0, size);
  std::memcpy(filled, &view, std::min(size, sizeof(view)));
  return CLBIN_SUCCESS;
}

// Returns the number of an enumerator of the caller: in C, it can be one that the enumeration
// cannot have in C++.
template <typename Enum>
[[nodiscard]] int number_of(const Enum& given) noexcept {
  int number = 0;
  static_assert(std::is_enum_v<Enum> && sizeof(number) == sizeof(given));
  std::memcpy(&number, &given, sizeof(number));
  return number;
}

// invalid_argument unless the caller has set a member to an enumerator, which are 0 to `last`.
template <typename Enum>
[[nodiscard]] base::Result<void> check_enumerator(const Enum& given, Enum last,
                                                  std::string_view member) {
  if (const int number = number_of(given); number < 0 || number > static_cast<int>(last)) {
    return base::fail(base::ErrorCode::invalid_argument, "'{}' is {}", member, number);
  }
  return {};
}
[[nodiscard]] inline base::Result<void> check_switch(const clbin_switch& given,
                                                     std::string_view member) {
  return check_enumerator(given, CLBIN_SWITCH_OFF, member);
}

// Returns what C needs of an array of strings, which must outlive it.
[[nodiscard]] inline std::vector<const char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<const char*> pointers;
  pointers.reserve(texts.size());
  for (const std::string& text : texts) {
    pointers.push_back(text.c_str());
  }
  return pointers;
}

[[nodiscard]] inline std::string text_or_empty(const char* text) {
  return text == nullptr ? std::string() : std::string(text);
}

[[nodiscard]] inline std::string variant_or_default(const char* variant) {
  return variant == nullptr || *variant == '\0' ? std::string(format::k_default_variant)
                                                : std::string(variant);
}

} // namespace clbin::c_api
