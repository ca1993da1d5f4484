#include "info.hpp"
#include "json_writer.hpp"
#include "kernel_text.hpp"

namespace oclcc {

namespace format = clbin::format;

namespace {

void write_strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.begin_array(name);
  for (const std::string& text : texts) {
    json.text({}, text);
  }
  json.end_array();
}

template <typename Number>
void write_optional(JsonWriter& json, std::string_view name, const std::optional<Number>& value) {
  if (value) {
    json.number(name, *value);
  } else {
    json.null(name);
  }
}

// "7.5"
std::string dotted(std::uint16_t major, std::uint16_t minor) {
  return fmt::format("{}.{}", major, minor);
}

void write_binary_format(JsonWriter& json, const EntrySummary& entry) {
  const format::BinaryInfo info = format::info_from_match_key(entry.entry.match_key);
  json.begin_object("format");
  json.text("kind", format::to_string(entry.entry.kind));
  json.text("description", format::describe(info));
  json.number("address_bits", entry.entry.address_bits);
  if (info.kind == format::BinaryKind::ptx || info.kind == format::BinaryKind::cubin) {
    const std::string suffix = info.arch_suffix == '\0' ? "" : std::string(1, info.arch_suffix);
    json.text("target", fmt::format("sm_{}{}{}", info.arch_major, info.arch_minor, suffix));
  } else {
    json.null("target");
  }
  if (info.format_major != 0) {
    json.text("version", dotted(info.format_major, info.format_minor));
  } else {
    json.null("version");
  }
  json.end_object();
}

// What only the manifest knows is null where that cannot be read.
void write_target(JsonWriter& json, const EntrySummary& entry) {
  const format::TargetView& target = entry.entry.target;
  json.begin_object("target");
  json.text("origin", target.origin == format::TargetOrigin::offline ? "offline" : "device");
  json.text("spec", target.spec);
  json.text("family", format::to_string(target.family));
  json.text("platform", target.platform_name);
  json.text("device", target.device_name);
  json.text("driver_version", target.driver_version);
  json.text("digest", clbin::base::to_hex(target.digest));
  if (entry.details) {
    const format::DeviceIdentity& identity = entry.details->target.identity;
    json.begin_object("identity");
    json.text("platform_version", identity.platform_version);
    json.text("vendor", identity.vendor);
    json.number("vendor_id", identity.vendor_id);
    json.text("device_version", identity.device_version);
    json.text("architecture", identity.architecture);
    json.number("address_bits", identity.address_bits);
    write_strings(json, "opencl_c_versions", identity.opencl_c_versions);
    write_strings(json, "il_versions", identity.il_versions);
    json.end_object();
  } else {
    json.null("identity");
  }
  json.end_object();
}

void write_argument(JsonWriter& json, const format::KernelArgument& argument) {
  json.begin_object();
  json.text("name", argument.name);
  json.text("type", argument.type_name);
  json.text("address_space", address_space_name(argument.address_space));
  const std::string_view access = access_name(argument.access);
  json.text("access", access.empty() ? "none" : access);
  json.boolean("const", argument.is_const);
  json.boolean("restrict", argument.is_restrict);
  json.boolean("volatile", argument.is_volatile);
  json.boolean("pipe", argument.is_pipe);
  json.end_object();
}

void write_arguments(JsonWriter& json, const format::KernelReflection& kernel) {
  write_optional(json, "argument_count", kernel.argument_count);
  if (!kernel.arguments) {
    json.null("arguments");
    return;
  }
  json.begin_array("arguments");
  for (const format::KernelArgument& argument : *kernel.arguments) {
    write_argument(json, argument);
  }
  json.end_array();
}

void write_kernel(JsonWriter& json, const format::KernelReflection& kernel) {
  json.begin_object();
  json.text("name", kernel.name);
  write_arguments(json, kernel);
  json.text("attributes", kernel.attributes);
  if (kernel.required_work_group_size[0] != 0) {
    json.begin_array("required_work_group_size");
    for (const std::uint64_t size : kernel.required_work_group_size) {
      json.number({}, size);
    }
    json.end_array();
  } else {
    json.null("required_work_group_size");
  }
  write_optional(json, "max_work_group_size", kernel.max_work_group_size);
  write_optional(json, "preferred_multiple", kernel.preferred_multiple);
  write_optional(json, "local_bytes", kernel.local_bytes);
  write_optional(json, "private_bytes", kernel.private_bytes);
  json.begin_object("vendor");
  for (const auto& [name, value] : kernel.vendor) {
    json.number(name, value);
  }
  json.end_object();
  json.end_object();
}

void write_kernels(JsonWriter& json, const EntrySummary& entry) {
  json.begin_array("kernels");
  if (entry.details) {
    for (const format::KernelReflection& kernel : entry.details->kernels) {
      write_kernel(json, kernel);
    }
  } else {
    for (const std::string& name : entry.entry.kernels) {
      format::KernelReflection kernel;
      kernel.name = name;
      write_kernel(json, kernel);
    }
  }
  json.end_array();
}

void write_payload(JsonWriter& json, const EntrySummary& entry) {
  if (!entry.blob) {
    json.null("payload");
    return;
  }
  json.begin_object("payload");
  json.number("raw_bytes", entry.blob->raw_bytes);
  json.number("stored_bytes", entry.blob->stored_bytes);
  json.text("raw_digest", clbin::base::to_hex(entry.blob->raw_digest));
  json.text("stored_digest", clbin::base::to_hex(entry.blob->stored_digest));
  json.boolean("refers_to_another", entry.blob->reference != format::k_no_index);
  json.end_object();
}

void write_entry(JsonWriter& json, const EntrySummary& entry) {
  json.begin_object();
  write_target(json, entry);
  write_binary_format(json, entry);
  json.text("options", entry.entry.options);
  write_payload(json, entry);
  write_kernels(json, entry);
  if (entry.details) {
    json.text("build_log", entry.details->build_log);
    json.begin_object("tools");
    for (const auto& [name, version] : entry.details->tools) {
      json.text(name, version);
    }
    json.end_object();
  } else {
    json.null("build_log");
    json.null("tools");
  }
  json.end_object();
}

void write_group(JsonWriter& json, const GroupSummary& group) {
  json.begin_object();
  json.text("program", group.group.program);
  json.text("variant", group.group.variant);
  json.text("options", group.group.options);
  json.boolean("source_kept", group.group.source_blob != format::k_no_index);
  json.begin_array("sources");
  for (const SourceSummary& source : group.sources) {
    json.begin_object();
    json.text("name", source.name);
    json.number("bytes", source.bytes);
    json.end_object();
  }
  json.end_array();
  json.begin_array("entries");
  for (const EntrySummary& entry : group.entries) {
    write_entry(json, entry);
  }
  json.end_array();
  json.end_object();
}

void write_head(JsonWriter& json, const std::optional<BundleHead>& head) {
  if (!head) {
    json.null("format_version");
    json.null("total_bytes");
    json.null("digest");
    return;
  }
  json.text("format_version", dotted(head->major, head->minor));
  json.number("total_bytes", head->total_bytes);
  json.text("digest", clbin::base::to_hex(head->root));
}

void write_bundle(JsonWriter& json, const BundleSummary& bundle) {
  json.begin_object();
  json.text("file", bundle.file);
  write_head(json, bundle.head);
  json.begin_array("groups");
  for (const GroupSummary& group : bundle.groups) {
    write_group(json, group);
  }
  json.end_array();
  json.begin_array("errors");
  for (const clbin::base::Error& error : bundle.errors) {
    json.begin_object();
    json.number("code", static_cast<std::uint64_t>(error.code));
    json.text("message", error.message);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

} // namespace

std::string info_json(const std::vector<BundleSummary>& bundles) {
  JsonWriter json;
  json.begin_object();
  json.number("version", 1);
  json.begin_array("bundles");
  for (const BundleSummary& bundle : bundles) {
    write_bundle(json, bundle);
  }
  json.end_array();
  json.end_object();
  return std::move(json).take();
}

} // namespace oclcc
