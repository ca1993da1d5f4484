// A unit, and the result of building it.
#pragma once

#include "base/byte_codec.hpp"
#include "command_line/specialization.hpp"
#include "model/bundle.hpp"
#include "units/build_options.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace oclcc {

// A program in one variant for one target, to be built from source, or a binary to be loaded or
// converted.
struct Unit {
  std::size_t target = 0; // the number of the target at its compiler
  std::shared_ptr<const clbin::format::SourcePackage> source;
  BuildOptions options;
  std::vector<Specialization> specializations{};
  std::shared_ptr<const clbin::base::Bytes> binary{};     // if not null, `source` is null
  std::vector<clbin::format::KernelReflection> kernels{}; // of `binary`; to load it, names suffice
};

// The answer of a compiler. The unit was built if `error` is empty and `cl_code` is 0. Then
// `binary` is not empty, unless a binary was loaded.
struct BuildReply {
  std::int32_t cl_code = 0; // 0 if built
  std::string stage;
  std::string log;
  std::string error; // a failure outside the compiler
  clbin::base::Bytes binary;
  std::vector<clbin::format::KernelReflection> kernels;
  // Versions of the programs that made the binary ("ptxas": "13.0.88"), except oclcc and drivers.
  std::map<std::string, std::string> tools{};
};
void visit(clbin::format::Is<BuildReply> auto& reply, const auto& member) {
  auto& [cl_code, stage, log, error, binary, kernels, tools] = reply;
  member("cl_code", cl_code);
  member("stage", stage);
  member("log", log);
  member("error", error);
  member("binary", binary);
  member("kernels", kernels);
  member("tools", tools);
}

struct UnitResult {
  // skipped: the unit needs the binary of another unit, which was not built or is of a kind that
  // its compiler does not convert.
  enum class State : std::uint8_t { attempted, skipped };

  std::optional<BuildReply> reply;
  std::string failure;       // why there is no reply: "the compiler of 'NAME' crashed (signal 11)"
  std::string driver_output; // output of the driver
  State state = State::attempted;
};

// Whether there is a binary. Otherwise, unless the unit was skipped, `failure`, the reply's `error`
// or its `cl_code` has the reason.
[[nodiscard]] bool is_built(const UnitResult& result);

} // namespace oclcc
