#include "modes/bundle_summary.hpp"
#include "modes/containers.hpp"
#include "modes/entry_trials.hpp"
#include "modes/kernel_resources.hpp"
#include "targets/disassembler.hpp"
#include "targets/embedded_files.hpp"
#include "targets/patterns.hpp"
#include "trust/key_files.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

using Paths = std::vector<std::filesystem::path>;

// report.html, and documents of JSON between its beginning and its end.
class Page {
public:
  explicit Page(base::OutputFile output) : m_output(std::move(output)) {
    constexpr std::string_view k_place = "<!-- documents -->\n";
    const std::string_view page = offline::modes_report();
    const std::size_t place = page.find(k_place);
    m_beginning = page.substr(0, place);
    m_end = page.substr(place + k_place.size());
  }

  [[nodiscard]] bool is_empty() const noexcept { return !m_beginning.empty(); }

  // Appends the document that `write` prints, which the script of the page finds by its name.
  void add(std::string_view name, const std::function<void(const Print& print)>& write) {
    std::string start = fmt::format("<script type=\"application/json\" id=\"{}\">", name);
    std::string_view end;
    write([&](std::string_view part) {
      append(std::exchange(start, {}) + in_script(part));
      end = "</script>\n";
      return m_written.has_value();
    });
    append(end);
  }

  [[nodiscard]] Result<void> finish() {
    append(m_end);
    CLBIN_TRY(m_written);
    return m_output.commit();
  }

private:
  void append(std::string_view text) {
    if (m_written && !text.empty()) {
      m_written = m_output.append(base::as_bytes(std::exchange(m_beginning, {})));
    }
    if (m_written && !text.empty()) {
      m_written = m_output.append(base::as_bytes(text));
    }
  }

  // Returns JSON with the same value, without indentation. HTML ends a script, or begins a comment
  // in it, at '<' only, which JSON has in strings only.
  std::string in_script(std::string_view json) {
    std::string text;
    for (const char letter : json) {
      m_is_indentation = letter == '\n' || (m_is_indentation && letter == ' ');
      if (letter == '<') {
        text += "\\u003c";
      } else if (!m_is_indentation) {
        text += letter;
      }
    }
    return text;
  }

  base::OutputFile m_output;
  std::string_view m_beginning; // empty when it is written
  std::string_view m_end;
  Result<void> m_written;
  bool m_is_indentation = false;
};

bool is_selected(const format::GroupView& group, const Options& options) {
  return is_wanted(options.wanted_programs, group.program) &&
         is_wanted(options.wanted_variants, group.variant);
}

bool is_selected(const format::TargetView& target, const Options& options) {
  return is_chosen(target, {options.keep_targets, options.drop_targets});
}

void list_bundles(const Paths& bundles, const Options& options, const BundleKeys& keys,
                  const Print& print) {
  clbin::listing::BundlesJson document(print);
  for (const std::filesystem::path& path : bundles) {
    BundleSummary bundle = summarize_bundle(path, keys);
    std::erase_if(bundle.groups,
                  [&](const GroupSummary& group) { return !is_selected(group.group, options); });
    for (GroupSummary& group : bundle.groups) {
      std::erase_if(group.entries, [&](const EntrySummary& entry) {
        return !is_selected(entry.entry.target, options);
      });
    }
    document.add(bundle);
  }
  (void)document.finish();
}

// Writes an error in place of what cannot be explained.
void explain_bundles(const Paths& bundles, const BundleKeys& keys, TrialDevices& devices,
                     const Print& print) {
  JsonStream document(print);
  document.begin_object();
  document.array_member("bundles", bundles, [&](const std::filesystem::path& path) {
    if (const auto done = write_explanation(path, keys, devices, document); !done) {
      document.value(
          {JsonObject{{"error", {done.error().message}}, {"file", {bundle_name(path)}}}});
    }
  });
  (void)document.finish();
}

// Disassembles each binary once, up to these limits: a page stays small enough for a browser.
class Disassemblies {
public:
  Disassemblies(const Options& options, const worker::WorkerSettings& workers, const Print& print)
      : m_options(options), m_workers(workers), m_document(print) {
    m_document.begin_object();
    m_document.key("binaries");
    m_document.begin_array();
  }

  Result<void> add(const format::BundleReader& bundle) {
    format::ProvedBlobs blobs(bundle);
    for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
      CLBIN_TRY_ASSIGN(const format::GroupView group, bundle.group(index));
      const std::uint32_t entries = is_selected(group, m_options) ? group.entry_count : 0;
      for (std::uint32_t entry = 0; entry < entries; ++entry) {
        CLBIN_TRY_ASSIGN(const format::EntryView view, bundle.entry(group.first_entry + entry));
        CLBIN_TRY_ASSIGN(const format::BlobView blob, bundle.blob(view.blob));
        if (!is_taken({view.kind, blob.raw_digest}, view.target)) {
          continue;
        }
        CLBIN_TRY_ASSIGN(const Bytes bytes, blobs.read(view.blob));
        add(bytes, {view.kind, blob.raw_digest},
            fmt::format("program '{}' for {}", group.program.str(), target_name(view.target)));
      }
    }
    return {};
  }

  // Of a file that is no bundle.
  void add(const Container& container, const std::string& file) {
    for (const ContainedBinary& contained : container.binaries) {
      const base::ByteView bytes = contained.bytes;
      const format::BinaryInfo info = format::classify_binary(bytes);
      const Binary binary{info.kind, base::digest_of(bytes)};
      if (offline::can_disassemble(info.kind) &&
          is_taken(binary, format::view_of(reported_target(info)))) {
        add(bytes, binary, contained.place.empty() ? file : file + ": " + contained.place);
      }
    }
  }

  void add_obstacle(std::string message) { m_obstacles.insert(std::move(message)); }

  void finish() {
    m_document.end();
    m_document.member("left_out", {m_left_out});
    m_document.member("obstacles", base::strings_json({m_obstacles.begin(), m_obstacles.end()}));
    (void)m_document.finish();
  }

private:
  static constexpr std::uint64_t k_max_binaries = 500;
  static constexpr std::uint64_t k_max_text_bytes = 256ULL << 10U; // of a binary
  static constexpr std::uint64_t k_max_bytes = 8ULL << 20U;        // of all

  struct Binary {
    format::BinaryKind kind;
    base::Digest digest;
  };

  bool is_taken(const Binary& binary, const format::TargetView& target) {
    if (!is_selected(target, m_options) || !m_known.insert(binary.digest).second ||
        m_without_tool.contains(binary.kind)) {
      return false;
    }
    if (m_binaries == k_max_binaries || m_bytes >= k_max_bytes) {
      ++m_left_out;
      return false;
    }
    ++m_binaries;
    return true;
  }

  void add(base::ByteView bytes, const Binary& binary, const std::string& name) {
    auto text = offline::disassemble(bytes, "", m_options.tools, m_workers,
                                     std::chrono::seconds(m_options.timeout_seconds));
    if (!text) {
      const bool is_for_all =
          text.error().code == ErrorCode::no_device || !offline::can_disassemble(binary.kind);
      if (is_for_all) {
        m_without_tool.insert(binary.kind);
      }
      add_obstacle((is_for_all ? "" : name + ": ") + text.error().message);
      return;
    }
    const bool is_cut = text->size() > k_max_text_bytes;
    if (is_cut) {
      text->resize(text->rfind('\n', k_max_text_bytes) + 1);
    }
    m_bytes += text->size();
    m_document.begin_object();
    m_document.member("cut", {is_cut});
    m_document.text_member("digest", base::to_hex(binary.digest));
    m_document.text_member("text", *text);
    m_document.end();
  }

  const Options& m_options;
  const worker::WorkerSettings& m_workers;
  JsonStream m_document;
  std::set<base::Digest> m_known;
  std::set<format::BinaryKind> m_without_tool;
  std::set<std::string> m_obstacles;
  std::uint64_t m_binaries = 0; // also those that failed
  std::uint64_t m_bytes = 0;
  std::uint64_t m_left_out = 0;
};

Result<void> disassemble_file(const std::filesystem::path& path, const BundleKeys& keys,
                              Disassemblies& document) {
  CLBIN_TRY_ASSIGN(BundleOrBytes file, open_bundle_or_read(path, keys));
  if (const auto* const bundle = std::get_if<format::BundleReader>(&file)) {
    CLBIN_TRY(require_contents(*bundle));
    return document.add(*bundle);
  }
  if (const auto container = open_container(std::move(std::get<Bytes>(file)))) {
    document.add(*container, path.string());
  } // otherwise, --report says why
  return {};
}

void disassemble_files(const Paths& files, const BundleKeys& keys, Disassemblies document) {
  for (const std::filesystem::path& path : files) {
    if (const auto done = disassemble_file(path, keys, document); !done) {
      document.add_obstacle(named_error(done.error(), path).message);
    }
  }
  document.finish();
}

} // namespace

Result<ExitCode>
write_report_page(const Options& options, const BundleKeys& keys, const ModeContext& context,
                  const std::function<Result<ExitCode>(const Print& print)>& print_report) {
  Paths files = trust::files_of_keys(options);
  Paths bundles;
  Paths regular_files;
  for (const Input& input : options.inputs) {
    files.push_back(input.path);
    std::error_code ignored;
    if (std::filesystem::is_regular_file(input.path, ignored)) {
      regular_files.push_back(input.path);
    }
    if (is_bundle(input.path)) {
      bundles.push_back(input.path);
    }
  }
  if (options.against) {
    files.push_back(*options.against);
  }
  CLBIN_TRY(require_other_files({&*options.page, 1}, files));
  CLBIN_TRY_ASSIGN(base::OutputFile output, base::OutputFile::open(*options.page));
  CLBIN_TRY_ASSIGN(const worker::WorkerSettings workers, worker::with_home(context.workers));
  Page page(std::move(output));
  Result<ExitCode> status = ExitCode::success;
  page.add("report", [&](const Print& print) { status = print_report(print); });
  if (page.is_empty()) {
    return status;
  }
  TrialDevices devices(options, workers, context.reporter);
  page.add("info", [&](const Print& print) { list_bundles(bundles, options, keys, print); });
  page.add("explain", [&](const Print& print) { explain_bundles(bundles, keys, devices, print); });
  page.add("disassembly", [&](const Print& print) {
    disassemble_files(regular_files, keys, {options, workers, print});
  });
  CLBIN_TRY(page.finish());
  return status;
}

} // namespace oclcc
