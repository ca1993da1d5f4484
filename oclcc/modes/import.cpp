// --import: device binaries that other tools made, in files or in containers, become the entries of
// a bundle.
#include "command_line/modes.hpp"

#include "format/bundle/bundle_writer.hpp"
#include "matching/vendor_rules.hpp"
#include "modes/containers.hpp"
#include "modes/recording.hpp"
#include "targets/binary_entry.hpp"
#include "targets/machine_description.hpp"
#include "targets/offline_target.hpp"
#include "targets/patterns.hpp"
#include "worker/installed_devices.hpp"

#include <fmt/format.h>

namespace oclcc {

using format::BinaryInfo;
using format::BinaryKind;
using format::EntryInput;
using format::Target;

namespace {

constexpr std::uint64_t k_max_imported_bytes = 1ULL << 30U;

// A word of the command line: [PROGRAM:][TARGET=]FILE.
struct ImportedFile {
  std::string program; // empty: the default
  std::string target;  // empty: what the binary says
  std::filesystem::path path;
};

bool is_offline_target(const std::string& target) {
  Target written;
  written.origin = format::TargetOrigin::offline;
  written.spec = target;
  return target.find(':') != std::string::npos &&
         target_family(written) != format::DeviceFamily::unknown;
}

// Splits "PROGRAM:REST". The colons of "nvptx:sm_70" and "NAME@DRIVER:32" are others.
void take_program(std::string& text, ImportedFile& file) {
  const std::size_t colon = text.find(':');
  if (colon < text.find('@') && !is_offline_target(text)) {
    file.program = text.substr(0, colon);
    text.erase(0, colon + 1);
  }
}

// As for scp(1), a colon or an equals sign behind a slash belongs to the name of the file.
Result<ImportedFile> parse_file(const std::string& word) {
  ImportedFile file;
  const std::size_t slash = word.find('/');
  const std::size_t equals = word.find('=');
  std::string target = word.substr(0, equals < slash ? equals : 0);
  std::string path = equals < slash ? word.substr(equals + 1) : word;
  const bool has_program = word.find(':') < slash;
  if (equals < slash) {
    take_program(target, file);
    file.target = target;
  } else if (has_program) {
    file.program = path.substr(0, path.find(':'));
    path.erase(0, file.program.size() + 1);
  }
  const bool is_complete = !path.empty() && (equals >= slash || !target.empty()) &&
                           (!file.program.empty() || !word.starts_with(':'));
  if (!is_complete) {
    return refused("'--import' requires [PROGRAM:][TARGET=]FILE, not '{}'", word);
  }
  file.path = path;
  if (file.program.empty()) {
    file.program = path == "-" ? "stdin" : file.path.stem().string();
  }
  return file;
}

// ---- Targets -----------------------------------------------------------------------------------

// The devices that targets name.
class Devices {
public:
  Devices(const Options& options, const ModeContext& context)
      : m_options(options), m_context(context) {}

  Result<Target> find(const std::string& pattern) {
    if (!m_devices) {
      CLBIN_TRY_ASSIGN(m_devices, m_options.machines.empty() ? installed() : of_machines());
    }
    CLBIN_TRY_ASSIGN(auto found, select_devices(*m_devices, {pattern}));
    std::set<std::string> features; // equal devices have one
    for (const format::DeviceDescription& device : found) {
      features.insert(device_feature(device.identity));
    }
    if (features.size() > 1) {
      return refused("'{}' matches several devices: '{}'", pattern, fmt::join(features, "', '"));
    }
    Target target;
    target.identity = std::move(found.front().identity);
    return target;
  }

private:
  using List = std::vector<format::DeviceDescription>;

  [[nodiscard]] Result<List> of_machines() const {
    List all;
    for (const std::filesystem::path& machine : m_options.machines) {
      CLBIN_TRY_ASSIGN(List devices, read_machine(machine));
      std::move(devices.begin(), devices.end(), std::back_inserter(all));
    }
    return all;
  }

  [[nodiscard]] Result<List> installed() const {
    CLBIN_TRY_ASSIGN(const auto workers, worker::with_home(m_context.workers));
    CLBIN_TRY_ASSIGN(auto found,
                     worker::find_installed_devices(workers, worker::PropertyQuery::skip));
    for (const std::string& failure : found.failures) {
      m_context.reporter.warning(failure);
    }
    return std::move(found.devices);
  }

  const Options& m_options;
  const ModeContext& m_context;
  std::optional<List> m_devices;
};

// "NAME@DRIVER", with ":32" if the processes that load the binary have 32 bits.
std::optional<Target> named_device(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  constexpr std::string_view k_32_bits = ":32";
  const bool has_32_bits = text.ends_with(k_32_bits);
  text.remove_suffix(has_32_bits ? k_32_bits.size() : 0);
  Target target;
  target.identity = clbin::matching::short_identity(text.substr(0, at), text.substr(at + 1),
                                                    has_32_bits ? 32 : 64);
  return target;
}

// Whether a binary of this kind can be for a target that it does not name.
bool may_have_target(const BinaryInfo& info) {
  return info.kind == BinaryKind::amd_code_object || info.kind == BinaryKind::intel_zebin;
}

// Returns the target `spec` if the binary neither names a target nor contradicts this one: what it
// contains belongs to no known target.
std::optional<Target> unnamed_target(const BinaryInfo& info, const std::string& spec) {
  const bool is_zebin = info.kind == BinaryKind::intel_zebin;
  if (!may_have_target(info) || !spec.starts_with(is_zebin ? "intel:" : "amdgcn:") ||
      offline::target_of_binary(info)) {
    return std::nullopt;
  }
  const bool has_architecture = info.has_architecture() || info.product_family != 0;
  const auto known = offline::parse_targets(spec);
  if (known && (known->size() != 1 || has_architecture)) {
    return std::nullopt;
  }
  if (known) {
    return recorded_target(known->front());
  }
  Target target;
  target.origin = format::TargetOrigin::offline;
  target.spec = spec;
  target.identity.address_bits = info.address_bits;
  if (is_zebin && info.has_architecture()) {
    target.identity.architecture =
        fmt::format("{}.{}.{}", info.arch_major, info.arch_minor, info.arch_stepping);
  }
  return target;
}

// ---- Entries -----------------------------------------------------------------------------------

// "PTX 7.5 for sm_50 ('nvptx:sm_50')"
std::string content_of(const ContainedBinary& binary) {
  const BinaryInfo info = format::classify_binary(binary.bytes);
  const auto target = offline::target_of_binary(info);
  return target ? fmt::format("{} ('{}')", describe(info), target->spec) : describe(info);
}

class Importer {
public:
  Importer(const Options& options, const ModeContext& context)
      : m_reporter(context.reporter), m_devices(options, context) {}

  // Adds the entries of a file, whose contents this object keeps until its end.
  Result<void> add(const ImportedFile& file) {
    CLBIN_TRY_ASSIGN(base::Bytes bytes, base::read_whole_file(file.path, k_max_imported_bytes));
    if (const std::string_view name = format::name_of_foreign_file(bytes); !name.empty()) {
      return fail(ErrorCode::no_matching_entry, "it is {}", name);
    }
    if (file.target.empty() || is_offline_target(file.target)) {
      return add_container(file, std::move(bytes));
    }
    return add_for_device(file, std::move(bytes));
  }

  format::BundleInput take() { return bundle_of(std::exchange(m_programs, {})); }

private:
  Result<void> add_container(const ImportedFile& file, base::Bytes bytes);
  // Returns whether the binary is one of those that `file` names.
  Result<bool> add_binary(const ImportedFile& file, const ContainedBinary& binary);
  Result<void> add_for_device(const ImportedFile& file, base::Bytes bytes);
  Result<void> add_entry(const ImportedFile& file, const std::string& place, Target target,
                         base::ByteView bytes);

  Reporter& m_reporter;
  Devices m_devices;
  std::vector<Container> m_containers; // whose binaries the entries borrow
  std::map<std::string, format::ProgramInput> m_programs;
};

// "k.fatbin, member 2"
std::string shown_name(const ImportedFile& file, const std::string& place) {
  return bundle_name(file.path) + (place.empty() ? "" : ", " + place);
}

Result<void> Importer::add_entry(const ImportedFile& file, const std::string& place, Target target,
                                 base::ByteView bytes) {
  const BinaryInfo info = format::classify_binary(bytes);
  CLBIN_TRY_ASSIGN(EntryInput entry, offline::entry_of_binary(base::ByteRegion::borrow(bytes)));
  if (info.kind == BinaryKind::ptx && info.ptx_flavour == format::PtxFlavour::cuda) {
    m_reporter.warning(
        fmt::format("{}: libclbin never loads {}: OpenCL requires '.target …, texmode_independent'",
                    shown_name(file, place), describe(info)));
  }
  if (clbin::matching::series_identity(target.identity) == target.identity) {
    m_reporter.warning(
        fmt::format("{}: '{}' is a series: a driver can reject the binary of another GPU, or crash "
                    "the process; libclbin tries it only while it can record a crash in its cache "
                    "directory",
                    shown_name(file, place), target.identity.device_name));
  }
  entry.target = std::move(target);
  m_reporter.verbose(fmt::format(
      "{}: {} of program '{}', for '{}'", shown_name(file, place), describe(info), file.program,
      entry.target.spec.empty() ? entry.target.identity.device_name : entry.target.spec));
  format::ProgramInput& program = m_programs[file.program];
  program.name = file.program;
  program.variants = {{entry.variant, ""}};
  program.entries.push_back(std::move(entry));
  return {};
}

Result<bool> Importer::add_binary(const ImportedFile& file, const ContainedBinary& binary) {
  const BinaryInfo info = format::classify_binary(binary.bytes);
  auto target = unnamed_target(info, file.target);
  target = target ? target : offline::target_of_binary(info);
  if (!file.target.empty() && (!target || target->spec != file.target)) {
    return false;
  }
  if (target) {
    CLBIN_TRY(add_entry(file, binary.place, std::move(*target), binary.bytes));
    return true;
  }
  if (may_have_target(info)) {
    return fail(ErrorCode::no_matching_entry,
                "{} does not name a target that oclcc lists: name it, as TARGET=FILE",
                describe(info));
  }
  if (binary.place.empty()) {
    return fail(ErrorCode::no_matching_entry,
                "{} does not name its device: name it, as TARGET=FILE{}", describe(info),
                file.path.extension() != ".clbin"
                    ? ""
                    : "; Arm Compute Library calls device binaries of its driver \".clbin\"");
  }
  m_reporter.warning(
      fmt::format("{} is skipped: {}", shown_name(file, binary.place), describe(info)));
  return false;
}

Result<void> Importer::add_container(const ImportedFile& file, base::Bytes bytes) {
  CLBIN_TRY_ASSIGN(Container opened, open_container(std::move(bytes)));
  const Container& container = m_containers.emplace_back(std::move(opened));
  std::vector<std::string> others;
  for (const ContainedBinary& binary : container.binaries) {
    auto is_added = add_binary(file, binary);
    if (!is_added) {
      return binary.place.empty() ? tl::unexpected(std::move(is_added.error()))
                                  : base::add_context(std::move(is_added.error()), binary.place);
    }
    if (!*is_added) {
      others.push_back(content_of(binary));
    }
  }
  if (others.size() == container.binaries.size()) {
    return fail(ErrorCode::no_matching_entry, "it contains no {}, but {}",
                file.target.empty() ? "device binary" : fmt::format("binary for '{}'", file.target),
                fmt::join(others, ", "));
  }
  return {};
}

Result<void> Importer::add_for_device(const ImportedFile& file, base::Bytes bytes) {
  Container& container = m_containers.emplace_back();
  container.storage.push_back(std::move(bytes));
  const base::ByteView view = container.storage.front();
  const BinaryInfo info = format::classify_binary(view);
  auto named = named_device(file.target);
  if (named && (named->identity.device_name.empty() || named->identity.driver_version.empty())) {
    return refused("'{}' is not NAME@DRIVER", file.target);
  }
  if (named && info.kind != BinaryKind::unknown) {
    return refused("{} is not a binary of a device that NAME@DRIVER identifies", describe(info));
  }
  if (!named) {
    CLBIN_TRY_ASSIGN(named, m_devices.find(file.target));
  }
  const auto verdict = clbin::matching::judge_own(info, named->identity);
  if (verdict.fit == clbin::matching::Fit::no) {
    return refused("{}", verdict.reason);
  }
  return add_entry(file, {}, std::move(*named), view);
}

// What is wrong with a file has the status of files, not that of bundles.
ErrorCode code_of_file(ErrorCode code) {
  return exit_code_of(code) == ExitCode::not_a_bundle || code == ErrorCode::no_matching_entry
             ? ErrorCode::file_read
             : code;
}

} // namespace

Result<ExitCode> import_binaries(const Options& options, const ModeContext& context) {
  if (!options.output) {
    return refused("'--import' needs an output: name one with '-o'");
  }
  Importer importer(options, context);
  std::vector<Error> errors;
  std::vector<std::filesystem::path> read = options.machines;
  for (const Input& input : options.inputs) {
    CLBIN_TRY_ASSIGN(const ImportedFile file, parse_file(input.path.string()));
    read.push_back(file.path);
    CLBIN_TRY(require_other_files({&*options.output, 1}, read));
    if (auto added = importer.add(file); !added) {
      Error error = named_error(std::move(added.error()), file.path);
      error.code = code_of_file(error.code);
      errors.push_back(std::move(error));
    }
  }
  if (!errors.empty()) {
    return report_errors(errors, context.reporter);
  }
  CLBIN_TRY_ASSIGN(base::OutputFile output, base::OutputFile::open(*options.output));
  format::WriteOptions write;
  CLBIN_TRY_ASSIGN(write.spill, base::SpillFile::create());
  CLBIN_TRY(format::write_bundle(importer.take(), write,
                                 [&](base::ByteView bytes) { return output.append(bytes); }));
  CLBIN_TRY(output.commit());
  return ExitCode::success;
}

} // namespace oclcc
