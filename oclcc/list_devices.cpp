#include "list_devices.hpp"

#include "device_pattern.hpp"
#include "json_writer.hpp"
#include "terminal_text.hpp"
#include "worker/installed_devices.hpp"

#include <algorithm>
#include <array>

namespace oclcc {

using worker::DeviceDescription;

namespace {

std::string device_number(const DeviceDescription& device) {
  return fmt::format("{}:{}", device.platform, device.device);
}

constexpr std::size_t k_columns = 5;
using Row = std::array<std::string, k_columns>;

Row row_of(const DeviceDescription& device) {
  return {device_number(device), std::string(device_type_name(device.type)),
          printable(device.identity.platform_name), printable(device.identity.device_name),
          printable(device.identity.driver_version)};
}

std::string line_a_device(const std::vector<DeviceDescription>& devices) {
  std::vector<Row> rows;
  std::array<std::size_t, k_columns> widths{};
  for (const DeviceDescription& device : devices) {
    rows.push_back(row_of(device));
    for (std::size_t i = 0; i < k_columns; ++i) {
      widths[i] = std::max(widths[i], rows.back()[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < k_columns; ++i) {
      text += fmt::format("{:<{}}  ", row[i], widths[i]);
    }
    text += row.back() + "\n";
  }
  return text;
}

std::string table_of(const DeviceDescription& device) {
  std::vector<std::pair<std::string, std::string>> lines = {
      {"platform", device.identity.platform_name},
      {"platform version", device.identity.platform_version},
      {"architecture", device.identity.architecture},
      {"library", device.driver_library}};
  lines.insert(lines.end(), device.properties.begin(), device.properties.end());
  std::erase_if(lines, [](const auto& line) { return line.second.empty(); });
  std::size_t width = 0;
  for (const auto& [label, value] : lines) {
    width = std::max(width, label.size());
  }
  std::string text =
      fmt::format("{}  {}\n", device_number(device), printable(device.identity.device_name));
  for (const auto& [label, value] : lines) {
    text += fmt::format("    {:<{}}  {}\n", printable(label), width, printable(value));
  }
  return text;
}

std::string whole_tables(const std::vector<DeviceDescription>& devices) {
  std::string text;
  for (const DeviceDescription& device : devices) {
    text += text.empty() ? "" : "\n";
    text += table_of(device);
  }
  return text;
}

void write_strings(JsonWriter& json, std::string_view name, const std::vector<std::string>& texts) {
  json.begin_array(name);
  for (const std::string& text : texts) {
    json.text({}, text);
  }
  json.end_array();
}

void write_device(JsonWriter& json, const DeviceDescription& device) {
  const auto& identity = device.identity;
  json.begin_object();
  json.text("id", device_number(device));
  json.number("platform_index", device.platform);
  json.number("device_index", device.device);
  json.text("type", device_type_name(device.type));
  json.boolean("compiler_available", device.compiler_available);
  json.text("platform_name", identity.platform_name);
  json.text("platform_version", identity.platform_version);
  json.text("vendor", identity.vendor);
  json.number("vendor_id", identity.vendor_id);
  json.text("device_name", identity.device_name);
  json.text("device_version", identity.device_version);
  json.text("driver_version", identity.driver_version);
  json.text("architecture", identity.architecture);
  json.number("address_bits", identity.address_bits);
  write_strings(json, "opencl_c_versions", identity.opencl_c_versions);
  write_strings(json, "il_versions", identity.il_versions);
  json.begin_object("properties");
  for (const auto& [label, value] : device.properties) {
    json.text(label, value);
  }
  json.end_object();
  json.end_object();
}

std::string json_of(const std::vector<DeviceDescription>& devices) {
  JsonWriter json;
  json.begin_object();
  json.number("version", 1);
  json.begin_array("devices");
  for (const DeviceDescription& device : devices) {
    write_device(json, device);
  }
  json.end_array();
  json.end_object();
  return std::move(json).take();
}

std::string text_of(const Options& options, const std::vector<DeviceDescription>& devices) {
  if (options.list_format == ListFormat::json) {
    return json_of(devices);
  }
  return options.verbosity == Verbosity::verbose ? whole_tables(devices) : line_a_device(devices);
}

} // namespace

ExitCode list_devices(const Options& options, const worker::WorkerSettings& settings,
                      Reporter& reporter) {
  const bool whole =
      options.list_format == ListFormat::json || options.verbosity == Verbosity::verbose;
  const auto installed = worker::find_installed_devices(
      settings, whole ? worker::PropertyQuery::ask : worker::PropertyQuery::skip);
  if (!installed) {
    reporter.error(installed.error());
    return exit_code_of(installed.error().code);
  }
  const auto devices = select_devices(installed->devices, options.device_patterns);
  if (!devices) {
    reporter.error(devices.error());
    return exit_code_of(devices.error().code);
  }
  return reporter.print(text_of(options, *devices)) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
