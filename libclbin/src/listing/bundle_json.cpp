#include "listing/bundle_summary.hpp"

#include "listing/json_parts.hpp"
#include "listing/launch_compilation.hpp"

#include <fmt/core.h>

namespace clbin::listing {

using base::JsonObject;
using base::JsonStream;
using base::JsonValue;
using base::to_hex;

namespace {

// Calls `write` for each item between the brackets of an array.
void write_array(const auto& items, JsonStream& document, const auto& write) {
  document.begin_array();
  for (const auto& item : items) {
    write(item);
  }
  document.end();
}

// Writes values and records. Writes null for unknown facts, and every member of a record. Copies
// only a part of each text at a time.
class RecordJson {
public:
  explicit RecordJson(base::JsonStream& document) : m_document(document) {}

  void write(bool value) { m_document.value({value}); }
  void write(std::uint64_t number) { m_document.value({number}); }
  void write(std::uint32_t number) { write(std::uint64_t{number}); }
  void write(const std::string& text) { m_document.text(text); }

  template <typename Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) { m_document.text(name_of(value)); }

  // Writes null for a null pointer.
  void write_known(const auto* value) {
    if (value != nullptr) {
      write(*value);
    } else {
      m_document.value({nullptr});
    }
  }

  template <typename Value>
  void write(const std::optional<Value>& value) {
    write_known(value ? &*value : nullptr);
  }

  void write(const format::GroupSize& size) {
    m_document.value({base::JsonArray{{size[0]}, {size[1]}, {size[2]}}});
  }

  template <typename Item>
  void write(const std::vector<Item>& items) {
    write_array(items, m_document, [this](const Item& item) { write(item); });
  }

  template <typename Value>
  void write(const std::map<std::string, Value>& values) {
    m_document.begin_object();
    for (const auto& [name, value] : values) {
      m_document.key(name);
      write(value);
    }
    m_document.end();
  }

  template <format::Record T>
  void write(const T& record) {
    m_document.begin_object();
    format::visit_by_name(record, [this](std::string_view name, const auto& value) {
      const bool is_renamed = std::same_as<T, format::KernelArgument> && name == "type_name";
      if (name != "variant") { // that of the group
        m_document.key(is_renamed ? "type" : name);
        write_member(value);
      }
    });
    m_document.end();
  }

private:
  void write_member(const auto& value) { write(value); }
  void write_member(const format::GroupSize& size) { write_known(size[0] == 0 ? nullptr : &size); }

  base::JsonStream& m_document;
};

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
  write_array(entry.entry.kernels, document, [&](const std::string& name) {
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
  write_array(*names, document, [&](std::string_view name) { document.text(name); });
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

void write_entry(const EntrySummary& entry, JsonStream& document) {
  document.begin_object();
  write_detail(entry, "build_log", &format::ManifestEntry::build_log, document);
  document.key("compiled_at_first_launch");
  write_first_launch(entry, document);
  document.member("format", binary_json(entry));
  document.key("kernels");
  write_kernels(entry, document);
  document.text_member("options", entry.entry.options);
  document.member("payload", payload_json(entry));
  write_detail(entry, "spec_constants", &format::ManifestEntry::spec_constants, document);
  document.key("target");
  write_target(entry, document);
  write_detail(entry, "tools", &format::ManifestEntry::tools, document);
  document.end();
}

void write_group(const GroupSummary& group, JsonStream& document) {
  document.begin_object();
  document.key("entries");
  write_array(group.entries, document,
              [&](const EntrySummary& entry) { write_entry(entry, document); });
  document.text_member("options", group.group.options);
  document.text_member("program", group.group.program);
  document.key("recorded_builds");
  write_array(group.builds, document, [&](const format::RecordedBuild& build) {
    document.begin_object();
    document.key("identity");
    RecordJson(document).write(build.target.identity);
    document.member("kernels", strings_json(build.kernels));
    document.end();
  });
  document.key("recorded_launches");
  RecordJson(document).write(group.launches);
  document.member("source_kept", {group.group.source_blob != format::k_no_index});
  document.key("sources");
  write_array(*group.sources, document, [&](const SourceSummary& source) {
    document.begin_object();
    document.member("bytes", {source.bytes});
    document.text_member("name", source.name);
    document.end();
  });
  document.text_member("variant", group.group.variant);
  document.end();
}

JsonValue signed_record_json(const format::TrailingRecord& record, const base::Digest& root) {
  base::JsonObject object;
  if (is_of_kind(record, format::TrailingKind::ed25519_signature)) {
    if (const auto signature = format::read_signed<format::SignatureRecord>(record)) {
      object["holds"] = {holds(*signature, root)};
      object["public_key"] = {to_hex(signature->key)};
    }
  } else if (is_of_kind(record, format::TrailingKind::counter)) {
    if (const auto counter = format::read_signed<format::CounterRecord>(record)) {
      object["counter"] = {counter->counter};
      object["holds"] = {holds(*counter, root)};
      object["public_key"] = {to_hex(counter->key)};
    }
  } else if (const auto vouch = format::read_signed<format::VouchRecord>(record)) {
    object["holds"] = {holds(*vouch)};
    object["new_public_key"] = {to_hex(vouch->new_key)};
    object["old_public_key"] = {to_hex(vouch->old_key)};
  }
  return {std::move(object)};
}

// Writes nothing if there are none, so that the listing of an unsigned bundle does not change.
void write_signed_records(const BundleSummary& bundle, format::TrailingKind kind,
                          std::string_view member, JsonStream& document) {
  base::JsonArray list;
  for (const format::TrailingRecord& record : bundle.signatures) {
    if (bundle.head && is_of_kind(record, kind)) {
      list.push_back(signed_record_json(record, bundle.head->root));
    }
  }
  if (!list.empty()) {
    document.member(member, {std::move(list)});
  }
}

// Writes nothing if the bundle is not encrypted, so that its listing does not change.
void write_encryption(const BundleSummary& bundle, JsonStream& document) {
  if (!bundle.encryption) {
    return;
  }
  document.key("encrypted");
  document.begin_object();
  document.member("key_given", {bundle.encryption->is_key_given});
  document.text_member("key_id", to_hex(bundle.encryption->key_id));
  document.key("recipients");
  write_array(bundle.encryption->recipients, document,
              [&](const auto& recipient) { document.text(to_hex(recipient)); });
  document.end();
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
  write_signed_records(bundle, format::TrailingKind::counter, "counters", m_document);
  m_document.member("digest", digest);
  write_encryption(bundle, m_document);
  m_document.key("errors");
  write_array(bundle.errors, m_document,
              [&](const base::Error& error) { m_document.value(error_json(error)); });
  m_document.text_member("file", bundle.file);
  m_document.member("format_version", version);
  m_document.key("groups");
  write_array(bundle.groups, m_document,
              [&](const GroupSummary& group) { write_group(group, m_document); });
  write_signed_records(bundle, format::TrailingKind::ed25519_signature, "signatures", m_document);
  m_document.member("total_bytes", total_bytes);
  write_signed_records(bundle, format::TrailingKind::vouch, "vouches", m_document);
  m_document.end();
}

bool BundlesJson::finish() {
  m_document.end();
  m_document.member("version", {k_report_version});
  return m_document.finish();
}

} // namespace clbin::listing
