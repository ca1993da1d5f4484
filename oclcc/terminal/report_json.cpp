#include "terminal/report_json.hpp"

#include "terminal/kernel_text.hpp"
#include "terminal/terminal_text.hpp"

namespace oclcc {

namespace format = clbin::format;
using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;

namespace {

template <typename Number>
JsonValue optional_number(const std::optional<Number>& value) {
  return value ? JsonValue{std::uint64_t{*value}} : JsonValue{nullptr};
}

JsonValue argument_json(const format::KernelArgument& argument) {
  const std::string_view access = access_name(argument.access);
  return {JsonObject{
      {"name", {argument.name}},
      {"type", {argument.type_name}},
      {"address_space", {std::string(address_space_name(argument.address_space))}},
      {"access", {std::string(access.empty() ? "none" : access)}},
      {"const", {argument.is_const}},
      {"restrict", {argument.is_restrict}},
      {"volatile", {argument.is_volatile}},
      {"pipe", {argument.is_pipe}},
  }};
}

void write_arguments(const format::KernelReflection& kernel, JsonStream& document) {
  if (!kernel.arguments) {
    document.value({nullptr});
    return;
  }
  document.begin_array();
  for (const format::KernelArgument& argument : *kernel.arguments) {
    document.value(argument_json(argument));
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

std::string report_json(JsonObject members) {
  members["version"] = {k_report_version};
  return printable_json(
      clbin::base::write_json({std::move(members)}, clbin::base::JsonLayout::indented));
}

JsonValue strings_json(const std::vector<std::string>& texts) {
  JsonArray items;
  for (const std::string& text : texts) {
    items.push_back({text});
  }
  return {std::move(items)};
}

JsonValue errors_json(std::span<const clbin::base::Error> errors) {
  JsonArray items;
  for (const clbin::base::Error& error : errors) {
    JsonObject members; // g++ 12 warns of a JsonObject that is made of a list (maybe-uninitialized)
    members["code"].value = static_cast<std::uint64_t>(error.code);
    members["message"].value = error.message;
    items.emplace_back().value = std::move(members);
  }
  return {std::move(items)};
}

JsonObject identity_json(const format::DeviceIdentity& identity) {
  return {
      {"platform_name", {identity.platform_name}},
      {"platform_version", {identity.platform_version}},
      {"vendor", {identity.vendor}},
      {"vendor_id", {std::uint64_t{identity.vendor_id}}},
      {"device_name", {identity.device_name}},
      {"device_version", {identity.device_version}},
      {"driver_version", {identity.driver_version}},
      {"architecture", {identity.architecture}},
      {"address_bits", {std::uint64_t{identity.address_bits}}},
      {"opencl_c_versions", strings_json(identity.opencl_c_versions)},
      {"il_versions", strings_json(identity.il_versions)},
  };
}

void write_kernel(const format::KernelReflection& kernel, JsonStream& document) {
  document.begin_object();
  document.member("argument_count", optional_number(kernel.argument_count));
  document.key("arguments");
  write_arguments(kernel, document);
  document.member("attributes", {kernel.attributes});
  document.member("local_bytes", optional_number(kernel.local_bytes));
  document.member("max_work_group_size", optional_number(kernel.max_work_group_size));
  document.member("name", {kernel.name});
  document.member("preferred_multiple", optional_number(kernel.preferred_multiple));
  document.member("private_bytes", optional_number(kernel.private_bytes));
  document.member("required_work_group_size", required_size_json(kernel));
  document.key("specialized_sizes");
  write_specialized_sizes(kernel, document);
  document.key("vendor");
  write_vendor_facts(kernel, document);
  document.end();
}

} // namespace oclcc
