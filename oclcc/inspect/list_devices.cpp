#include "command_line/modes.hpp"

#include "targets/patterns.hpp"
#include "terminal/report_json.hpp"
#include "terminal/terminal_text.hpp"
#include "worker/installed_devices.hpp"
#include "worker/worker_process.hpp"

#include <algorithm>
#include <array>

namespace oclcc {

using clbin::base::JsonArray;
using clbin::base::JsonObject;
using clbin::base::JsonValue;
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

JsonValue device_json(const DeviceDescription& device) {
  JsonObject members = identity_json(device.identity);
  members["id"] = {device_number(device)};
  members["platform_index"] = {std::uint64_t{device.platform}};
  members["device_index"] = {std::uint64_t{device.device}};
  members["type"] = {std::string(device_type_name(device.type))};
  members["compiler_available"] = {device.compiler_available};
  JsonObject properties;
  for (const auto& [label, value] : device.properties) {
    properties[label] = {value};
  }
  members["properties"] = {std::move(properties)};
  return {std::move(members)};
}

std::string json_of(const std::vector<DeviceDescription>& devices) {
  JsonArray items;
  for (const DeviceDescription& device : devices) {
    items.push_back(device_json(device));
  }
  return report_json({{"devices", {std::move(items)}}});
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
  const auto workers = worker::with_home(settings);
  if (!workers) {
    reporter.error(workers.error());
    return exit_code_of(workers.error().code);
  }
  const auto installed = worker::find_installed_devices(
      *workers, whole ? worker::PropertyQuery::ask : worker::PropertyQuery::skip);
  if (!installed) {
    reporter.error(installed.error());
    return exit_code_of(installed.error().code);
  }
  for (const std::string& failure : installed->failures) {
    reporter.warning(failure);
  }
  const auto devices = select_devices(installed->devices, options.device_patterns);
  if (!devices) {
    reporter.error(devices.error());
    return exit_code_of(devices.error().code);
  }
  return reporter.print(text_of(options, *devices)) ? ExitCode::success : ExitCode::file;
}

} // namespace oclcc
