// Plans the output of the compile mode.
#pragma once

#include "base/result.hpp"
#include "command_line/options.hpp"
#include "command_line/output_kind.hpp"
#include "embed/embedding.hpp"
#include "format/binary/binary_kind.hpp"
#include "model/bundle.hpp"
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
  // The kind that the suffix of a raw file requires; unknown for any kind (".bin").
  clbin::format::BinaryKind raw_kind = clbin::format::BinaryKind::unknown;
  embed::Embedding embedding;                        // for OutputForm::embedding
  std::optional<std::filesystem::path> embed_header; // of --embed-header
};

// Plans the output. Without -o, it is the stem of the only input with ".clbin", in the working
// directory. With CompileGoal::check, which writes nothing, an output without a name is "-".
// invalid_argument: there is no default name, the output is an input, a raw binary of several
// programs, or an option has no effect on this form of output.
[[nodiscard]] clbin::base::Result<OutputPlan> plan_output(const Options& options);

// Plans the output of a compile whose inputs are bundles. A bundle may replace one of them.
// invalid_argument as above, and if there is no -o.
[[nodiscard]] clbin::base::Result<OutputPlan> plan_output_of_bundles(const Options& options);

// Returns the devices that can produce the kind of a raw output. Without --device, ".ptx" and
// ".cubin" select the NVIDIA devices. no_device if none is left.
[[nodiscard]] clbin::base::Result<std::vector<worker::DeviceDescription>>
devices_for_output(const OutputPlan& plan, const Options& options,
                   std::vector<worker::DeviceDescription> devices);

// Returns the device binary to write. invalid_argument if there are several different ones, or it
// is not of the kind that the suffix requires.
[[nodiscard]] clbin::base::Result<clbin::base::Bytes>
raw_binary(const OutputPlan& plan, const clbin::format::BundleInput& bundle);

} // namespace oclcc
