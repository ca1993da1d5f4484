#include "command_line/modes.hpp"

#include "bundles/bundle_summary.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>
#include <set>

namespace oclcc {

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
                        source.bytes, base::to_hex(source.digest));
  }
  return text.empty() ? "none" : text;
}

std::string builds_text(const GroupSummary& group) {
  std::vector<std::string> texts;
  for (const format::RecordedBuild& build : group.builds) {
    texts.push_back(
        fmt::format("{} ({:.16})", build_text(build), base::to_hex(target_digest(build.target))));
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
                               entry.blob->raw_bytes, base::to_hex(entry.blob->raw_digest));
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
      variant.entries[{base::to_hex(entry.entry.target.digest),
                       std::string(format::to_string(entry.entry.kind))}] = facts_of(entry);
    }
  }
  return programs;
}

class Comparison {
public:
  void compare(const Programs& a, const Programs& b) {
    compare_maps(
        a, b,
        [&](const std::string& name, const ProgramFacts&) {
          m_place = {.what = "program", .program = name};
          return name;
        },
        [&](const ProgramFacts& one, const ProgramFacts& other) {
          add_if_changed("source", one.source, other.source);
          compare_variants(one.variants, other.variants);
        });
  }

  [[nodiscard]] std::vector<Difference> take() && { return std::move(m_found); }

private:
  // `enter` sets the place of an item, and returns the text of an item that only one map has;
  // `both` compares the items that both have.
  template <typename Map, typename Enter, typename Both>
  void compare_maps(const Map& a, const Map& b, const Enter& enter, const Both& both) {
    const Difference place = m_place;
    std::set<typename Map::key_type> keys;
    for (const auto* const map : {&a, &b}) {
      for (const auto& item : *map) {
        keys.insert(item.first);
      }
    }
    for (const auto& key : keys) {
      m_place = place;
      const auto one = a.find(key);
      const auto other = b.find(key);
      const std::string text = enter(key, one != a.end() ? one->second : other->second);
      if (one != a.end() && other != b.end()) {
        both(one->second, other->second);
      } else {
        m_found.push_back(m_place);
        (one != a.end() ? m_found.back().before : m_found.back().after) = text;
      }
    }
  }

  void add_if_changed(std::string_view what, const std::string& before, const std::string& after) {
    if (before != after) {
      m_found.push_back(m_place);
      m_found.back().what = what;
      m_found.back().before = before;
      m_found.back().after = after;
    }
  }

  void compare_variants(const std::map<std::string, VariantFacts>& a,
                        const std::map<std::string, VariantFacts>& b) {
    compare_maps(
        a, b,
        [&](const std::string& name, const VariantFacts&) {
          m_place.what = "variant";
          m_place.variant = name;
          return name;
        },
        [&](const VariantFacts& one, const VariantFacts& other) {
          add_if_changed("options", one.options, other.options);
          add_if_changed("builds", one.builds, other.builds);
          add_if_changed("launches", one.launches, other.launches);
          compare_entries(one.entries, other.entries);
        });
  }

  void compare_entries(const Entries& a, const Entries& b) {
    compare_maps(
        a, b,
        [&](const Entries::key_type&, const EntryFacts& entry) {
          m_place.what = "entry";
          m_place.target = entry.target;
          return entry.binary;
        },
        [&](const EntryFacts& one, const EntryFacts& other) {
          add_if_changed("binary", one.binary, other.binary);
          add_if_changed("options", one.options, other.options);
          compare_kernels(one.kernels, other.kernels);
        });
  }

  void compare_kernels(const Facts& a, const Facts& b) {
    compare_maps(
        a, b,
        [&](const std::string& name, const std::string& fact) {
          m_place.what = "kernel";
          m_place.kernel = name;
          return fact;
        },
        [&](const std::string& one, const std::string& other) {
          add_if_changed("kernel", one, other);
        });
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
  return text ? JsonValue{*text} : JsonValue{nullptr};
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

Result<ExitCode> diff(const Options& options, const ModeContext& context) {
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, context.reporter));
  const std::vector<BundleSummary> bundles = {summarize_plain_bundle(options.inputs[0].path, keys),
                                              summarize_plain_bundle(options.inputs[1].path, keys)};
  if (const ExitCode status = report_errors(errors_of(bundles), context.reporter);
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
  if (!text.empty() && !context.reporter.print(text)) {
    return ExitCode::file;
  }
  return found.empty() ? ExitCode::success : k_bundles_differ;
}

} // namespace oclcc
