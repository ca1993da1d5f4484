#include "output_plan.hpp"

#include <algorithm>
#include <array>

namespace oclcc {

using clbin::base::Bytes;
using clbin::base::ErrorCode;
using clbin::base::fail;
using clbin::base::Result;
using clbin::format::BinaryKind;
using clbin::format::EntryInput;
using worker::DeviceDescription;

namespace {

struct RawSuffix {
  std::string_view suffix;
  BinaryKind kind;
};
constexpr std::array<RawSuffix, 4> k_raw_suffixes{{{".ptx", BinaryKind::ptx},
                                                   {".cubin", BinaryKind::cubin},
                                                   {".spv", BinaryKind::spirv},
                                                   {".bin", BinaryKind::unknown}}};
// These name the bundle embedded in a program, which is not a bundle's bytes.
constexpr std::array<std::string_view, 4> k_embedding_suffixes{".h", ".c", ".o", ".s"};

Result<std::filesystem::path> output_path(const Options& options) {
  if (options.output) {
    return *options.output;
  }
  if (options.inputs.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                "several inputs make one bundle, and it has no name: give one with -o");
  }
  const std::filesystem::path& input = options.inputs.front().path;
  if (input == "-") {
    return fail(ErrorCode::invalid_argument,
                "a bundle from standard input has no name: give one with -o");
  }
  return std::filesystem::path(input.stem().string() + ".clbin");
}

std::vector<std::filesystem::path> input_paths(const Options& options) {
  std::vector<std::filesystem::path> paths;
  for (const Input& input : options.inputs) {
    paths.push_back(input.path);
  }
  return paths;
}

} // namespace

Result<void> require_other_files(const std::filesystem::path& output,
                                 const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    std::error_code error;
    if (file != "-" && output != "-" && std::filesystem::equivalent(file, output, error)) {
      return fail(ErrorCode::invalid_argument, "'{}' is both an input and the output",
                  output.string());
    }
  }
  return {};
}

Result<OutputPlan> plan_output(const Options& options) {
  OutputPlan plan;
  CLBIN_TRY_ASSIGN(plan.path, output_path(options));
  CLBIN_TRY(require_other_files(plan.path, input_paths(options)));
  const std::string suffix = plan.path.extension().string();
  if (std::find(k_embedding_suffixes.begin(), k_embedding_suffixes.end(), suffix) !=
      k_embedding_suffixes.end()) {
    return fail(ErrorCode::invalid_argument,
                "cannot write '{}': this version of oclcc does not embed bundles in '{}' files",
                plan.path.string(), suffix);
  }
  const auto* const raw =
      std::find_if(k_raw_suffixes.begin(), k_raw_suffixes.end(),
                   [&](const RawSuffix& candidate) { return candidate.suffix == suffix; });
  if (raw == k_raw_suffixes.end()) {
    return plan;
  }
  plan.form = OutputForm::raw_binary;
  plan.raw_kind = raw->kind;
  if (options.inputs.size() > 1 || options.variants.size() > 1) {
    return fail(ErrorCode::invalid_argument,
                "'{}' holds one device binary, but there are several {}", plan.path.string(),
                options.inputs.size() > 1 ? "inputs" : "variants");
  }
  return plan;
}

Result<std::vector<DeviceDescription>> devices_for_output(const OutputPlan& plan,
                                                          const Options& options,
                                                          std::vector<DeviceDescription> devices) {
  if (plan.raw_kind != BinaryKind::ptx || !options.device_patterns.empty()) {
    return devices;
  }
  std::string others;
  for (const DeviceDescription& device : devices) {
    others += fmt::format("{}'{}'", others.empty() ? "" : ", ", device.identity.device_name);
  }
  std::erase_if(devices, [](const DeviceDescription& device) {
    return clbin::format::device_family(device.identity) != clbin::format::DeviceFamily::nvidia;
  });
  if (devices.empty()) {
    return fail(ErrorCode::no_device, "cannot write '{}': no NVIDIA device makes PTX here, only {}",
                plan.path.string(), others);
  }
  return devices;
}

Result<Bytes> raw_binary(const OutputPlan& plan, const clbin::format::BundleInput& bundle) {
  std::vector<const EntryInput*> entries;
  for (const auto& program : bundle.programs) {
    for (const EntryInput& entry : program.entries) {
      const bool known = std::any_of(entries.begin(), entries.end(), [&](const EntryInput* other) {
        return other->payload == entry.payload;
      });
      if (!known) {
        entries.push_back(&entry);
      }
    }
  }
  if (entries.size() != 1) {
    return fail(ErrorCode::invalid_argument,
                "'{}' holds one device binary, but {} different ones were made; choose a device "
                "with --device",
                plan.path.string(), entries.size());
  }
  const EntryInput& entry = *entries.front();
  const auto info = clbin::format::classify_binary(entry.payload);
  if (plan.raw_kind != BinaryKind::unknown && info.kind != plan.raw_kind) {
    return fail(ErrorCode::invalid_argument, "cannot write '{}': '{}' makes {}", plan.path.string(),
                entry.target.identity.device_name, clbin::format::describe(info));
  }
  Bytes bytes = entry.payload;
  // NVIDIA's driver ends PTX with a NUL, which ptxas refuses.
  while (plan.raw_kind == BinaryKind::ptx && !bytes.empty() && bytes.back() == std::byte{0}) {
    bytes.pop_back();
  }
  return bytes;
}

} // namespace oclcc
