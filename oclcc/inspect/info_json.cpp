#include "inspect/info.hpp"
#include "terminal/report_json.hpp"
#include "worker/first_launch.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::to_hex;
using format::JsonArray;
using format::JsonObject;
using format::JsonValue;

namespace {

// "7.5"
std::string dotted(std::uint16_t major, std::uint16_t minor) {
  return fmt::format("{}.{}", major, minor);
}

JsonValue binary_json(const EntrySummary& entry) {
  const format::BinaryInfo info = format::info_from_match_key(entry.entry.match_key);
  JsonObject binary{
      {"kind", {std::string(format::to_string(entry.entry.kind))}},
      {"description", {format::describe(entry.entry)}},
      {"address_bits", {std::uint64_t{entry.entry.address_bits}}},
      {"target", {nullptr}},
      {"version", {nullptr}},
  };
  if (info.kind == format::BinaryKind::ptx || info.kind == format::BinaryKind::cubin) {
    const std::string suffix = info.arch_suffix == '\0' ? "" : std::string(1, info.arch_suffix);
    binary["target"] = {fmt::format("sm_{}{}{}", info.arch_major, info.arch_minor, suffix)};
  }
  if (info.format_major != 0) {
    binary["version"] = {dotted(info.format_major, info.format_minor)};
  }
  return {std::move(binary)};
}

// Information from the manifest is null if the manifest cannot be read.
JsonValue target_json(const EntrySummary& entry) {
  const format::TargetView& target = entry.entry.target;
  const bool offline = target.origin == format::TargetOrigin::offline;
  return {JsonObject{
      {"origin", {std::string(offline ? "offline" : "device")}},
      {"spec", {target.spec}},
      {"family", {std::string(format::to_string(target.family))}},
      {"platform", {target.platform_name}},
      {"device", {target.device_name}},
      {"driver_version", {target.driver_version}},
      {"digest", {to_hex(target.digest)}},
      {"identity", entry.details ? JsonValue{identity_json(entry.details->target.identity)}
                                 : JsonValue{nullptr}},
  }};
}

JsonValue kernels_json(const EntrySummary& entry) {
  JsonArray kernels;
  if (entry.details) {
    for (const format::KernelReflection& kernel : entry.details->kernels) {
      kernels.push_back(kernel_json(kernel));
    }
    return {std::move(kernels)};
  }
  for (const std::string& name : entry.entry.kernels) {
    format::KernelReflection kernel;
    kernel.name = name;
    kernels.push_back(kernel_json(kernel));
  }
  return {std::move(kernels)};
}

JsonValue first_launch_json(const EntrySummary& entry) {
  const auto names = entry.details ? worker::kernels_compiled_at_launch(entry.entry.target.family,
                                                                        entry.details->kernels)
                                   : std::nullopt;
  return names ? strings_json(*names) : JsonValue{nullptr};
}

JsonValue payload_json(const EntrySummary& entry) {
  if (!entry.blob) {
    return {nullptr};
  }
  return {JsonObject{
      {"raw_bytes", {entry.blob->raw_bytes}},
      {"stored_bytes", {entry.blob->stored_bytes}},
      {"raw_digest", {to_hex(entry.blob->raw_digest)}},
      {"stored_digest", {to_hex(entry.blob->stored_digest)}},
      {"refers_to_another", {entry.blob->reference != format::k_no_index}},
  }};
}

JsonValue tools_json(const format::ManifestEntry& details) {
  JsonObject tools;
  for (const auto& [name, version] : details.tools) {
    tools[name] = {version};
  }
  return {std::move(tools)};
}

JsonValue entry_json(const EntrySummary& entry) {
  return {JsonObject{
      {"target", target_json(entry)},
      {"format", binary_json(entry)},
      {"options", {entry.entry.options}},
      {"payload", payload_json(entry)},
      {"kernels", kernels_json(entry)},
      {"compiled_at_first_launch", first_launch_json(entry)},
      {"build_log", entry.details ? JsonValue{entry.details->build_log} : JsonValue{nullptr}},
      {"tools", entry.details ? tools_json(*entry.details) : JsonValue{nullptr}},
  }};
}

JsonValue group_json(const GroupSummary& group) {
  JsonArray sources;
  for (const SourceSummary& source : *group.sources) {
    sources.push_back({JsonObject{{"name", {source.name}}, {"bytes", {source.bytes}}}});
  }
  JsonArray entries;
  for (const EntrySummary& entry : group.entries) {
    entries.push_back(entry_json(entry));
  }
  return {JsonObject{
      {"program", {group.group.program}},
      {"variant", {group.group.variant}},
      {"options", {group.group.options}},
      {"source_kept", {group.group.source_blob != format::k_no_index}},
      {"sources", {std::move(sources)}},
      {"entries", {std::move(entries)}},
  }};
}

JsonValue bundle_json(const BundleSummary& bundle) {
  JsonArray groups;
  for (const GroupSummary& group : bundle.groups) {
    groups.push_back(group_json(group));
  }
  JsonObject members{
      {"file", {bundle.file}},         {"format_version", {nullptr}},
      {"total_bytes", {nullptr}},      {"digest", {nullptr}},
      {"groups", {std::move(groups)}}, {"errors", errors_json(bundle.errors)},
  };
  if (bundle.head) {
    members["format_version"] = {dotted(bundle.head->major, bundle.head->minor)};
    members["total_bytes"] = {bundle.head->total_bytes};
    members["digest"] = {to_hex(bundle.head->root)};
  }
  return {std::move(members)};
}

} // namespace

std::string info_json(const std::vector<BundleSummary>& bundles) {
  JsonArray items;
  for (const BundleSummary& bundle : bundles) {
    items.push_back(bundle_json(bundle));
  }
  return report_json({{"bundles", {std::move(items)}}});
}

} // namespace oclcc
