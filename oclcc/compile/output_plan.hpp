// Plans the outputs of the compile mode: the bundle or what is made of it, and the rule of -MD.
#pragma once

#include "command_line/bundle_file.hpp"
#include "worker/worker_protocol.hpp"

namespace oclcc {

namespace embed {

struct Embedding {
  EmbedForm form = EmbedForm::object;
  std::string symbol;
  ObjectTarget target; // for object files and assembly
};

// What is before and after the bundle in an object file.
struct ObjectFrame {
  base::Bytes before;
  base::Bytes after;
};
// limit_exceeded: the bundle is too large for a 32-bit target.
[[nodiscard]] Result<ObjectFrame> frame_object(const ObjectTarget& target, std::string_view symbol,
                                               std::uint64_t bundle_bytes);

} // namespace embed

struct OutputPlan {
  std::filesystem::path path;
  OutputForm form = OutputForm::bundle;
  // The kind that the suffix of a raw file requires; unknown for any kind (".bin").
  format::BinaryKind raw_kind = format::BinaryKind::unknown;
  embed::Embedding embedding;                        // for OutputForm::embedding
  std::optional<std::filesystem::path> embed_header; // of --embed-header
};

[[nodiscard]] std::vector<std::filesystem::path> input_paths(const Options& options);

// Plans the output. Without -o, it is the stem of the only input with ".clbin", in the working
// directory. With CompileGoal::check, which writes nothing, an output without a name is "-".
// invalid_argument: there is no default name, the output is an input, a raw binary of several
// programs, or an option has no effect on this form of output.
[[nodiscard]] Result<OutputPlan> plan_output(const Options& options);

// Plans the output of a compile whose inputs are bundles. A bundle may replace one of them.
// invalid_argument as above, and if there is no -o.
[[nodiscard]] Result<OutputPlan> plan_output_of_bundles(const Options& options);

// Returns the devices that can produce the kind of a raw output. Without --device, ".ptx" and
// ".cubin" select the NVIDIA devices. no_device if none is left.
[[nodiscard]] Result<std::vector<worker::DeviceDescription>>
devices_for_output(const OutputPlan& plan, const Options& options,
                   std::vector<worker::DeviceDescription> devices);

// Returns the device binary to write. invalid_argument if there are several different ones, or it
// is not of the kind that the suffix requires.
[[nodiscard]] Result<base::Bytes> raw_binary(const OutputPlan& plan,
                                             const format::BundleInput& bundle);

struct DepfilePlan {
  std::filesystem::path file;       // "-" for standard output
  std::vector<std::string> targets; // escaped for the rule
  PhonyHeaders phony = PhonyHeaders::no;
};

// Requires that Options::depfile_mode is not none. `output` is the name of the bundle, or "-" for
// standard output. invalid_argument: the file or the target of the rule has no default name, or the
// file is the output.
[[nodiscard]] Result<DepfilePlan> plan_depfile(const Options& options,
                                               const std::filesystem::path& output);
// Returns the plan for -M without a bundle. The rule goes to -MF, otherwise to -o, otherwise to
// standard output.
[[nodiscard]] Result<DepfilePlan> plan_rule_only(const Options& options);

// Returns one rule for all of `files`, with lines broken like gcc's. With PhonyHeaders::yes, adds a
// rule without prerequisites for each file that is not in `inputs`, so that make continues after
// the file is removed. invalid_argument: a name contains a line break.
[[nodiscard]] Result<std::string> dependency_rule(const DepfilePlan& plan,
                                                  std::span<const std::filesystem::path> files,
                                                  std::span<const Input> inputs);

// Writes the commands with which clang would compile the sources of `options` to the file of
// --compile-commands, for clangd. Keeps what the file contains for other sources. Errors:
// invalid_argument, manifest_invalid: the file is another one; file_read, file_write.
[[nodiscard]] Result<void> write_compile_commands(const Options& options);

// Writes the file of `plan`, of OutputForm::embedding, into `output`, which the caller commits, and
// its header if one is requested. Warns about headers that take minutes to compile. limit_exceeded:
// an object file is too large for a 32-bit target. Errors of OutputFile.
[[nodiscard]] Result<void> write_embedding_files(const OutputPlan& plan, base::ByteView bundle,
                                                 base::OutputFile& output, Reporter& reporter);

// Returns the first input that is a bundle; std::nullopt if all are sources.
[[nodiscard]] std::optional<std::filesystem::path> bundle_among(const std::vector<Input>& inputs);

// convert: to an embedding, launchers or measurements. rebuild: its programs are built anew.
enum class BundleUse : std::uint8_t { convert, rebuild };

// Returns the use of the input `bundle`, before planning. invalid_argument: an option has no effect
// on it, or other inputs of a rebuild are not bundles.
[[nodiscard]] Result<BundleUse> use_of_bundle(const Options& options,
                                              const std::filesystem::path& bundle);

// Returns the bytes of the input `bundle` for `oclcc k.clbin -o k.o`, after verifying all of it, or
// all that can be read without a key. invalid_argument: there are other inputs. Reader errors, with
// the file name.
[[nodiscard]] Result<base::Bytes> read_bundle_to_embed(const Options& options,
                                                       const std::filesystem::path& bundle,
                                                       const BundleKeys& keys);

// Returns a bundle of the measurements of the input `bundle` alone, not encrypted.
// invalid_argument: there are other inputs, or no measurements.
[[nodiscard]] Result<base::Bytes> read_measurements(const Options& options,
                                                    const std::filesystem::path& bundle,
                                                    const BundleKeys& keys);

} // namespace oclcc
