#include "command_line/modes.hpp"

#include "inspect/bundle_summary.hpp"
#include "targets/patterns.hpp"
#include "terminal/kernel_text.hpp"
#include "terminal/report_json.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>
#include <map>
#include <set>

namespace oclcc {

namespace format = clbin::format;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;

namespace {

// An item that only one bundle has, or that differs.
struct Difference {
  std::string what{}; // "program", "variant", "source", "options", "entry", "binary", "kernel"
  std::string program{};
  std::string variant{};               // empty for the program
  std::string target{};                // empty for the variant
  std::string kernel{};                // empty for the entry
  std::optional<std::string> before{}; // std::nullopt if only the second bundle has it
  std::optional<std::string> after{};  // std::nullopt if only the first bundle has it
};

// The contents of a bundle, by name.
using Facts = std::map<std::string, std::string>;

struct EntryFacts {
  std::string target;
  std::string binary;
  std::string options;
  Facts kernels;
};
// Identifies an entry by the digest of its target and its kind, which are unique in a variant.
using Entries = std::map<std::pair<std::string, std::string>, EntryFacts>;

struct VariantFacts {
  std::string options;
  std::string builds;
  std::string launches;
  Entries entries;
};

struct ProgramFacts {
  std::string source;
  std::map<std::string, VariantFacts> variants;
};
using Programs = std::map<std::string, ProgramFacts>;

std::string source_text(const GroupSummary& group) {
  std::string text;
  for (const SourceSummary& source : *group.sources) {
    text += fmt::format("{}{} ({} bytes, {:.16})", text.empty() ? "" : ", ", source.name,
                        source.bytes, clbin::base::to_hex(source.digest));
  }
  return text.empty() ? "none" : text;
}

std::string builds_text(const GroupSummary& group) {
  std::vector<std::string> texts;
  for (const format::RecordedBuild& build : group.builds) {
    texts.push_back(fmt::format("{} ({:.16})", build_text(build),
                                clbin::base::to_hex(target_digest(build.target))));
  }
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string kernel_text(const format::KernelReflection& kernel) {
  std::string text = kernel_signature(kernel);
  for (const std::string& fact : kernel_facts(kernel)) {
    text += "; " + fact;
  }
  return text;
}

EntryFacts facts_of(const EntrySummary& entry) {
  EntryFacts facts;
  facts.target = target_name(entry.entry.target);
  facts.options = entry.entry.options;
  if (entry.blob) {
    facts.binary = fmt::format("{}, {} bytes ({:.16})", format::describe(entry.entry),
                               entry.blob->raw_bytes, clbin::base::to_hex(entry.blob->raw_digest));
  }
  if (entry.details) {
    for (const format::KernelReflection& kernel : entry.details->kernels) {
      facts.kernels[kernel.name] = kernel_text(kernel);
    }
  }
  return facts;
}

Programs programs_of(const BundleSummary& bundle) {
  Programs programs;
  for (const GroupSummary& group : bundle.groups) {
    ProgramFacts& program = programs[group.group.program];
    program.source = source_text(group);
    VariantFacts& variant = program.variants[group.group.variant];
    variant.options = group.group.options;
    variant.builds = builds_text(group);
    variant.launches = fmt::format("{}", fmt::join(launch_texts(group.launches), "; "));
    for (const EntrySummary& entry : group.entries) {
      variant.entries[{clbin::base::to_hex(entry.entry.target.digest),
                       std::string(format::to_string(entry.entry.kind))}] = facts_of(entry);
    }
  }
  return programs;
}

template <typename Map>
std::set<typename Map::key_type> keys_of(const Map& a, const Map& b) {
  std::set<typename Map::key_type> keys;
  for (const auto* const map : {&a, &b}) {
    for (const auto& item : *map) {
      keys.insert(item.first);
    }
  }
  return keys;
}

template <typename Map>
const typename Map::mapped_type* find(const Map& map, const typename Map::key_type& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

enum class Side : std::uint8_t { a, b };

class Comparison {
public:
  void compare(const Programs& a, const Programs& b) {
    for (const std::string& name : keys_of(a, b)) {
      const ProgramFacts* const first = find(a, name);
      const ProgramFacts* const second = find(b, name);
      m_place = {.what = "program", .program = name};
      if (first == nullptr || second == nullptr) {
        add_one_sided(first != nullptr ? Side::a : Side::b, name);
      } else {
        compare_programs(*first, *second);
      }
    }
  }

  [[nodiscard]] std::vector<Difference> take() && { return std::move(m_found); }

private:
  // Items that only one bundle has.
  void add_one_sided(Side side, const std::string& text) {
    Difference difference = m_place;
    (side == Side::a ? difference.before : difference.after) = text;
    m_found.push_back(std::move(difference));
  }

  void add_if_changed(std::string_view what, const std::string& before, const std::string& after) {
    if (before != after) {
      Difference difference = m_place;
      difference.what = what;
      difference.before = before;
      difference.after = after;
      m_found.push_back(std::move(difference));
    }
  }

  void compare_programs(const ProgramFacts& a, const ProgramFacts& b) {
    add_if_changed("source", a.source, b.source);
    const Difference place = m_place;
    for (const std::string& name : keys_of(a.variants, b.variants)) {
      m_place = place;
      m_place.what = "variant";
      m_place.variant = name;
      const VariantFacts* const first = find(a.variants, name);
      const VariantFacts* const second = find(b.variants, name);
      if (first == nullptr || second == nullptr) {
        add_one_sided(first != nullptr ? Side::a : Side::b, name);
      } else {
        add_if_changed("options", first->options, second->options);
        add_if_changed("builds", first->builds, second->builds);
        add_if_changed("launches", first->launches, second->launches);
        compare_entries(first->entries, second->entries);
      }
    }
  }

  void compare_entries(const Entries& a, const Entries& b) {
    const Difference place = m_place;
    for (const auto& key : keys_of(a, b)) {
      const EntryFacts* const first = find(a, key);
      const EntryFacts* const second = find(b, key);
      m_place = place;
      m_place.what = "entry";
      if (second == nullptr) {
        m_place.target = first->target;
        add_one_sided(Side::a, first->binary);
      } else if (first == nullptr) {
        m_place.target = second->target;
        add_one_sided(Side::b, second->binary);
      } else {
        m_place.target = first->target;
        add_if_changed("binary", first->binary, second->binary);
        add_if_changed("options", first->options, second->options);
        compare_kernels(first->kernels, second->kernels);
      }
    }
  }

  void compare_kernels(const Facts& a, const Facts& b) {
    const Difference place = m_place;
    for (const std::string& name : keys_of(a, b)) {
      const std::string* const first = find(a, name);
      const std::string* const second = find(b, name);
      m_place = place;
      m_place.what = "kernel";
      m_place.kernel = name;
      if (second == nullptr) {
        add_one_sided(Side::a, *first);
      } else if (first == nullptr) {
        add_one_sided(Side::b, *second);
      } else {
        add_if_changed("kernel", *first, *second);
      }
    }
  }

  Difference m_place;
  std::vector<Difference> m_found;
};

std::string place_text(const Difference& difference) {
  std::string text = fmt::format("program '{}'", difference.program);
  text += difference.variant.empty() ? "" : fmt::format(", variant '{}'", difference.variant);
  text += difference.target.empty() ? "" : fmt::format(", {}", difference.target);
  return text;
}

// Prints one line, or two for a change.
std::string text_of(const Difference& difference) {
  const bool is_place = difference.what == "program" || difference.what == "variant";
  std::string text;
  for (const auto& [sign, side] :
       {std::pair('-', &difference.before), std::pair('+', &difference.after)}) {
    if (*side) {
      const std::string value =
          is_place ? "" : fmt::format(": {} {}", difference.what, side->value());
      text += printable(fmt::format("{} {}{}", sign, place_text(difference), value)) + "\n";
    }
  }
  return text;
}

JsonValue optional_text(const std::optional<std::string>& text) {
  if (!text) {
    return {nullptr};
  }
  return {*text};
}

std::string json_of(const std::vector<Difference>& found) {
  JsonArray items;
  for (const Difference& difference : found) {
    items.push_back({JsonObject{
        {"what", {difference.what}},
        {"program", {difference.program}},
        {"variant", {difference.variant}},
        {"target", {difference.target}},
        {"kernel", {difference.kernel}},
        {"before", optional_text(difference.before)},
        {"after", optional_text(difference.after)},
    }});
  }
  return report_json({{"same", {found.empty()}}, {"differences", {std::move(items)}}});
}

// Returns the differences, sorted by program, variant and target.
std::vector<Difference> differences(const BundleSummary& a, const BundleSummary& b) {
  Comparison comparison;
  comparison.compare(programs_of(a), programs_of(b));
  return std::move(comparison).take();
}

} // namespace

ExitCode diff(const Options& options, Reporter& reporter) {
  const auto keys = trust::read_decryption_keys(options, reporter);
  if (!keys) {
    return report_errors({&keys.error(), 1}, reporter);
  }
  const std::vector<BundleSummary> bundles = {
      summarize_plain_bundle(options.inputs[0].path, *keys),
      summarize_plain_bundle(options.inputs[1].path, *keys)};
  if (const ExitCode status = report_errors(errors_of(bundles), reporter);
      status != ExitCode::success) {
    return status;
  }
  const std::vector<Difference> found = differences(bundles[0], bundles[1]);
  std::string text;
  if (options.list_format == ListFormat::json) {
    text = json_of(found);
  } else if (!found.empty()) {
    text = fmt::format("--- {}\n+++ {}\n", printable(bundles[0].file), printable(bundles[1].file));
    for (const Difference& difference : found) {
      text += text_of(difference);
    }
  }
  if (!text.empty() && !reporter.print(text)) {
    return ExitCode::file;
  }
  return found.empty() ? ExitCode::success : k_bundles_differ;
}

} // namespace oclcc
