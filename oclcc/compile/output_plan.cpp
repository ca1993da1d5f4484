#include "compile/output_plan.hpp"

#include "format/bundle/bundle_surgery.hpp"
#include "targets/binary_entry.hpp"

namespace oclcc {

using format::BinaryKind;
using format::EntryInput;
using worker::DeviceDescription;

namespace {

const std::string& name_of(const format::Target& target) {
  return target.origin == format::TargetOrigin::offline ? target.spec : target.identity.device_name;
}

Result<std::filesystem::path> output_path(const Options& options) {
  if (options.output) {
    return *options.output;
  }
  const bool is_unnamed = options.inputs.size() != 1 || options.inputs.front().path == "-";
  if (is_unnamed && options.goal == CompileGoal::check) {
    return std::filesystem::path("-");
  }
  if (options.inputs.size() != 1) {
    return refused("a bundle of several inputs has no default name: name it with -o");
  }
  const std::filesystem::path& input = options.inputs.front().path;
  if (input == "-") {
    return refused("a bundle from standard input has no default name: name it with -o");
  }
  return std::filesystem::path(
      fmt::format("{}.{}", input.stem().string(), output_kind(options).name));
}

Result<void> refuse_embedding_options(const Options& options, const std::filesystem::path& path) {
  const std::string_view option = options.symbol         ? "--symbol"
                                  : options.host_triple  ? "--host-triple"
                                  : options.embed_header ? "--embed-header"
                                                         : "";
  if (option.empty()) {
    return {};
  }
  return refused("'{}' is for embedded bundles (-o k.h, k.c, k.o or k.s), but '{}' is not one",
                 option, path.string());
}

// A device binary and launchers contain no source, and the code of at most one entry.
Result<void> refuse_bundle_options(const Options& options, const std::filesystem::path& path,
                                   const OutputKind& kind) {
  const bool wants_cubin = options.cubin == CubinPolicy::emit && kind.raw_kind != BinaryKind::cubin;
  const bool has_optional =
      !options.optional_programs.empty() && kind.form == OutputForm::raw_binary;
  const std::string_view option = options.source == SourcePolicy::drop     ? "--no-source"
                                  : wants_cubin                            ? "--emit-cubin"
                                  : has_optional                           ? "--optional"
                                  : options.binaries == BinaryPolicy::none ? "--source-only"
                                  : options.signing.key                    ? "--sign-key"
                                  : options.signing.command                ? "--sign-with"
                                  : options.encryption.key                 ? "--encrypt-key"
                                  : options.encryption.is_requested()      ? "--encrypt-for"
                                                                           : "";
  if (option.empty()) {
    return {};
  }
  return refused("'{}' is for bundles, but '{}' is not one", option, path.string());
}

Result<void> plan_embedding(const Options& options, embed::EmbedForm form, OutputPlan& plan) {
  const bool is_text = form == embed::EmbedForm::c_header || form == embed::EmbedForm::c_source;
  if (options.host_triple && is_text) {
    return refused("'--host-triple' is for object files and assembly; '{}' is for every machine",
                   plan.path.string());
  }
  if (options.embed_header && form == embed::EmbedForm::c_header) {
    return refused("'{}' is itself a header: omit '--embed-header'", plan.path.string());
  }
  plan.form = OutputForm::embedding;
  plan.embedding.form = form;
  plan.embedding.symbol =
      options.symbol ? *options.symbol : embed::default_symbol(plan.path.stem().string());
  if (!is_text) {
    const std::string_view triple =
        options.host_triple ? std::string_view(*options.host_triple) : embed::host_triple();
    CLBIN_TRY_ASSIGN(plan.embedding.target, embed::object_target(triple));
  }
  plan.embed_header = options.embed_header;
  if (plan.embed_header) {
    std::vector<std::filesystem::path> others = input_paths(options);
    others.push_back(plan.path);
    CLBIN_TRY(require_other_files({&*plan.embed_header, 1}, others));
    if (*plan.embed_header == plan.path) {
      return refused("'{}' is both the output and its header", plan.path.string());
    }
  }
  return {};
}

} // namespace

std::vector<std::filesystem::path> input_paths(const Options& options) {
  std::vector<std::filesystem::path> paths;
  std::ranges::transform(options.inputs, std::back_inserter(paths), &Input::path);
  return paths;
}

Result<OutputPlan> plan_output(const Options& options) {
  OutputPlan plan;
  CLBIN_TRY_ASSIGN(plan.path, output_path(options));
  CLBIN_TRY(require_other_files({&plan.path, 1}, input_paths(options)));
  const OutputKind& kind = output_kind(options);
  if (kind.form == OutputForm::embedding) {
    CLBIN_TRY(plan_embedding(options, kind.embed_form, plan));
    return plan;
  }
  CLBIN_TRY(refuse_embedding_options(options, plan.path));
  plan.form = kind.form;
  if (kind.form == OutputForm::bundle) {
    return plan;
  }
  CLBIN_TRY(refuse_bundle_options(options, plan.path, kind));
  if (kind.form == OutputForm::measurements && !bundle_among(options.inputs)) {
    return refused("'{}' can contain only the measurements of a bundle, and '{}' is none",
                   plan.path.string(), options.inputs.front().path.string());
  }
  if (is_converted(kind.form)) {
    return plan;
  }
  plan.raw_kind = kind.raw_kind;
  if (options.inputs.size() > 1 || options.variants.size() > 1) {
    return refused("'{}' can contain only one device binary, but there are several {}",
                   plan.path.string(), options.inputs.size() > 1 ? "inputs" : "variants");
  }
  return plan;
}

Result<OutputPlan> plan_output_of_bundles(const Options& options) {
  if (!options.output && options.goal == CompileGoal::output) {
    return refused("'{}' is a bundle: name the output with '-o'; it may be the bundle itself",
                   options.inputs.front().path.string());
  }
  Options without_inputs = options;
  without_inputs.inputs.clear();
  CLBIN_TRY_ASSIGN(OutputPlan plan, plan_output(without_inputs));
  if (plan.form != OutputForm::bundle) {
    CLBIN_TRY(require_other_files({&plan.path, 1}, input_paths(options)));
  }
  return plan;
}

Result<std::vector<DeviceDescription>> devices_for_output(const OutputPlan& plan,
                                                          const Options& options,
                                                          std::vector<DeviceDescription> devices) {
  const bool is_nvidias = plan.raw_kind == BinaryKind::ptx || plan.raw_kind == BinaryKind::cubin;
  if (!is_nvidias || !options.device_patterns.empty()) {
    return devices;
  }
  std::string others;
  for (const DeviceDescription& device : devices) {
    others += fmt::format("{}'{}'", others.empty() ? "" : ", ", device.identity.device_name);
  }
  std::erase_if(devices, [](const DeviceDescription& device) {
    return format::device_family(device.identity) != format::DeviceFamily::nvidia;
  });
  if (devices.empty()) {
    return fail(ErrorCode::no_device,
                "cannot write '{}': no NVIDIA device of this machine produces PTX, only {}",
                plan.path.string(), others);
  }
  return devices;
}

Result<Bytes> raw_binary(const OutputPlan& plan, const format::BundleInput& bundle) {
  std::vector<Bytes> binaries; // different ones
  const EntryInput* first = nullptr;
  for (const auto& program : bundle.programs) {
    for (const EntryInput& entry : program.entries) {
      CLBIN_TRY_ASSIGN(const base::ByteRegion payload, entry.payload.read());
      Bytes binary(payload.view().begin(), payload.view().end());
      if (std::ranges::find(binaries, binary) == binaries.end()) {
        binaries.push_back(std::move(binary));
      }
      first = first == nullptr ? &entry : first;
    }
  }
  const auto is_promised = [&](const Bytes& binary) {
    return format::classify_binary(binary).kind == plan.raw_kind;
  };
  // A cubin requires PTX first.
  if (std::ranges::any_of(binaries, is_promised)) {
    std::erase_if(binaries, [&](const Bytes& binary) { return !is_promised(binary); });
  }
  if (binaries.size() != 1) {
    return refused(
        "'{}' can contain only one device binary, but {} different ones were built; select "
        "one with --device or --target",
        plan.path.string(), binaries.size());
  }
  Bytes bytes = std::move(binaries.front());
  const auto info = format::classify_binary(bytes);
  if (plan.raw_kind != BinaryKind::unknown && info.kind != plan.raw_kind) {
    return refused("cannot write '{}': '{}' produces {}", plan.path.string(),
                   name_of(first->target), format::describe(info));
  }
  offline::remove_final_nul(plan.raw_kind, bytes);
  return bytes;
}

std::optional<std::filesystem::path> bundle_among(const std::vector<Input>& inputs) {
  const auto bundle =
      std::ranges::find_if(inputs, [](const Input& input) { return is_bundle(input.path); });
  return bundle == inputs.end() ? std::nullopt : std::optional(bundle->path);
}

Result<BundleUse> use_of_bundle(const Options& options, const std::filesystem::path& bundle) {
  const bool is_conversion = is_converted(output_kind(options).form);
  const std::string& option = is_conversion ? options.compiling_option : options.source_option;
  if (!option.empty()) {
    return refused("'{}' cannot be used with '{}', which is a bundle: {}", option, bundle.string(),
                   is_conversion ? "nothing is compiled"
                                 : "its programs are built as they were recorded");
  }
  if (is_conversion) {
    return BundleUse::convert;
  }
  for (const Input& input : options.inputs) {
    if (input.path != bundle && !is_bundle(input.path)) {
      return refused(
          "'{}' is a bundle, and '{}' is not: compile the other inputs without the bundle, "
          "and merge both results",
          bundle.string(), input.path.string());
    }
  }
  return BundleUse::rebuild;
}

Result<Bytes> read_bundle_to_embed(const Options& options, const std::filesystem::path& bundle,
                                   const BundleKeys& keys) {
  if (options.inputs.size() > 1) {
    return refused("'{}' is a bundle, and only one bundle can be embedded; see --merge",
                   bundle.string());
  }
  CLBIN_TRY_ASSIGN(ValidBundle read, read_valid_bundle(bundle, keys));
  return std::move(read.bytes);
}

Result<Bytes> read_measurements(const Options& options, const std::filesystem::path& bundle,
                                const BundleKeys& keys) {
  if (options.inputs.size() > 1) {
    return refused("'{}' is a bundle, and the measurements of only one can be written; see --merge",
                   bundle.string());
  }
  CLBIN_TRY_ASSIGN(const format::BundleReader reader, open_readable_bundle(bundle, keys));
  CLBIN_TRY_ASSIGN(format::StripResult result,
                   base::in_context(format::strip_bundle(
                                        reader, {.measurements = format::KeepMeasurements::only}),
                                    fmt::format("'{}'", bundle.string())));
  return std::move(result.bytes);
}

} // namespace oclcc
