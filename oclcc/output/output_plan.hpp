// Where the compile mode writes, and what.
#pragma once

#include "base/result.hpp"
#include "command_line/options.hpp"
#include "command_line/output_kind.hpp"
#include "embed/embedding.hpp"
#include "format/binary_kind.hpp"
#include "format/bundle.hpp"
#include "worker/worker_protocol.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace oclcc {

struct OutputPlan {
  std::filesystem::path path;
  OutputForm form = OutputForm::bundle;
  // What a raw file's suffix promises; unknown: whatever the device makes (".bin").
  clbin::format::BinaryKind raw_kind = clbin::format::BinaryKind::unknown;
  embed::Embedding embedding;                        // of OutputForm::embedding
  std::optional<std::filesystem::path> embed_header; // what declares it, where asked for
};

// Without -o, the one input's stem with ".clbin" in the current folder. invalid_argument: no name
// can be chosen, the output is an input, a raw binary of several programs, an option that the form
// of the output has no use for. With CompileGoal::check, which writes none, an output without a
// name is "-".
[[nodiscard]] clbin::base::Result<OutputPlan> plan_output(const Options& options);

// Those that can make what a raw output promises: without --device, ".ptx" and ".cubin" mean the
// NVIDIA devices. no_device when none is left.
[[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
devices_for_output(const OutputPlan& plan, const Options& options,
                   std::vector<worker::DeviceDescription> devices);

// The one device binary to write. invalid_argument when there are several different ones, or it is
// not what the suffix promises.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
raw_binary(const OutputPlan& plan, const clbin::format::BundleInput& bundle);

} // namespace oclcc
