#include "command_line/modes.hpp"

#include "closure/run_time_closure.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "listing/launch_compilation.hpp"
#include "modes/bundle_summary.hpp"
#include "modes/kernel_resources.hpp"
#include "modes/launch_description.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>
#include <numeric>

namespace oclcc {

namespace {

// ---- Summaries ----------------------------------------------------------------------------------

using Source = std::shared_ptr<const base::ByteSource>;

// Returns null if the source is not shorter than its bundle declares.
Source as_if_whole(const Source& source) {
  const auto start = source->read(0, format::k_prefix_bytes, "prefix");
  if (!start) {
    return nullptr;
  }
  const auto prefix =
      format::read_record<format::Prefix>(start->view().subspan(format::k_magic.size()), "prefix");
  if (!prefix || prefix->total_bytes <= source->size_bytes()) {
    return nullptr;
  }
  return std::make_shared<base::ByteSource>(
      prefix->total_bytes, source->name(), source->name(),
      [source](std::uint64_t offset, std::uint64_t size_bytes, std::string_view field) {
        return source->read(offset, size_bytes, field);
      });
}

std::optional<format::BundleReader> open(const Source& source, clbin::listing::ErrorList& errors) {
  auto reader = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
  if (reader) {
    return std::move(*reader);
  }
  errors.add(reader.error());
  if (reader.error().code == ErrorCode::trailing_bytes) {
    reader = format::BundleReader::open(source, {}, format::TrailingBytes::ignore);
  } else if (const Source whole = as_if_whole(source); whole != nullptr) {
    reader = format::BundleReader::open(whole, {}, format::TrailingBytes::refuse);
  }
  return reader ? std::optional(std::move(*reader)) : std::nullopt;
}

// Returns a summary of nothing but errors.
BundleSummary unread_summary(const std::filesystem::path& path, std::vector<Error> errors) {
  BundleSummary summary;
  summary.file = bundle_name(path);
  summary.errors = std::move(errors);
  return summary;
}

BundleSummary summarize_source(const std::filesystem::path& path, const Source& source,
                               const BundleKeys& keys) {
  clbin::listing::ErrorList errors(bundle_name(path));
  auto reader = open(source, errors);
  if (!reader) {
    return unread_summary(path, errors.list());
  }
  if (const auto unlocked = keys.unlock(*reader); !unlocked) {
    errors.add(unlocked.error());
  }
  return clbin::listing::summarize(*reader, std::move(errors));
}

// Returns `source` itself unless it is an encrypted bundle.
Result<Source> decrypted(const Source& source, const BundleKeys& keys) {
  auto bundle = format::BundleReader::open(source, {}, format::TrailingBytes::refuse);
  if (!bundle || !bundle->is_encrypted()) {
    return source;
  }
  CLBIN_TRY(keys.unlock(*bundle));
  CLBIN_TRY(require_contents(*bundle));
  CLBIN_TRY(bundle->verify()); // decrypting copies only what is used
  CLBIN_TRY_ASSIGN(base::Bytes plain, format::merge_bundles(std::array{&std::as_const(*bundle)}));
  return base::owning_source(std::move(plain), source->name());
}

// ---- Texts --------------------------------------------------------------------------------------

std::string work_group_text(const format::KernelReflection& kernel) {
  std::vector<std::string> facts;
  if (const auto& size = kernel.required_work_group_size; size[0] != 0) {
    facts.push_back(fmt::format(" of {}", fmt::join(size, "x")));
  }
  if (kernel.max_work_group_size) {
    facts.push_back(fmt::format(" at most {}", *kernel.max_work_group_size));
  }
  if (kernel.preferred_multiple) {
    facts.push_back(fmt::format(" best in multiples of {}", *kernel.preferred_multiple));
  }
  std::string_view separator = " specialized for ";
  for (const auto& size : kernel.specialized_sizes) {
    facts.push_back(fmt::format("{}{}", std::exchange(separator, " "), fmt::join(size, "x")));
  }
  return facts.empty() ? "" : fmt::format("work-group{}", fmt::join(facts, ","));
}

std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

void append_line(std::string& text, std::size_t indent, std::string_view label,
                 std::string_view value) {
  text += fmt::format("{:{}}{:<10}{}\n", "", indent, label, printable(value));
}

void append_first_launch(std::string& text, const EntrySummary& entry) {
  const auto& kernels = entry.details->kernels;
  const auto compiled =
      clbin::listing::kernels_compiled_at_launch(entry.entry.target.family, kernels);
  if (!compiled || compiled->empty()) {
    return;
  }
  const std::string which = compiled->size() == kernels.size()
                                ? std::string("every kernel")
                                : fmt::format("'{}'", fmt::join(*compiled, "', '"));
  append_line(text, 4, "launch",
              fmt::format("the first launch of {} compiles; --specialize avoids it", which));
}

void append_details(std::string& text, const EntrySummary& entry) {
  if (!entry.details) {
    for (const std::string& name : entry.entry.kernels) {
      append_line(text, 4, "kernel", name + "(...)");
    }
    return;
  }
  for (const format::KernelReflection& kernel : entry.details->kernels) {
    append_line(text, 4, "kernel", kernel_signature(kernel));
    for (const std::string& fact : kernel_facts(kernel)) {
      append_line(text, 4, "", "  " + fact);
    }
  }
  for (const format::SpecConstant& constant : entry.details->spec_constants) {
    append_line(text, 4, "constant",
                fmt::format("{}: {}{}{}, default 0x{:x}", constant.spec_id, constant.type_name,
                            constant.name.empty() ? "" : " ", constant.name,
                            constant.default_bits));
  }
  append_first_launch(text, entry);
}

void append_entry(std::string& text, const EntrySummary& entry, const format::GroupView& group) {
  append_line(text, 2, "entry", format::describe(entry.entry));
  const format::TargetView& target = entry.entry.target;
  if (target.origin == format::TargetOrigin::offline) {
    append_line(text, 4, "target", target.spec);
  } else {
    if (!target.platform_name.empty()) { // otherwise matching::short_identity
      append_line(text, 4, "platform", target.platform_name);
    }
    append_line(text, 4, "device", target.device_name);
    append_line(text, 4, "driver", target.driver_version);
  }
  if (const auto& blob = entry.blob) {
    const bool is_referring = blob->reference != format::k_no_index;
    append_line(text, 4, "size",
                fmt::format("{} bytes, {} stored{}", blob->raw_bytes, blob->stored_bytes,
                            is_referring ? " against another payload" : ""));
    append_line(text, 4, "digest", base::to_hex(blob->raw_digest));
  }
  if (entry.entry.options != group.options) {
    append_line(text, 4, "options", entry.entry.options.empty() ? "none" : entry.entry.options);
  }
  if (const auto& spirv = entry.spirv) {
    std::vector<std::string> names;
    std::ranges::transform(spirv->capabilities, std::back_inserter(names),
                           format::spirv_capability_name);
    names.insert(names.end(), spirv->extensions.begin(), spirv->extensions.end());
    names.insert(names.end(), spirv->instruction_sets.begin(), spirv->instruction_sets.end());
    append_line(text, 4, "requires", fmt::format("{}", fmt::join(names, " ")));
  }
  append_details(text, entry);
}

std::string described_source(const GroupSummary& group, bool is_locked) {
  if (group.group.source_blob == format::k_no_index) {
    return "not kept";
  }
  if (is_locked) {
    return "kept, encrypted";
  }
  if (group.sources->empty()) {
    return "kept, but unreadable";
  }
  std::uint64_t bytes = 0;
  for (const SourceSummary& source : *group.sources) {
    bytes += source.bytes;
  }
  return fmt::format("kept: {}, {}", counted(group.sources->size(), "file", "files"),
                     counted(bytes, "byte", "bytes"));
}

// That of a recorded program, whose name is a digest.
std::string label_of(const GroupSummary& group) {
  if (group.sources->empty() || !base::digest_from_hex(group.group.program.str())) {
    return {};
  }
  return printable(clbin::closure::recorded_label(group.sources->front().display_name));
}

void append_group(std::string& text, const GroupSummary& group, bool is_locked) {
  text += fmt::format("\nprogram '{}', variant '{}'\n", printable(group.group.program),
                      printable(group.group.variant));
  if (const std::string label = label_of(group); !label.empty()) {
    append_line(text, 2, "label", label);
  }
  append_line(text, 2, "options", group.group.options.empty() ? "none" : group.group.options);
  if (!group.group.required.empty()) {
    append_line(text, 2, "requires", fmt::format("{}", fmt::join(group.group.required, " ")));
  }
  append_line(text, 2, "source", described_source(group, is_locked));
  for (const format::RecordedBuild& build : group.builds) {
    append_line(text, 2, "built on", build_text(build));
  }
  for (const std::string& launch : launch_texts(group.launches)) {
    append_line(text, 2, "launched", launch);
  }
  for (const std::string& measured : measurement_texts(group.measurements)) {
    append_line(text, 2, "measured", measured);
  }
  for (const std::string& known : answer_texts(group.answers)) {
    append_line(text, 2, "answer", known);
  }
  for (const EntrySummary& entry : group.entries) {
    append_entry(text, entry, group.group);
  }
}

// ---- Tables -------------------------------------------------------------------------------------

// A program with more cells is printed without a table, which is larger than the bundle if the
// entries share no kernel.
constexpr std::size_t k_max_cells = std::size_t{1} << 20U;
constexpr std::size_t k_label_cells = 10;
constexpr std::size_t k_max_column_cells = 24;

// The installed devices of a bundle by number, from 1: their names are too long for a column.
class DeviceNumbers {
public:
  explicit DeviceNumbers(const BundleSummary& bundle) {
    for (const GroupSummary& group : bundle.groups) {
      for (const EntrySummary& entry : group.entries) {
        const format::TargetView& target = entry.entry.target;
        if (target.origin != format::TargetOrigin::offline) {
          m_numbers.emplace(name_of(target), m_numbers.size() + 1);
        }
      }
    }
  }

  [[nodiscard]] std::string of(const format::TargetView& target) const {
    return fmt::format("[{}]", m_numbers.at(name_of(target)));
  }

  void append(std::string& text) const {
    std::vector<const std::string*> names(m_numbers.size());
    for (const auto& [name, number] : m_numbers) {
      names[number - 1] = &name;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      append_line(text, 2, fmt::format("[{}]", i + 1), *names[i]);
    }
  }

private:
  static std::string name_of(const format::TargetView& target) {
    return fmt::format("{} ({}), driver {}", target.device_name.str(), target.platform_name.str(),
                       target.driver_version.str());
  }

  std::map<std::string, std::size_t> m_numbers;
};

// Returns the text, or its beginning and "..." if it has more than `cells` cells.
std::string shortened(const std::string& text, std::size_t cells) {
  constexpr std::string_view k_dots = "...";
  const std::string_view whole = fitting(text, cells);
  return whole.size() == text.size()
             ? text
             : fmt::format("{}{}", fitting(text, cells - k_dots.size()), k_dots);
}

// An entry in the table of its program.
struct Column {
  std::array<std::string, 3> head; // the target in two lines, and the stored bytes
  std::vector<std::string> cells;  // one a kernel
  std::size_t width = 0;
};

// "32/0/4096": registers, spilled registers or bytes, and bytes of local memory. A cubin does not
// say what it spills.
std::string resources_text(const format::KernelReflection& kernel) {
  const KernelResources resources = resources_of(kernel);
  if (!resources.registers && !resources.local_bytes) {
    return "yes";
  }
  const auto shown = [](std::optional<std::uint64_t> number) {
    return number ? std::to_string(*number) : "-";
  };
  return fmt::format("{}/{}/{}", shown(resources.registers), shown(resources.spills),
                     shown(resources.local_bytes));
}

// The kernels of a program and what its entries say about them.
class Table {
public:
  Table(const GroupSummary& group, const DeviceNumbers& devices) {
    for (const EntrySummary& entry : group.entries) {
      for (const std::string& name : entry.entry.kernels) {
        m_signatures.try_emplace(name, name + "(...)");
      }
    }
    if (m_signatures.size() * group.entries.size() > k_max_cells) {
      return;
    }
    for (const EntrySummary& entry : group.entries) {
      m_columns.push_back(column_of(entry, devices));
    }
  }

  [[nodiscard]] bool is_printable() const noexcept { return !m_columns.empty(); }

  // Appends the columns in as many blocks as the width of a line requires.
  void append(std::string& text, std::set<std::string>& known_signatures,
              std::size_t line_cells) const {
    for (std::size_t first = 0; first < m_columns.size();) {
      std::size_t end = first;
      for (std::size_t cells = k_label_cells; end < m_columns.size(); ++end) {
        cells += m_columns[end].width + 2;
        if (end != first && cells > line_cells) {
          break;
        }
      }
      append_block(text, {m_columns.data() + first, end - first}, known_signatures, line_cells);
      first = end;
    }
  }

private:
  Column column_of(const EntrySummary& entry, const DeviceNumbers& devices) {
    const format::TargetView& target = entry.entry.target;
    Column column;
    if (target.origin == format::TargetOrigin::offline) {
      const std::string_view spec = target.spec.str();
      const std::size_t family = std::min(spec.find(':'), spec.size());
      column.head = {std::string(spec.substr(0, family)),
                     std::string(spec.substr(std::min(family + 1, spec.size()))), ""};
    } else {
      column.head = {devices.of(target), std::string(format::to_string(entry.entry.kind)), ""};
    }
    column.head[2] = entry.blob ? std::to_string(entry.blob->stored_bytes) : "-";
    for (std::string& line : column.head) {
      line = shortened(printable(line), k_max_column_cells);
      column.width = std::max(column.width, line.size());
    }
    const auto& kernels = entry.entry.kernels;
    for (auto& [name, signature] : m_signatures) {
      std::string cell = std::ranges::binary_search(kernels, name) ? "yes" : "no";
      if (const format::KernelReflection* const kernel = kernel_of(entry, name)) {
        cell = resources_text(*kernel);
        signature = kernel->arguments || signature.ends_with("(...)") ? kernel_signature(*kernel)
                                                                      : signature;
      }
      column.width = std::max(column.width, cell.size());
      column.cells.push_back(std::move(cell));
    }
    return column;
  }

  // Returns null if nothing but the name is known.
  static const format::KernelReflection* kernel_of(const EntrySummary& entry,
                                                   const std::string& name) {
    if (!entry.details) {
      return nullptr;
    }
    const auto& kernels = entry.details->kernels;
    const auto found = std::ranges::lower_bound(kernels, name, {}, &format::KernelReflection::name);
    return found == kernels.end() || found->name != name ? nullptr : &*found;
  }

  void append_block(std::string& text, std::span<const Column> columns,
                    std::set<std::string>& known_signatures, std::size_t line_cells) const {
    const auto append_row = [&](std::string_view label, const auto& cell_of) {
      text += fmt::format("{:{}}", label, k_label_cells);
      for (const Column& column : columns) {
        text += fmt::format("  {:>{}}", cell_of(column), column.width);
      }
      text += '\n';
    };
    for (const std::size_t line : {0U, 1U, 2U}) {
      append_row(line == 2 ? "  stored" : "", [&](const Column& c) { return c.head[line]; });
    }
    std::size_t row = 0;
    for (const auto& [name, signature] : m_signatures) {
      const bool is_new = known_signatures.insert(signature).second;
      text +=
          fmt::format("  {}\n", shortened(printable(is_new ? signature : name), line_cells - 2));
      append_row("", [&](const Column& column) { return column.cells[row]; });
      ++row;
    }
  }

  std::map<std::string, std::string> m_signatures; // by name
  std::vector<Column> m_columns;
};

void append_table(std::string& text, const GroupSummary& group, bool is_locked,
                  const DeviceNumbers& devices, std::set<std::string>& known_signatures,
                  std::size_t line_cells) {
  const Table table(group, devices);
  if (!table.is_printable()) {
    append_group(text, group, is_locked);
    return;
  }
  text += fmt::format("\nprogram '{}', variant '{}'; source {}\n", printable(group.group.program),
                      printable(group.group.variant), described_source(group, is_locked));
  if (const std::string label = label_of(group); !label.empty()) {
    append_line(text, 2, "label", label);
  }
  if (!group.group.options.empty()) {
    append_line(text, 2, "options", group.group.options);
  }
  table.append(text, known_signatures, line_cells);
}

// ---- Heads --------------------------------------------------------------------------------------

void append_encryption(std::string& text, const BundleSummary& bundle) {
  if (bundle.key_slots.empty()) {
    return;
  }
  append_line(
      text, 2, "encrypted",
      fmt::format("with content key {}{}", to_hex(bundle.key_slots.front().key_id),
                  bundle.is_locked ? ": contents are not shown without '--decrypt-key'" : ""));
  for (const format::KeySlot& slot : bundle.key_slots) {
    if (slot.method == format::KeyMethod::sealed) {
      append_line(text, 2, "recipient", to_hex(slot.recipient));
    }
  }
}

void append_signature(std::string& text, const format::TrailingRecord& record,
                      const base::Digest& root) {
  const auto append = [&](std::string_view label, const std::string& what, bool is_valid) {
    append_line(text, 2, label, fmt::format("{}: {}", what, is_valid ? "holds" : "does not hold"));
  };
  if (const auto signature = format::read_signed<format::SignatureRecord>(record)) {
    append("signature", "by key " + to_hex(signature->key), holds(*signature, root));
  } else if (const auto counter = format::read_signed<format::CounterRecord>(record)) {
    append("counter", fmt::format("{} by key {}", counter->counter, to_hex(counter->key)),
           holds(*counter, root));
  } else if (const auto vouch = format::read_signed<format::VouchRecord>(record)) {
    append("vouch",
           fmt::format("by key {} for key {}", to_hex(vouch->old_key), to_hex(vouch->new_key)),
           holds(*vouch, root));
  }
}

} // namespace

BundleSummary summarize_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  const auto source = open_bundle_source(path, keys);
  return source ? summarize_source(path, *source, keys) : unread_summary(path, {source.error()});
}

BundleSummary summarize_plain_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  const auto source = open_bundle_source(path, keys);
  const auto plain = source ? decrypted(*source, keys) : source;
  return plain ? summarize_source(path, *plain, {})
               : unread_summary(path, {named_error(plain.error(), path)});
}

std::vector<std::string> launch_texts(const std::vector<format::RecordedLaunch>& launches) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const bool is_next = i == 0 || launches[i].kernel != launches[i - 1].kernel;
    const format::RecordedLaunch& launch = launches[i];
    const std::string size = fmt::format(
        "{}{}",
        launch.local_size[0] == 0
            ? "NULL in " + counted(launch.dimensions, "dimension", "dimensions")
            : fmt::format("{}", fmt::join(std::span(launch.local_size).first(launch.dimensions),
                                          "x")), // 16x16 for two dimensions
        launch.has_offset ? " with an offset" : "");
    if (is_next) {
      texts.push_back(fmt::format("{}: {}", launches[i].kernel, size));
    } else {
      texts.back() += ", " + size;
    }
  }
  return texts;
}

namespace {

std::string outcome_text(const format::Measurement& measurement) {
  if (measurement.outcome == format::MeasurementOutcome::measured) {
    return time_text(measurement.median_ns);
  }
  std::string text(name_of(measurement.outcome));
  std::ranges::replace(text, '_', ' ');
  return text;
}

} // namespace

std::vector<std::string> measurement_texts(std::vector<format::Measurement> measurements) {
  const auto launch_of = [](const format::Measurement& one) {
    return std::tie(one.device, one.kernel, one.dimensions, one.global_size);
  };
  std::ranges::stable_sort(measurements, {}, launch_of);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const format::Measurement& one = measurements[i];
    const std::string result =
        fmt::format("{} with {}{}", outcome_text(one),
                    one.local_size[0] == 0 ? "NULL" : size_text(one.local_size, one.dimensions),
                    one.reason.empty() ? "" : fmt::format(" ({})", one.reason));
    if (i > 0 && launch_of(one) == launch_of(measurements[i - 1])) {
      texts.back() += ", " + result;
    } else {
      texts.push_back(fmt::format("{} (driver {}): {} {}: {}", one.device.device_name,
                                  one.device.driver_version, one.kernel,
                                  size_text(one.global_size, one.dimensions), result));
    }
  }
  return texts;
}

std::vector<std::string> answer_texts(const std::vector<format::KnownAnswer>& answers) {
  std::vector<std::string> texts;
  texts.reserve(answers.size());
  for (const format::KnownAnswer& one : answers) {
    texts.push_back(fmt::format(
        "{} {} with {}{}, by {}", one.kernel, size_text(one.global_size, one.dimensions),
        one.local_size[0] == 0 ? "NULL" : size_text(one.local_size, one.dimensions),
        is_recorded(one) ? ", with the data of an application" : "", one.device));
  }
  return texts;
}

std::string target_text(const format::Target& target) {
  return target.origin == format::TargetOrigin::offline
             ? target.spec
             : fmt::format("{} ({})", target.identity.device_name, target.identity.platform_name);
}

std::string build_text(const format::RecordedBuild& build) {
  const std::string text = target_text(build.target);
  return build.kernels.empty() ? text : fmt::format("{}: {}", text, fmt::join(build.kernels, ", "));
}

std::vector<std::string> kernel_facts(const format::KernelReflection& kernel) {
  std::vector<std::string> facts;
  if (std::string work_group = work_group_text(kernel); !work_group.empty()) {
    facts.push_back(std::move(work_group));
  }
  if (kernel.local_bytes) {
    facts.push_back(fmt::format("{} bytes of local memory", *kernel.local_bytes));
  }
  if (kernel.private_bytes) {
    facts.push_back(fmt::format("{} bytes of private memory", *kernel.private_bytes));
  }
  for (const auto& [name, value] : kernel.vendor) {
    facts.push_back(fmt::format("{} {}", name, value));
  }
  return facts;
}

namespace {

// What the data of an application show may be secret.
void append_data(std::string& text, const BundleSummary& bundle) {
  std::size_t launches = 0;
  std::map<base::Digest, std::uint64_t> bytes; // of each once
  for (const GroupSummary& group : bundle.groups) {
    for (const format::KnownAnswer& answer : group.answers) {
      launches += is_recorded(answer) ? 1 : 0;
      for (const format::NamedData& data : format::data_of(answer)) {
        bytes.emplace(data.digest, data.bytes);
      }
    }
  }
  if (launches != 0) {
    const auto add = [](std::uint64_t sum, const auto& one) { return sum + one.second; };
    append_line(
        text, 2, "data",
        fmt::format("{} of an application with {} of its data; '--strip-data' removes them",
                    counted(launches, "launch", "launches"),
                    counted(std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0}, add),
                            "byte", "bytes")));
  }
}

// Returns an empty text of a file that is not a bundle.
std::string head_text(const BundleSummary& bundle) {
  if (!bundle.head) {
    return {};
  }
  std::string text = fmt::format("{}: bundle of format {}.{}, {}, {}\n", printable(bundle.file),
                                 bundle.head->major, bundle.head->minor,
                                 counted(bundle.entry_count, "entry", "entries"),
                                 counted(bundle.head->total_bytes, "byte", "bytes"));
  append_line(text, 2, "digest", base::to_hex(bundle.head->root));
  append_encryption(text, bundle);
  append_data(text, bundle);
  for (const format::TrailingRecord& record : bundle.signatures) {
    append_signature(text, record, bundle.head->root);
  }
  for (const auto& [name, root] : bundle.packs) {
    append_line(text, 2, "pack", fmt::format("{}, {}", name, base::to_hex(root)));
  }
  return text;
}

} // namespace

std::string info_text(const BundleSummary& bundle) {
  std::string text = head_text(bundle);
  for (const GroupSummary& group : bundle.groups) {
    append_group(text, group, bundle.is_locked);
  }
  return text;
}

std::string info_table(const BundleSummary& bundle, std::size_t line_cells) {
  std::string text = head_text(bundle);
  if (bundle.groups.empty()) {
    return text;
  }
  const DeviceNumbers devices(bundle);
  devices.append(text);
  append_line(text, 2, "kernels", "registers/spills/bytes of local memory; '-' is unknown");
  std::string_view program;
  std::set<std::string> known_signatures; // of the program
  for (const GroupSummary& group : bundle.groups) {
    if (const std::string_view next = group.group.program.str(); next != program) {
      program = next;
      known_signatures.clear();
    }
    append_table(text, group, bundle.is_locked, devices, known_signatures, line_cells);
  }
  return text;
}

// Prints one bundle after another, so that the text of only one is in memory. An error of the keys
// is printed once; in the document, each bundle has it.
Result<ExitCode> info(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  const bool is_json = options.list_format == ListFormat::json;
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys && !is_json) {
    return tl::unexpected(keys.error());
  }
  std::vector<Error> errors;
  if (!keys) {
    reporter.error(keys.error());
  }
  clbin::listing::BundlesJson document([&](std::string_view part) { return reporter.print(part); });
  std::string_view separator;
  for (const Input& input : options.inputs) {
    const BundleSummary bundle =
        keys ? summarize_bundle(input.path, *keys) : unread_summary(input.path, {keys.error()});
    if (keys) {
      errors.insert(errors.end(), bundle.errors.begin(), bundle.errors.end());
    }
    if (is_json) {
      document.add(bundle);
    } else if (const std::string text = options.verbosity == Verbosity::verbose
                                            ? info_text(bundle)
                                            : info_table(bundle, reporter.line_cells());
               !text.empty()) {
      if (!reporter.print(separator) || !reporter.print(text)) {
        return ExitCode::file;
      }
      separator = "\n";
    }
  }
  if (is_json && !document.finish()) {
    return ExitCode::file;
  }
  return keys ? report_errors(errors, reporter) : exit_code_of(keys.error().code);
}

} // namespace oclcc
