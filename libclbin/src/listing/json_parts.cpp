#include "listing/json_parts.hpp"

#include "format/binary/kernel_words.hpp"

#include <string_view>

namespace clbin::listing {

using base::JsonArray;
using base::JsonObject;
using base::JsonStream;
using base::JsonValue;

namespace {

// Calls `visit` with the name and the value of each field, in ascending order of names.
template <typename Visit>
void visit_identity(const format::DeviceIdentity& identity, const Visit& visit) {
  visit("address_bits", identity.address_bits);
  visit("architecture", identity.architecture);
  visit("device_name", identity.device_name);
  visit("device_version", identity.device_version);
  visit("driver_version", identity.driver_version);
  visit("il_versions", identity.il_versions);
  visit("opencl_c_versions", identity.opencl_c_versions);
  visit("platform_name", identity.platform_name);
  visit("platform_version", identity.platform_version);
  visit("vendor", identity.vendor);
  visit("vendor_id", identity.vendor_id);
}

JsonValue json_of(std::uint32_t number) {
  return {std::uint64_t{number}};
}

JsonValue json_of(const std::string& text) {
  return {text};
}

JsonValue json_of(const std::vector<std::string>& texts) {
  return strings_json(texts);
}

void write(std::uint32_t number, JsonStream& document) {
  document.value(json_of(number));
}

void write(const std::string& text, JsonStream& document) {
  document.text(text);
}

void write(const std::vector<std::string>& texts, JsonStream& document) {
  document.begin_array();
  for (const std::string& text : texts) {
    document.text(text);
  }
  document.end();
}

template <typename Number>
JsonValue optional_number(const std::optional<Number>& value) {
  return value ? JsonValue{std::uint64_t{*value}} : JsonValue{nullptr};
}

void write_argument(const format::KernelArgument& argument, JsonStream& document) {
  const std::string_view access = access_name(argument.access);
  document.begin_object();
  document.text_member("access", access.empty() ? "none" : access);
  document.text_member("address_space", address_space_name(argument.address_space));
  document.member("const", {argument.is_const});
  document.text_member("name", argument.name);
  document.member("pipe", {argument.is_pipe});
  document.member("restrict", {argument.is_restrict});
  document.text_member("type", argument.type_name);
  document.member("volatile", {argument.is_volatile});
  document.end();
}

void write_arguments(const format::KernelReflection& kernel, JsonStream& document) {
  if (!kernel.arguments) {
    document.value({nullptr});
    return;
  }
  document.begin_array();
  for (const format::KernelArgument& argument : *kernel.arguments) {
    write_argument(argument, document);
  }
  document.end();
}

JsonValue size_json(const std::array<std::uint64_t, 3>& size) {
  JsonArray numbers;
  for (const std::uint64_t number : size) {
    numbers.push_back({number});
  }
  return {std::move(numbers)};
}

JsonValue required_size_json(const format::KernelReflection& kernel) {
  return kernel.required_work_group_size[0] == 0 ? JsonValue{nullptr}
                                                 : size_json(kernel.required_work_group_size);
}

void write_specialized_sizes(const format::KernelReflection& kernel, JsonStream& document) {
  document.begin_array();
  for (const auto& size : kernel.specialized_sizes) {
    document.value(size_json(size));
  }
  document.end();
}

void write_vendor_facts(const format::KernelReflection& kernel, JsonStream& document) {
  document.begin_object();
  for (const auto& [name, value] : kernel.vendor) {
    document.member(name, {value});
  }
  document.end();
}

} // namespace

JsonValue strings_json(const std::vector<std::string>& texts) {
  JsonArray items;
  for (const std::string& text : texts) {
    items.push_back({text});
  }
  return {std::move(items)};
}

JsonValue error_json(const base::Error& error) {
  JsonObject members; // g++ 12 warns of a JsonObject that is made of a list (maybe-uninitialized)
  members["code"].value = static_cast<std::uint64_t>(error.code);
  members["message"].value = error.message;
  JsonValue result;
  result.value = std::move(members);
  return result;
}

JsonValue errors_json(std::span<const base::Error> errors) {
  JsonArray items;
  for (const base::Error& error : errors) {
    items.push_back(error_json(error));
  }
  return {std::move(items)};
}

JsonObject identity_json(const format::DeviceIdentity& identity) {
  JsonObject members;
  visit_identity(identity, [&](const char* name, const auto& value) {
    members.emplace(name, json_of(value));
  });
  return members;
}

void write_identity(const format::DeviceIdentity& identity, JsonStream& document) {
  document.begin_object();
  visit_identity(identity, [&](const char* name, const auto& value) {
    document.key(name);
    write(value, document);
  });
  document.end();
}

void write_kernel(const format::KernelReflection& kernel, JsonStream& document) {
  document.begin_object();
  document.member("argument_count", optional_number(kernel.argument_count));
  document.key("arguments");
  write_arguments(kernel, document);
  document.text_member("attributes", kernel.attributes);
  document.member("local_bytes", optional_number(kernel.local_bytes));
  document.member("max_work_group_size", optional_number(kernel.max_work_group_size));
  document.text_member("name", kernel.name);
  document.member("preferred_multiple", optional_number(kernel.preferred_multiple));
  document.member("private_bytes", optional_number(kernel.private_bytes));
  document.member("required_work_group_size", required_size_json(kernel));
  document.key("specialized_sizes");
  write_specialized_sizes(kernel, document);
  document.key("vendor");
  write_vendor_facts(kernel, document);
  document.end();
}

} // namespace clbin::listing
