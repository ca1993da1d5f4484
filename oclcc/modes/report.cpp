// --report: the resources of kernels as a table, JSON or comma-separated values, or on a page; and,
// with --against, what differs from another file, and whether that exceeds a limit.

#include "format/bundle/record_json.hpp"
#include "modes/kernel_resources.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

using format::RecordJson;
using Number = std::optional<std::uint64_t>;
using Cells = std::vector<std::string>;

// ---- Cells --------------------------------------------------------------------------------------

std::string cell_text(const Number& number) {
  return number ? std::to_string(*number) : "-";
}

// Of any length, a name would widen the column of all rows.
std::string cell_text(const std::string& name) {
  constexpr std::size_t k_most_cells = 40;
  return std::string(fitting(printable(name), k_most_cells));
}

std::string cell_text(const format::GroupSize& size) {
  return size[0] == 0 ? "" : fmt::format("{}", fmt::join(size, "x"));
}

// RFC 4180. Unknown values are empty.
class CsvLine {
public:
  void add(std::string_view text) {
    m_text += std::exchange(m_separator, ",");
    const bool is_quoted = text.find_first_of(",\"") != std::string_view::npos;
    m_text += is_quoted ? "\"" : "";
    for (const char letter : text) {
      m_text.append(letter == '"' ? 2 : 1, letter);
    }
    m_text += is_quoted ? "\"" : "";
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(std::uint64_t number) { add(std::to_string(number)); }
  void add(const format::GroupSize& size) { add(cell_text(size)); }
  template <typename Enum>
  requires std::is_enum_v<Enum>
  void add(Enum value) { add(format::name_of(value)); }
  template <typename Value>
  void add(const std::optional<Value>& value) {
    value ? add(*value) : add(std::string_view());
  }
  // The members of a record, or their names.
  void add_values(const format::Record auto& record) {
    visit(record, [this](std::string_view, const auto& value) { this->add(value); });
  }
  void add_names(const format::Record auto& record) {
    visit(record, [this](std::string_view name, const auto&) { this->add(name); });
  }
  [[nodiscard]] std::string text() const { return printable(m_text) + "\n"; }

private:
  std::string m_text;
  std::string_view m_separator;
};

// Appends rows with columns of equal width: the first `texts` to the left, numbers to the right,
// and the last as it is. Before each row, appends what `before_row` returns for its index.
void append_table(std::string& text, std::span<const Cells> rows, std::size_t texts,
                  const auto& before_row) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Cells& row : rows) {
    std::ranges::transform(row, widths, widths.begin(), [](const auto& cell, std::size_t width) {
      return std::max(cell.size(), width);
    });
  }
  widths.back() = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line = "  ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      line += i < texts ? fmt::format("  {:<{}}", rows[row][i], widths[i])
                        : fmt::format("  {:>{}}", rows[row][i], widths[i]);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += before_row(row) + line + "\n";
  }
}

// Returns an empty text for a file that is neither a bundle nor a container.
std::string heading_of(const std::string& program, const std::string& variant) {
  return printable(variant.empty() ? program
                                   : fmt::format("program '{}', variant '{}'", program, variant));
}

// ---- Resources ----------------------------------------------------------------------------------

constexpr std::pair<std::string_view, Number KernelResources::*> k_columns[] = {
    {"wave", &KernelResources::wave_size},          {"regs", &KernelResources::registers},
    {"scalar", &KernelResources::scalar_registers}, {"spills", &KernelResources::spills},
    {"scratch", &KernelResources::scratch_bytes},   {"local", &KernelResources::local_bytes},
    {"const", &KernelResources::constant_bytes},    {"code", &KernelResources::code_bytes},
    {"instrs", &KernelResources::instructions},
};

std::string occupancy_text(const KernelResources& kernel) {
  if (!kernel.occupancy) {
    return "-";
  }
  constexpr std::string_view k_limits[] = {"waves", "registers", "scalar", "local", "groups"};
  const auto limit = static_cast<std::size_t>(kernel.limited_by.value_or(OccupancyLimit::waves));
  return fmt::format("{}/{} {}", *kernel.occupancy, kernel.max_waves.value_or(0), k_limits[limit]);
}

Cells cells_of(const KernelResources& kernel) {
  Cells cells = {cell_text(kernel.target)};
  for (const auto& [name, number] : k_columns) {
    cells.push_back(cell_text(kernel.*number));
  }
  cells.push_back(occupancy_text(kernel));
  return cells;
}

// "  blur, work-groups of 16x16x1": of the kernel at the start of `kernels`, for its first target
// with a known size.
std::string kernel_line(std::span<const KernelResources> kernels) {
  const std::string& name = kernels.front().kernel;
  const auto sized = std::ranges::find_if(kernels, [&](const KernelResources& kernel) {
    return kernel.kernel != name || kernel.work_group_origin;
  });
  if (sized == kernels.end() || sized->kernel != name) {
    return fmt::format("  {}\n", printable(name));
  }
  const bool is_assumed = sized->work_group_origin == WorkGroupOrigin::assumed;
  return fmt::format("  {}, work-groups of {}{}\n", printable(name),
                     cell_text(sized->work_group_size), is_assumed ? " assumed" : "");
}

// Removes the columns without numbers.
void remove_unknown_columns(std::vector<Cells>& rows) {
  for (std::size_t column = rows.front().size() - 1; column > 0; --column) {
    const auto is_unknown = [&](const Cells& row) { return row[column] == "-"; };
    if (std::all_of(rows.begin() + 1, rows.end(), is_unknown)) {
      for (Cells& row : rows) {
        row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
      }
    }
  }
}

void append_group(std::string& text, const ResourceGroup& group) {
  if (const std::string heading = heading_of(group.program, group.variant); !heading.empty()) {
    text += "\n" + heading + "\n";
  }
  std::vector<Cells> rows = {{""}};
  for (const auto& [name, number] : k_columns) {
    rows.front().emplace_back(name);
  }
  rows.front().emplace_back("occupancy");
  std::ranges::transform(group.kernels, std::back_inserter(rows), cells_of);
  remove_unknown_columns(rows);
  const std::vector<KernelResources>& kernels = group.kernels;
  append_table(text, rows, 1, [&](std::size_t row) { // the first row is the head
    const bool is_next =
        row == 1 || (row > 1 && kernels[row - 1].kernel != kernels[row - 2].kernel);
    return is_next ? kernel_line(std::span(kernels).subspan(row - 1)) : std::string();
  });
}

std::string text_of(const FileResources& file) {
  std::string text = printable(file.file) + "\n";
  for (const ResourceGroup& group : file.groups) {
    append_group(text, group);
  }
  return text;
}

std::string csv_of(const FileResources& file) {
  std::string text;
  for (const ResourceGroup& group : file.groups) {
    for (const KernelResources& kernel : group.kernels) {
      CsvLine line;
      line.add(file.file);
      line.add(group.program);
      line.add(group.variant);
      line.add_values(kernel);
      text += line.text();
    }
  }
  return text;
}

void write_json(const FileResources& file, JsonStream& document) {
  document.begin_object();
  document.member("errors", {errors_json(file.errors)});
  document.text_member("file", file.file);
  document.array_member("groups", file.groups, [&](const ResourceGroup& group) {
    document.begin_object();
    document.key("bytes");
    RecordJson(document).write(group.bytes);
    document.key("digest");
    RecordJson(document).write(group.digest);
    document.key("kernels");
    RecordJson(document).write(group.kernels);
    document.text_member("program", group.program);
    document.text_member("variant", group.variant);
    document.end();
  });
  document.end();
}

// ---- Changes ------------------------------------------------------------------------------------

std::string change_text(const ResourceChange& change) {
  if (change.number == "kernel") {
    return change.before == 0U ? "added" : "removed";
  }
  if (!change.before || !change.after || *change.before == 0) {
    return "";
  }
  const double before = static_cast<double>(*change.before);
  return fmt::format("{:+.0f}%", (static_cast<double>(*change.after) - before) * 100 / before);
}

std::string text_of(std::span<const ResourceChange> changes) {
  std::string text;
  for (std::size_t first = 0; first < changes.size();) {
    const ResourceChange& head = changes[first];
    std::vector<Cells> rows = {{"kernel", "target", "number", "before", "after", "change", ""}};
    for (; first < changes.size() && changes[first].program == head.program &&
           changes[first].variant == head.variant;
         ++first) {
      const ResourceChange& change = changes[first];
      rows.push_back({cell_text(change.kernel), cell_text(change.target), change.number,
                      cell_text(change.before), cell_text(change.after), change_text(change),
                      change.exceeds ? "exceeds " + *change.exceeds : ""});
    }
    const std::string heading = heading_of(head.program, head.variant);
    text += heading + (heading.empty() ? "" : "\n");
    append_table(text, rows, 3, [](std::size_t) { return std::string(); });
  }
  return text;
}

std::string csv_of(std::span<const ResourceChange> changes) {
  std::string text;
  for (const ResourceChange& change : changes) {
    CsvLine line;
    line.add_values(change);
    text += line.text();
  }
  return text;
}

// With every member, also the variant.
void write_json(const ResourceChange& change, JsonStream& document) {
  document.begin_object();
  format::visit_by_name(change, [&](std::string_view name, const auto& value) {
    document.key(name);
    RecordJson(document).write(value);
  });
  document.end();
}

ExitCode report_exceeded(std::span<const ResourceChange> changes, const std::string& file,
                         Reporter& reporter) {
  ExitCode status = ExitCode::success;
  for (const ResourceChange& change : changes) {
    if (change.exceeds) {
      const std::string heading = heading_of(change.program, change.variant);
      reporter.diagnostic(
          {.file = file,
           .text = fmt::format("{}{}kernel '{}', '{}': {} changed from {} to {}, which exceeds {}",
                               heading, heading.empty() ? "" : ", ", change.kernel, change.target,
                               change.number, cell_text(change.before), cell_text(change.after),
                               *change.exceeds)});
      status = k_limit_exceeded;
    }
  }
  return status;
}

// ---- The mode -----------------------------------------------------------------------------------

// Prints one file after another, so that only one is in memory.
class Printer {
public:
  Printer(const Options& options, const Print& print)
      : m_format(options.list_format), m_print(print), m_document(print) {}

  // Returns false if `print` fails.
  [[nodiscard]] bool begin(const auto& before_files) {
    if (m_format == ListFormat::json) {
      m_document.begin_object();
      before_files(m_document);
      m_document.key("files");
      m_document.begin_array();
    }
    CsvLine head;
    for (const std::string_view name : {"file", "program", "variant"}) {
      head.add(name);
    }
    head.add_names(KernelResources());
    return m_format != ListFormat::csv || m_print(head.text());
  }

  [[nodiscard]] bool add(const FileResources& file) {
    if (m_format == ListFormat::json) {
      write_json(file, m_document);
      return true;
    }
    if (file.groups.empty()) {
      return true;
    }
    const std::string_view separator = std::exchange(m_separator, "\n");
    return m_format == ListFormat::csv ? m_print(csv_of(file))
                                       : m_print(separator) && m_print(text_of(file));
  }

  [[nodiscard]] bool finish() {
    if (m_format != ListFormat::json) {
      return true;
    }
    m_document.end();
    m_document.member("version", {k_report_version});
    return m_document.finish();
  }

private:
  ListFormat m_format;
  const Print& m_print;
  JsonStream m_document;
  std::string_view m_separator;
};

bool print_changes(std::span<const ResourceChange> changes, const FileResources& before,
                   const FileResources& after, const Options& options, const Print& print) {
  if (options.list_format == ListFormat::json) {
    Printer printer(options, print);
    const auto write_changes = [&](JsonStream& document) {
      document.text_member("against", before.file);
      document.array_member("differences", changes,
                            [&](const ResourceChange& change) { write_json(change, document); });
    };
    return printer.begin(write_changes) && printer.add(after) && printer.finish();
  }
  if (options.list_format == ListFormat::csv) {
    CsvLine head;
    head.add_names(ResourceChange());
    return print(head.text() + csv_of(changes));
  }
  return changes.empty() || print(fmt::format("--- {}\n+++ {}\n{}", printable(before.file),
                                              printable(after.file), text_of(changes)));
}

Result<ExitCode> compare(const Options& options, const BundleKeys& keys, const Print& print,
                         Reporter& reporter) {
  const FileResources before = read_kernel_resources(*options.against, options, keys);
  const FileResources after = read_kernel_resources(options.inputs.front().path, options, keys);
  std::vector<Error> errors = before.errors;
  errors.insert(errors.end(), after.errors.begin(), after.errors.end());
  if (!errors.empty()) {
    return report_errors(errors, reporter);
  }
  for (const std::string& number : unchecked_numbers(after, options.change_limits)) {
    reporter.warning(
        fmt::format("{}: '{}' is not known of any kernel, so that '--fail-on {}' checks nothing",
                    after.file, number, number));
  }
  const std::vector<ResourceChange> changes =
      resource_changes(before, after, options.change_limits);
  if (!print_changes(changes, before, after, options, print)) {
    return ExitCode::file;
  }
  return report_exceeded(changes, after.file, reporter);
}

Result<ExitCode> print_report(const Options& options, const BundleKeys& keys, const Print& print,
                              Reporter& reporter) {
  if (options.against) {
    return compare(options, keys, print, reporter);
  }
  Printer printer(options, print);
  std::vector<Error> errors;
  bool is_written = printer.begin([](JsonStream&) {});
  for (const Input& input : options.inputs) {
    const FileResources file = read_kernel_resources(input.path, options, keys);
    errors.insert(errors.end(), file.errors.begin(), file.errors.end());
    is_written = is_written && printer.add(file);
  }
  if (!is_written || !printer.finish()) {
    return ExitCode::file;
  }
  return report_errors(errors, reporter);
}

} // namespace

Result<ExitCode> report(const Options& options, const ModeContext& context) {
  Reporter& reporter = context.reporter;
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, reporter));
  if (options.page) {
    return write_report_page(options, keys, context, [&](const Print& print) {
      return print_report(options, keys, print, reporter);
    });
  }
  return print_report(
      options, keys, [&reporter](std::string_view part) { return reporter.print(part); }, reporter);
}

} // namespace oclcc
