#include "command_line/modes.hpp"

#include "modes/bundle_summary.hpp"
#include "targets/patterns.hpp"
#include "terminal/terminal_text.hpp"
#include "trust/bundle_encryption.hpp"

#include <fmt/format.h>

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

// What is compared of a program, a variant, an entry or a kernel.
struct ComparedItem {
  Difference place{}; // without the texts
  std::string text{}; // what is printed if only one bundle has the item
  std::vector<std::pair<std::string_view, std::string>> facts{}; // the same names in both bundles
};

// The items of a bundle by their path, so that an item precedes its parts: program, variant, digest
// and kind of the entry, kernel.
using ComparedItems = std::map<std::vector<std::string>, ComparedItem>;

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

void add_entry(const EntrySummary& entry, Difference place, ComparedItems& items) {
  const format::EntryView& view = entry.entry;
  place.what = "entry";
  place.target = target_name(view.target);
  std::vector<std::string> path = {
      place.program, place.variant,
      fmt::format("{} {}", base::to_hex(view.target.digest), format::to_string(view.kind))};
  const std::string binary =
      entry.blob ? fmt::format("{}, {} bytes ({:.16})", format::describe(view),
                               entry.blob->raw_bytes, base::to_hex(entry.blob->raw_digest))
                 : "";
  items[path] = {place, binary, {{"binary", binary}, {"options", view.options}}};
  if (!entry.details) {
    return;
  }
  place.what = "kernel";
  path.emplace_back();
  for (const format::KernelReflection& kernel : entry.details->kernels) {
    path.back() = place.kernel = kernel.name;
    std::vector<std::string> parts = kernel_facts(kernel);
    parts.insert(parts.begin(), kernel_signature(kernel));
    const std::string text = fmt::format("{}", fmt::join(parts, "; "));
    items[path] = {place, text, {{"kernel", text}}};
  }
}

ComparedItems items_of(const BundleSummary& bundle) {
  ComparedItems items;
  for (const GroupSummary& group : bundle.groups) {
    Difference place{.what = "program", .program = group.group.program};
    items[{place.program}] = {place, place.program, {{"source", source_text(group)}}};
    place.what = "variant";
    place.variant = group.group.variant;
    items[{place.program, place.variant}] = {
        place,
        place.variant,
        {{"options", group.group.options},
         {"requires", fmt::format("{}", fmt::join(group.group.required, " "))},
         {"builds", builds_text(group)},
         {"launches", fmt::format("{}", fmt::join(launch_texts(group.launches), "; "))},
         {"measurements",
          fmt::format("{}", fmt::join(measurement_texts(group.measurements), "; "))},
         {"known answers", fmt::format("{}", fmt::join(answer_texts(group.answers), "; "))}}};
    for (const EntrySummary& entry : group.entries) {
      add_entry(entry, place, items);
    }
  }
  return items;
}

// Appends what only one bundle has, or the facts that differ.
void compare(const ComparedItem* before, const ComparedItem* after,
             std::vector<Difference>& found) {
  if (before == nullptr || after == nullptr) {
    found.push_back(before == nullptr ? after->place : before->place);
    (before == nullptr ? found.back().after : found.back().before) =
        before == nullptr ? after->text : before->text;
    return;
  }
  for (std::size_t i = 0; i < before->facts.size(); ++i) {
    if (before->facts[i] != after->facts[i]) {
      found.push_back(before->place);
      found.back().what = before->facts[i].first;
      found.back().before = before->facts[i].second;
      found.back().after = after->facts[i].second;
    }
  }
}

// Returns the differences, sorted by program, variant and target. Of an item that only one bundle
// has, the parts are no further differences.
std::vector<Difference> differences(const ComparedItems& a, const ComparedItems& b) {
  std::map<std::vector<std::string>, std::pair<const ComparedItem*, const ComparedItem*>> pairs;
  for (const auto& [path, item] : a) {
    pairs[path].first = &item;
  }
  for (const auto& [path, item] : b) {
    pairs[path].second = &item;
  }
  std::vector<Difference> found;
  std::vector<std::string> only; // the path of the last item that only one bundle has
  for (const auto& [path, items] : pairs) {
    const auto& [one, other] = items;
    if (!only.empty() && path.size() > only.size() &&
        std::equal(only.begin(), only.end(), path.begin())) {
      continue;
    }
    compare(one, other, found);
    if (one == nullptr || other == nullptr) {
      only = path;
    }
  }
  return found;
}

// Prints one line, or two for a change.
std::string text_of(const Difference& difference) {
  const bool is_place = difference.what == "program" || difference.what == "variant";
  std::string place = fmt::format("program '{}'", difference.program);
  place += difference.variant.empty() ? "" : fmt::format(", variant '{}'", difference.variant);
  place += difference.target.empty() ? "" : fmt::format(", {}", difference.target);
  std::string text;
  for (const auto& [sign, side] :
       {std::pair('-', &difference.before), std::pair('+', &difference.after)}) {
    if (*side) {
      const std::string value =
          is_place ? "" : fmt::format(": {} {}", difference.what, side->value());
      text += printable(fmt::format("{} {}{}", sign, place, value)) + "\n";
    }
  }
  return text;
}

JsonObject difference_json(const Difference& difference) {
  const auto text = [](const auto& side) { return side ? JsonValue{*side} : JsonValue{nullptr}; };
  return {
      {"what", {difference.what}},       {"program", {difference.program}},
      {"variant", {difference.variant}}, {"target", {difference.target}},
      {"kernel", {difference.kernel}},   {"before", text(difference.before)},
      {"after", text(difference.after)},
  };
}

} // namespace

Result<ExitCode> diff(const Options& options, const ModeContext& context) {
  CLBIN_TRY_ASSIGN(const BundleKeys keys, trust::read_decryption_keys(options, context.reporter));
  const std::vector<BundleSummary> bundles = {summarize_plain_bundle(options.inputs[0].path, keys),
                                              summarize_plain_bundle(options.inputs[1].path, keys)};
  std::vector<Error> errors = bundles[0].errors;
  errors.insert(errors.end(), bundles[1].errors.begin(), bundles[1].errors.end());
  if (const ExitCode status = report_errors(errors, context.reporter);
      status != ExitCode::success) {
    return status;
  }
  const std::vector<Difference> found = differences(items_of(bundles[0]), items_of(bundles[1]));
  std::string text;
  if (options.list_format == ListFormat::json) {
    text = report_json(
        {{"same", {found.empty()}}, {"differences", {array_of(found, difference_json)}}});
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
