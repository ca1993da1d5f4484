// A value or an error. The demo uses only the public API of libclbin, so it has a separate type.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace runtime_demo {

enum class ExitCode : std::uint8_t {
  success = 0,
  kernel_failed = 1,
  command_line = 2,
  file = 3,
  bundle = 4,
  no_device = 5
};

struct Error {
  ExitCode code;
  std::string message; // one line, lower case, no full stop
};

template <class T>
using Result = tl::expected<T, Error>;

[[nodiscard]] inline tl::unexpected<Error> failure(ExitCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

} // namespace runtime_demo
