#include "inspect/info.hpp"
#include "terminal/report_json.hpp"
#include "worker/first_launch.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;
using clbin::base::to_hex;

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

void write_kernels(const EntrySummary& entry, JsonStream& document) {
  document.begin_array();
  if (entry.details) {
    for (const format::KernelReflection& kernel : entry.details->kernels) {
      write_kernel(kernel, document);
    }
  } else {
    for (const std::string& name : entry.entry.kernels) {
      format::KernelReflection kernel;
      kernel.name = name;
      write_kernel(kernel, document);
    }
  }
  document.end();
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

void write_entry(const EntrySummary& entry, JsonStream& document) {
  document.begin_object();
  document.member("build_log",
                  entry.details ? JsonValue{entry.details->build_log} : JsonValue{nullptr});
  document.member("compiled_at_first_launch", first_launch_json(entry));
  document.member("format", binary_json(entry));
  document.key("kernels");
  write_kernels(entry, document);
  document.member("options", {entry.entry.options});
  document.member("payload", payload_json(entry));
  document.member("target", target_json(entry));
  document.member("tools", entry.details ? tools_json(*entry.details) : JsonValue{nullptr});
  document.end();
}

JsonValue source_json(const SourceSummary& source) {
  return {JsonObject{{"name", {source.name}}, {"bytes", {source.bytes}}}};
}

JsonValue sources_json(const GroupSummary& group) {
  JsonArray sources;
  for (const SourceSummary& source : *group.sources) {
    sources.push_back(source_json(source));
  }
  return {std::move(sources)};
}

} // namespace

InfoJson::InfoJson(JsonStream::Sink sink) : m_document(std::move(sink)) {
  m_document.begin_object();
  m_document.key("bundles");
  m_document.begin_array();
}

void InfoJson::add_group(const GroupSummary& group) {
  m_document.begin_object();
  m_document.key("entries");
  m_document.begin_array();
  for (const EntrySummary& entry : group.entries) {
    write_entry(entry, m_document);
  }
  m_document.end();
  m_document.member("options", {group.group.options});
  m_document.member("program", {group.group.program});
  m_document.member("source_kept", {group.group.source_blob != format::k_no_index});
  m_document.member("sources", sources_json(group));
  m_document.member("variant", {group.group.variant});
  m_document.end();
}

void InfoJson::add(const BundleSummary& bundle) {
  JsonValue digest{nullptr};
  JsonValue version{nullptr};
  JsonValue total_bytes{nullptr};
  if (bundle.head) {
    digest = {to_hex(bundle.head->root)};
    version = {dotted(bundle.head->major, bundle.head->minor)};
    total_bytes = {bundle.head->total_bytes};
  }
  m_document.begin_object();
  m_document.member("digest", digest);
  m_document.member("errors", errors_json(bundle.errors));
  m_document.member("file", {bundle.file});
  m_document.member("format_version", version);
  m_document.key("groups");
  m_document.begin_array();
  for (const GroupSummary& group : bundle.groups) {
    add_group(group);
  }
  m_document.end();
  m_document.member("total_bytes", total_bytes);
  m_document.end();
}

bool InfoJson::finish() {
  m_document.end();
  m_document.member("version", {k_report_version});
  return m_document.finish();
}

} // namespace oclcc
