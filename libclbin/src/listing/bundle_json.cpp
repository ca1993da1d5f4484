#include "listing/bundle_summary.hpp"

#include "format/bundle/record_json.hpp"
#include "listing/json_parts.hpp"
#include "listing/launch_compilation.hpp"

namespace clbin::listing {

using base::JsonObject;
using base::JsonStream;
using base::JsonValue;
using base::to_hex;
using format::RecordJson;

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
    binary["target"] = {format::sm_name(info)};
  }
  if (info.format_major != 0) {
    binary["version"] = {dotted(info.format_major, info.format_minor)};
  }
  return {std::move(binary)};
}

// Information from the manifest is null if the manifest cannot be read.
void write_target(const EntrySummary& entry, JsonStream& document) {
  const format::TargetView& target = entry.entry.target;
  const bool offline = target.origin == format::TargetOrigin::offline;
  document.begin_object();
  document.text_member("device", target.device_name);
  document.text_member("digest", to_hex(target.digest));
  document.text_member("driver_version", target.driver_version);
  document.text_member("family", format::to_string(target.family));
  document.key("identity");
  RecordJson(document).write_known(entry.details ? &entry.details->target.identity : nullptr);
  document.text_member("origin", offline ? "offline" : "device");
  document.text_member("platform", target.platform_name);
  document.text_member("spec", target.spec);
  document.end();
}

void write_kernels(const EntrySummary& entry, JsonStream& document) {
  if (entry.details) {
    RecordJson(document).write(entry.details->kernels);
    return;
  }
  document.array(entry.entry.kernels, [&](const std::string& name) {
    format::KernelReflection kernel;
    kernel.name = name;
    RecordJson(document).write(kernel);
  });
}

void write_first_launch(const EntrySummary& entry, JsonStream& document) {
  const auto names =
      entry.details ? kernels_compiled_at_launch(entry.entry.target.family, entry.details->kernels)
                    : std::nullopt;
  if (!names) {
    document.value({nullptr});
    return;
  }
  document.array(*names, [&](std::string_view name) { document.text(name); });
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

// Writes null if the manifest cannot be read.
template <typename Value>
void write_detail(const EntrySummary& entry, std::string_view name,
                  Value format::ManifestEntry::*detail, JsonStream& document) {
  document.key(name);
  RecordJson(document).write_known(entry.details ? &((*entry.details).*detail) : nullptr);
}

JsonValue spirv_json(const EntrySummary& entry) {
  if (!entry.spirv) {
    return {nullptr};
  }
  std::vector<std::string> capabilities;
  std::ranges::transform(entry.spirv->capabilities, std::back_inserter(capabilities),
                         format::spirv_capability_name);
  return {JsonObject{{"capabilities", base::strings_json(capabilities)},
                     {"extensions", base::strings_json(entry.spirv->extensions)},
                     {"instruction_sets", base::strings_json(entry.spirv->instruction_sets)}}};
}

// Writes nothing if there are none, so that the listing of other bundles does not change.
void write_names(std::string_view member, const std::vector<std::string>& names,
                 JsonStream& document) {
  if (!names.empty()) {
    document.member(member, base::strings_json(names));
  }
}

void write_entry(const EntrySummary& entry, JsonStream& document) {
  document.begin_object();
  write_detail(entry, "build_log", &format::ManifestEntry::build_log, document);
  document.key("compiled_at_first_launch");
  write_first_launch(entry, document);
  write_names("extensions", base::requested_extensions(entry.entry.options.str()), document);
  document.member("format", binary_json(entry));
  document.key("kernels");
  write_kernels(entry, document);
  document.text_member("options", entry.entry.options);
  document.member("payload", payload_json(entry));
  write_detail(entry, "spec_constants", &format::ManifestEntry::spec_constants, document);
  document.member("spirv", spirv_json(entry));
  document.key("target");
  write_target(entry, document);
  write_detail(entry, "tools", &format::ManifestEntry::tools, document);
  document.end();
}

// Writes all but the arguments and what the launch computes.
void write_answer(const format::KnownAnswer& answer, JsonStream& document) {
  std::uint64_t result_bytes = 0;
  for (const format::ExpectedBuffer& result : answer.results) {
    const format::LaunchArgument& argument = answer.arguments[result.argument];
    result_bytes += argument.count * element_bytes(argument.type);
  }
  RecordJson json(document);
  document.begin_object();
  document.text_member("device", answer.device);
  document.key("global_size");
  json.write(answer.global_size);
  document.text_member("kernel", answer.kernel);
  document.key("local_size");
  json.write_known(answer.local_size[0] == 0 ? nullptr : &answer.local_size);
  if (is_recorded(answer)) { // so that the listing of other bundles does not change
    std::uint64_t data_bytes = 0;
    for (const format::NamedData& data : format::data_of(answer)) {
      data_bytes += data.bytes;
    }
    document.member("recorded_data_bytes", {data_bytes});
  }
  document.member("result_bytes", {result_bytes});
  document.end();
}

void write_group(const GroupSummary& group, JsonStream& document) {
  document.begin_object();
  document.array_member("entries", group.entries,
                        [&](const EntrySummary& entry) { write_entry(entry, document); });
  if (!group.answers.empty()) { // so that the listing of other bundles does not change
    document.array_member("known_answers", group.answers, [&](const format::KnownAnswer& answer) {
      write_answer(answer, document);
    });
  }
  if (!group.measurements.empty()) { // likewise
    document.key("measurements");
    RecordJson(document).write(group.measurements);
  }
  document.text_member("options", group.group.options);
  document.text_member("program", group.group.program);
  document.array_member("recorded_builds", group.builds, [&](const format::RecordedBuild& build) {
    document.begin_object();
    document.key("identity");
    RecordJson(document).write(build.target.identity);
    document.member("kernels", base::strings_json(build.kernels));
    document.end();
  });
  document.key("recorded_launches");
  RecordJson(document).write(group.launches);
  write_names("requires", group.group.required, document);
  document.member("source_kept", {group.group.source_blob != format::k_no_index});
  document.array_member("sources", *group.sources, [&](const SourceSummary& source) {
    document.begin_object();
    document.member("bytes", {source.bytes});
    document.text_member("name", source.name);
    document.end();
  });
  document.text_member("variant", group.group.variant);
  document.end();
}

JsonObject signed_json(const auto& record, const base::Digest& root) {
  JsonObject object{{"holds", {holds(record, root)}}};
  visit(record, [&](std::string_view name, const auto& value) {
    using Value = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::same_as<Value, base::PublicKey>) {
      object.emplace(name, JsonValue{to_hex(value)});
    } else if constexpr (std::integral<Value>) {
      object.emplace(name, JsonValue{value});
    }
  });
  return object;
}

// Writes nothing if there are none, so that the listing of an unsigned bundle does not change.
template <format::Record Signed>
void write_signed_records(const BundleSummary& bundle, std::string_view member,
                          JsonStream& document) {
  base::JsonArray list;
  for (const format::TrailingRecord& record : bundle.signatures) {
    if (const auto read = format::read_signed<Signed>(record); read && bundle.head) {
      list.push_back({signed_json(*read, bundle.head->root)});
    }
  }
  if (!list.empty()) {
    document.member(member, {std::move(list)});
  }
}

// Writes nothing if the bundle is not encrypted, so that its listing does not change.
void write_encryption(const BundleSummary& bundle, JsonStream& document) {
  if (bundle.key_slots.empty()) {
    return;
  }
  document.key("encrypted");
  document.begin_object();
  document.member("key_given", {!bundle.is_locked});
  document.text_member("key_id", to_hex(bundle.key_slots.front().key_id));
  document.array_member("recipients", bundle.key_slots, [&](const format::KeySlot& slot) {
    if (slot.method == format::KeyMethod::sealed) {
      document.text(to_hex(slot.recipient));
    }
  });
  document.end();
}

// Writes nothing if there are none.
void write_packs(const BundleSummary& bundle, JsonStream& document) {
  if (bundle.packs.empty()) {
    return;
  }
  document.array_member("packs", bundle.packs, [&](const auto& pack) {
    document.begin_object();
    document.text_member("digest", to_hex(pack.second));
    document.text_member("name", pack.first);
    document.end();
  });
}

} // namespace

BundlesJson::BundlesJson(JsonStream::Sink sink) : m_document(std::move(sink)) {
  m_document.begin_object();
  m_document.key("bundles");
  m_document.begin_array();
}

void BundlesJson::add(const BundleSummary& bundle) {
  JsonValue digest{nullptr};
  JsonValue version{nullptr};
  JsonValue total_bytes{nullptr};
  if (bundle.head) {
    digest = {to_hex(bundle.head->root)};
    version = {dotted(bundle.head->major, bundle.head->minor)};
    total_bytes = {bundle.head->total_bytes};
  }
  m_document.begin_object();
  write_signed_records<format::CounterRecord>(bundle, "counters", m_document);
  m_document.member("digest", digest);
  write_encryption(bundle, m_document);
  m_document.array_member("errors", bundle.errors,
                          [&](const base::Error& error) { m_document.value(error_json(error)); });
  m_document.text_member("file", bundle.file);
  m_document.member("format_version", version);
  m_document.array_member("groups", bundle.groups,
                          [&](const GroupSummary& group) { write_group(group, m_document); });
  write_packs(bundle, m_document);
  write_signed_records<format::SignatureRecord>(bundle, "signatures", m_document);
  m_document.member("total_bytes", total_bytes);
  write_signed_records<format::VouchRecord>(bundle, "vouches", m_document);
  m_document.end();
}

bool BundlesJson::finish() {
  m_document.end();
  m_document.member("version", {k_report_version});
  return m_document.finish();
}

JsonValue error_json(const base::Error& error) {
  JsonObject members; // g++ 12 warns of a JsonObject that is made of a list (maybe-uninitialized)
  members["code"].value = static_cast<std::uint64_t>(error.code);
  members["message"].value = error.message;
  return {std::move(members)};
}

JsonValue errors_json(std::span<const base::Error> errors) {
  return {base::array_of(errors, error_json)};
}

JsonObject identity_json(const format::DeviceIdentity& identity) {
  JsonObject members;
  visit(identity, [&](std::string_view name, const auto& value) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>) {
      members.emplace(name, JsonValue{std::uint64_t{value}});
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      members.emplace(name, JsonValue{value});
    } else {
      members.emplace(name, base::strings_json(value));
    }
  });
  return members;
}

} // namespace clbin::listing
