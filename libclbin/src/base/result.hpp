// Errors as values: a stable code for the caller's program and a message for people.
#pragma once

#include <cstdint>
#include <fmt/core.h>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace clbin::base {

// The numbers are those of `clbin_status` in clbin.h, which c_api_error.cpp checks statically, and
// are never reused. Tens are topics: 10 the caller, 20 files, 30 the bundle's bytes, 40 the choice
// of an entry, 50 OpenCL, 60 trust.
enum class ErrorCode : std::int32_t {
  invalid_argument = 10,
  out_of_memory = 11,
  internal = 12,

  file_not_found = 20,
  file_read = 21,
  file_write = 22,

  not_a_bundle = 30,
  truncated = 31,
  newer_version = 32,
  unknown_required_section = 33,
  damaged = 34,         // a rule of clbin(5) is violated
  digest_mismatch = 35, // the bytes are not those that were written
  limit_exceeded = 36,  // a declared size exceeds the caller's limits
  trailing_bytes = 37,
  manifest_invalid = 38,
  encrypted = 39,

  no_such_program = 40,
  no_such_variant = 41,
  no_matching_entry = 42,
  no_source = 43,
  conflict = 44,       // bundles to be merged contradict each other
  unsafe_options = 45, // recorded build options that are not passed to any driver

  no_opencl = 50, // there is no ICD loader, or it lacks a function
  no_device = 51,
  opencl_call = 52,
  build_failed = 53, // the source does not compile
  binary_refused = 54,
  several_devices_refused = 55,

  not_signed = 60,    // a signature is required, and there is none
  untrusted_key = 61, // there are signatures, but none by a trusted key
  bad_signature = 62,
  old_counter = 63, // below the least one that the caller accepts
  wrong_key = 64,   // of an encrypted bundle
};

// A call of a driver that failed.
struct FailedCall {
  std::string function; // "clBuildProgram"
  std::int32_t code = 0;
  std::string log; // of a build
};

struct Error {
  ErrorCode code;
  std::string message; // one line, lower case, no full stop: the object, the place and the reason
  std::shared_ptr<const FailedCall> call{}; // null if no call of a driver failed
};

template <typename T>
using Result = tl::expected<T, Error>;

template <typename... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text,
                                         Args&&... args) {
  return tl::unexpected<Error>(Error{code, fmt::format(text, std::forward<Args>(args)...)});
}

// Prefixes the message with the operation that failed: "reading 'a.clbin': " + message.
[[nodiscard]] inline tl::unexpected<Error> add_context(Error error, std::string_view context) {
  error.message = fmt::format("{}: {}", context, error.message);
  return tl::unexpected<Error>(std::move(error));
}
// Returns `result`, with add_context() if it is an error.
template <typename T>
[[nodiscard]] Result<T> in_context(Result<T> result, std::string_view context) {
  return result ? std::move(result) : add_context(std::move(result.error()), context);
}

} // namespace clbin::base

// Returns from the function with the error of `expression`, a Result<T>, if there is one. Use it
// only within braces.
#define CLBIN_TRY(expression)                                                                      \
  if (auto clbin_try_result = (expression); !clbin_try_result) {                                   \
    return tl::unexpected(std::move(clbin_try_result.error()));                                    \
  }                                                                                                \
  static_assert(true, "CLBIN_TRY ends with a semicolon")

#define CLBIN_TRY_NAME_2(a, b) a##b
#define CLBIN_TRY_NAME(a, b) CLBIN_TRY_NAME_2(a, b)
// NOLINTBEGIN(bugprone-macro-parentheses): a name and a declaration take none.
#define CLBIN_TRY_ASSIGN_2(name, declaration, expression)                                          \
  auto name = (expression);                                                                        \
  if (!name) {                                                                                     \
    return tl::unexpected(std::move(name.error()));                                                \
  }                                                                                                \
  declaration = std::move(*name)
// NOLINTEND(bugprone-macro-parentheses)

// CLBIN_TRY_ASSIGN(const auto bytes, read_file(path)): declares a variable with the value of a
// Result, or returns its error.
#define CLBIN_TRY_ASSIGN(declaration, expression)                                                  \
  CLBIN_TRY_ASSIGN_2(CLBIN_TRY_NAME(clbin_try_result_, __LINE__), declaration, expression)
