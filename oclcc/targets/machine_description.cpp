#include "targets/machine_description.hpp"

#include "terminal/terminal_text.hpp"

#include <CL/cl.h>
#include <cctype>
#include <fmt/format.h>
#include <limits>

namespace oclcc {

using worker::DeviceDescription;

namespace {

constexpr std::size_t k_digest_letters = 16;
constexpr std::size_t k_max_name_letters = 24;

// "cpu-haswell-Intel(R) Core" is "cpu_haswell_intel_r_core".
std::string feature_word(std::string_view name) {
  std::string plain;
  for (const char letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0) {
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  plain.resize(std::min(plain.size(), k_max_name_letters));
  while (plain.ends_with('_')) {
    plain.pop_back();
  }
  return plain;
}

std::string start_of_digest(const base::Digest& digest) {
  return base::to_hex(digest).substr(0, k_digest_letters);
}

constexpr std::uint64_t k_max_document_bytes = 16ULL << 20U;

constexpr std::pair<std::uint64_t, std::string_view> k_type_names[] = {
    {CL_DEVICE_TYPE_CPU, "cpu"},
    {CL_DEVICE_TYPE_GPU, "gpu"},
    {CL_DEVICE_TYPE_ACCELERATOR, "accelerator"},
    {CL_DEVICE_TYPE_CUSTOM, "custom"}};

void escape_texts(JsonValue& value) {
  if (auto* const text = std::get_if<std::string>(&value.value)) {
    *text = base::escape_text(*text);
  } else if (auto* const items = std::get_if<JsonArray>(&value.value)) {
    for (JsonValue& item : *items) {
      escape_texts(item);
    }
  }
}

JsonObject machine_device_json(const DeviceDescription& device) {
  JsonObject members = identity_json(device.identity);
  for (auto& [name, value] : members) {
    escape_texts(value);
  }
  members["feature"] = {device_feature(device.identity)};
  JsonArray types;
  for (const auto& [bit, name] : k_type_names) {
    if ((device.type & bit) != 0) {
      types.push_back({std::string(name)});
    }
  }
  members["types"] = {std::move(types)};
  return members;
}

// The members of one device in a document.
class DeviceReader {
public:
  explicit DeviceReader(const JsonObject& members) : m_members(members) {}

  Result<void> read(std::string_view name, std::string& text) const {
    CLBIN_TRY_ASSIGN(const std::string escaped, value<std::string>(name, "a text"));
    CLBIN_TRY_ASSIGN(text, base::unescape_text(escaped));
    return {};
  }

  Result<void> read(std::string_view name, std::uint32_t& number) const {
    CLBIN_TRY_ASSIGN(const std::uint64_t wide, value<std::uint64_t>(name, "a number"));
    if (wide > std::numeric_limits<std::uint32_t>::max()) {
      return fail(ErrorCode::manifest_invalid, "'{}' is too large", name);
    }
    number = static_cast<std::uint32_t>(wide);
    return {};
  }

  Result<void> read(std::string_view name, std::vector<std::string>& texts) const {
    CLBIN_TRY_ASSIGN(const JsonArray items, value<JsonArray>(name, "a list"));
    for (const JsonValue& item : items) {
      const auto* const escaped = std::get_if<std::string>(&item.value);
      if (escaped == nullptr) {
        return fail(ErrorCode::manifest_invalid, "'{}' is not a list of texts", name);
      }
      CLBIN_TRY_ASSIGN(std::string text, base::unescape_text(*escaped));
      texts.push_back(std::move(text));
    }
    return {};
  }

  // Reads every member of `record`.
  Result<void> read(format::Record auto& record) const {
    Result<void> status;
    visit(record, [&](std::string_view name, auto& value) {
      if (status) {
        status = read(name, value);
      }
    });
    return status;
  }

private:
  template <typename Type>
  Result<Type> value(std::string_view name, std::string_view what) const {
    const auto found = m_members.find(name);
    const Type* const value =
        found == m_members.end() ? nullptr : std::get_if<Type>(&found->second.value);
    if (value == nullptr) {
      return fail(ErrorCode::manifest_invalid, "'{}' is not {}", name, what);
    }
    return *value;
  }

  const JsonObject& m_members;
};

Result<DeviceDescription> device_of_members(const JsonValue& value) {
  const auto* const members = std::get_if<JsonObject>(&value.value);
  if (members == nullptr) {
    return fail(ErrorCode::manifest_invalid, "a device is not an object");
  }
  const DeviceReader reader(*members);
  DeviceDescription device;
  CLBIN_TRY(reader.read(device.identity));
  std::vector<std::string> types;
  CLBIN_TRY(reader.read("types", types));
  for (const auto& [bit, name] : k_type_names) {
    const bool has_type = std::ranges::find(types, name) != types.end();
    device.type |= has_type ? bit : 0;
  }
  std::string feature;
  CLBIN_TRY(reader.read("feature", feature));
  if (feature != device_feature(device.identity)) {
    return fail(ErrorCode::manifest_invalid, "'{}' is not the feature of its device, which is '{}'",
                feature, device_feature(device.identity));
  }
  return device;
}

Result<std::vector<DeviceDescription>> read_devices(JsonValue document) {
  auto* const members = std::get_if<JsonObject>(&document.value);
  const auto* const items =
      members == nullptr ? nullptr : std::get_if<JsonArray>(&(*members)["devices"].value);
  if (items == nullptr) {
    return fail(ErrorCode::manifest_invalid, "it lists no devices");
  }
  std::vector<DeviceDescription> devices;
  for (const JsonValue& item : *items) {
    CLBIN_TRY_ASSIGN(DeviceDescription device, device_of_members(item));
    devices.push_back(std::move(device));
  }
  return devices;
}

} // namespace

std::string device_feature(const format::DeviceIdentity& identity) {
  const std::string name = feature_word(identity.device_name);
  return fmt::format("{}{}_{}{}{}", k_feature_prefix, to_string(device_family(identity)), name,
                     name.empty() ? "" : "_", start_of_digest(identity_digest(identity)));
}

std::string tools_feature(std::string_view spec,
                          const std::vector<clbin::cache::Ingredient>& facts) {
  return fmt::format("{}{}_{}", k_feature_prefix, feature_word(spec.substr(0, spec.find(':'))),
                     start_of_digest(clbin::cache::recipe_key({{}, facts})));
}

std::vector<std::string> features_of(const MachineDescription& machine) {
  std::set<std::string> features;
  for (const DeviceDescription& device : machine.devices) {
    features.insert(device_feature(device.identity));
  }
  for (const MachineTools& tools : machine.tools) {
    features.insert(tools.feature);
  }
  return {features.begin(), features.end()};
}

JsonObject machine_json(const MachineDescription& machine) {
  const auto tools_json = [](const MachineTools& tools) {
    return JsonObject{{"feature", {tools.feature}}, {"targets", strings_json(tools.targets)}};
  };
  return {{"devices", {array_of(machine.devices, machine_device_json)}},
          {"features", strings_json(features_of(machine))},
          {"oclcc", {std::string(OCLCC_VERSION)}},
          {"tools", {array_of(machine.tools, tools_json)}}};
}

Result<std::vector<DeviceDescription>> read_machine(const std::filesystem::path& file) {
  CLBIN_TRY_ASSIGN(const auto bytes, base::read_whole_file(file, k_max_document_bytes));
  auto devices = base::parse_json(bytes, {}).and_then(read_devices);
  if (!devices) {
    return fail(ErrorCode::invalid_argument,
                "'{}' is not a document of 'oclcc --identity --json': {}", file.string(),
                devices.error().message);
  }
  return devices;
}

} // namespace oclcc
