#include "format/bundle/manifest.hpp"

#include "base/json_document.hpp"
#include "base/text_escape.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <span>
#include <type_traits>

namespace clbin::format {

using base::ErrorCode;

namespace {

template <typename Enum>
struct EnumName {
  std::string_view name;
  Enum value;
};

constexpr EnumName<TargetOrigin> k_origins[] = {
    {"installed", TargetOrigin::installed_device},
    {"offline", TargetOrigin::offline},
};
constexpr EnumName<AddressSpace> k_address_spaces[] = {
    {"private", AddressSpace::private_},
    {"global", AddressSpace::global},
    {"local", AddressSpace::local},
    {"constant", AddressSpace::constant},
};
constexpr EnumName<AccessQualifier> k_access_qualifiers[] = {
    {"none", AccessQualifier::none},
    {"read_only", AccessQualifier::read_only},
    {"write_only", AccessQualifier::write_only},
    {"read_write", AccessQualifier::read_write},
};

constexpr std::span<const EnumName<TargetOrigin>> names_of(TargetOrigin) {
  return k_origins;
}
constexpr std::span<const EnumName<AddressSpace>> names_of(AddressSpace) {
  return k_address_spaces;
}
constexpr std::span<const EnumName<AccessQualifier>> names_of(AccessQualifier) {
  return k_access_qualifiers;
}

constexpr std::size_t k_row_digest_digits = 16;

// Encoding. ---------------------------------------------------------------------------------------

base::JsonValue to_json(bool value);
base::JsonValue to_json(std::uint64_t value);
base::JsonValue to_json(std::uint32_t value);
base::JsonValue to_json(const std::string& text);
base::JsonValue to_json(const std::array<std::uint64_t, 3>& items);
base::JsonValue to_json(const KernelArgument& argument);
base::JsonValue to_json(const KernelReflection& kernel);
base::JsonValue to_json(const DeviceIdentity& identity);
base::JsonValue to_json(const Target& target);
base::JsonValue to_json(const SpecConstant& constant);
base::JsonValue to_json(const ManifestEntry& entry);
base::JsonValue to_json(const RecordedLaunch& launch);
base::JsonValue to_json(const RecordedBuild& build);

template <typename Enum>
requires std::is_enum_v<Enum> base::JsonValue to_json(Enum value) {
  for (const auto& known : names_of(value)) {
    if (known.value == value) {
      return {std::string(known.name)};
    }
  }
  return {std::string()};
}

template <typename Item>
base::JsonValue to_json(const std::vector<Item>& items) {
  base::JsonArray array;
  array.reserve(items.size());
  for (const Item& item : items) {
    array.push_back(to_json(item));
  }
  return {std::move(array)};
}

base::JsonValue to_json(const std::array<std::uint64_t, 3>& items) {
  return to_json(std::vector<std::uint64_t>(items.begin(), items.end()));
}

template <typename Item>
base::JsonValue to_json(const std::optional<Item>& item) {
  return to_json(item.value());
}

template <typename Item>
base::JsonValue to_json(const std::map<std::string, Item>& items) {
  base::JsonObject object;
  for (const auto& [key, item] : items) {
    object.emplace(base::escape_text(key), to_json(item));
  }
  return {std::move(object)};
}

// Omits a member that has its default value.
template <typename Value>
void put(base::JsonObject& object, const char* name, const Value& value) {
  if (value != Value()) {
    object.emplace(name, to_json(value));
  }
}

base::JsonValue to_json(bool value) {
  return {value};
}

base::JsonValue to_json(std::uint64_t value) {
  return {value};
}

base::JsonValue to_json(std::uint32_t value) {
  return to_json(std::uint64_t{value});
}

base::JsonValue to_json(const std::string& text) {
  return {base::escape_text(text)};
}

base::JsonValue to_json(const KernelArgument& argument) {
  base::JsonObject object;
  put(object, "access", argument.access);
  put(object, "address_space", argument.address_space);
  put(object, "const", argument.is_const);
  put(object, "name", argument.name);
  put(object, "pipe", argument.is_pipe);
  put(object, "restrict", argument.is_restrict);
  put(object, "type_name", argument.type_name);
  put(object, "volatile", argument.is_volatile);
  return {std::move(object)};
}

base::JsonValue to_json(const KernelReflection& kernel) {
  base::JsonObject object;
  put(object, "argument_count", kernel.argument_count);
  put(object, "arguments", kernel.arguments);
  put(object, "attributes", kernel.attributes);
  put(object, "local_bytes", kernel.local_bytes);
  put(object, "max_work_group_size", kernel.max_work_group_size);
  put(object, "name", kernel.name);
  put(object, "preferred_multiple", kernel.preferred_multiple);
  put(object, "private_bytes", kernel.private_bytes);
  put(object, "required_work_group_size", kernel.required_work_group_size);
  put(object, "specialized_sizes", kernel.specialized_sizes);
  put(object, "vendor", kernel.vendor);
  return {std::move(object)};
}

base::JsonValue to_json(const DeviceIdentity& identity) {
  base::JsonObject object;
  put(object, "address_bits", identity.address_bits);
  put(object, "architecture", identity.architecture);
  put(object, "device_name", identity.device_name);
  put(object, "device_version", identity.device_version);
  put(object, "driver_version", identity.driver_version);
  put(object, "il_versions", identity.il_versions);
  put(object, "opencl_c_versions", identity.opencl_c_versions);
  put(object, "platform_name", identity.platform_name);
  put(object, "platform_version", identity.platform_version);
  put(object, "vendor", identity.vendor);
  put(object, "vendor_id", identity.vendor_id);
  return {std::move(object)};
}

base::JsonValue to_json(const Target& target) {
  base::JsonObject object;
  put(object, "identity", target.identity);
  put(object, "origin", target.origin);
  put(object, "spec", target.spec);
  return {std::move(object)};
}

base::JsonValue to_json(const SpecConstant& constant) {
  base::JsonObject object;
  put(object, "default_bits", constant.default_bits);
  put(object, "id", constant.spec_id);
  put(object, "name", constant.name);
  put(object, "size_bytes", constant.size_bytes);
  put(object, "type_name", constant.type_name);
  return {std::move(object)};
}

base::JsonValue to_json(const ManifestEntry& entry) {
  base::JsonObject object;
  put(object, "build_log", entry.build_log);
  put(object, "kernels", entry.kernels);
  put(object, "options", entry.options);
  put(object, "raw_digest", entry.raw_digest);
  put(object, "spec_constants", entry.spec_constants);
  put(object, "target", entry.target);
  put(object, "tools", entry.tools);
  put(object, "variant", entry.variant);
  return {std::move(object)};
}

base::JsonValue to_json(const RecordedLaunch& launch) {
  base::JsonObject object;
  put(object, "dimensions", launch.dimensions);
  put(object, "kernel", launch.kernel);
  put(object, "local_size", launch.local_size);
  put(object, "variant", launch.variant);
  return {std::move(object)};
}

base::JsonValue to_json(const RecordedBuild& build) {
  base::JsonObject object;
  put(object, "kernels", build.kernels);
  put(object, "target", build.target);
  put(object, "variant", build.variant);
  return {std::move(object)};
}

// Decoding. ---------------------------------------------------------------------------------------

// The reason why a value does not fit, and its path below the decoded value.
struct Misfit {
  std::string path;
  std::string reason;
};
using Fit = tl::expected<void, Misfit>;

template <typename... Args>
tl::unexpected<Misfit> misfit(fmt::format_string<Args...> reason, Args&&... args) {
  return tl::unexpected(Misfit{{}, fmt::format(reason, std::forward<Args>(args)...)});
}

tl::unexpected<Misfit> below(std::string_view step, Misfit misfit) {
  const bool needs_dot = !misfit.path.empty() && misfit.path.front() != '[';
  misfit.path = fmt::format("{}{}{}", step, needs_dot ? "." : "", misfit.path);
  return tl::unexpected(std::move(misfit));
}

struct ValueDescriber {
  std::string operator()(std::nullptr_t) const { return "null"; }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(std::uint64_t value) const { return std::to_string(value); }
  std::string operator()(const base::OtherNumber& number) const {
    return base::printable_excerpt(number.text);
  }
  std::string operator()(const std::string&) const { return "a string"; }
  std::string operator()(const base::JsonArray&) const { return "an array"; }
  std::string operator()(const base::JsonObject&) const { return "an object"; }
};

tl::unexpected<Misfit> wrong_type(std::string_view expected, const base::JsonValue& found) {
  return misfit("expected {}, found {}", expected, std::visit(ValueDescriber(), found.value));
}

// Each function moves values out of `json` if possible, so that a large manifest is not in memory
// twice.
Fit from_json(base::JsonValue& json, bool& value);
Fit from_json(base::JsonValue& json, std::uint64_t& value);
Fit from_json(base::JsonValue& json, std::uint32_t& value);
Fit from_json(base::JsonValue& json, std::string& text);
Fit from_json(base::JsonValue& json, std::array<std::uint64_t, 3>& items);
Fit from_json(base::JsonValue& json, KernelArgument& argument);
Fit from_json(base::JsonValue& json, KernelReflection& kernel);
Fit from_json(base::JsonValue& json, DeviceIdentity& identity);
Fit from_json(base::JsonValue& json, Target& target);
Fit from_json(base::JsonValue& json, SpecConstant& constant);
Fit from_json(base::JsonValue& json, ManifestEntry& entry);
Fit from_json(base::JsonValue& json, RecordedLaunch& launch);
Fit from_json(base::JsonValue& json, RecordedBuild& build);

template <typename Enum>
requires std::is_enum_v<Enum> Fit from_json(base::JsonValue& json, Enum& value) {
  const auto* const text = std::get_if<std::string>(&json.value);
  if (text == nullptr) {
    return wrong_type("a string", json);
  }
  for (const auto& known : names_of(value)) {
    if (known.name == *text) {
      value = known.value;
      return {};
    }
  }
  return misfit("'{}' is not known", base::printable_excerpt(*text));
}

template <typename Item>
Fit from_json(base::JsonValue& json, std::vector<Item>& items) {
  auto* const array = std::get_if<base::JsonArray>(&json.value);
  if (array == nullptr) {
    return wrong_type("an array", json);
  }
  items.reserve(array->size());
  for (base::JsonValue& element : *array) {
    if (Fit fit = from_json(element, items.emplace_back()); !fit) {
      return below(fmt::format("[{}]", items.size() - 1), std::move(fit.error()));
    }
  }
  return {};
}

Fit from_json(base::JsonValue& json, std::array<std::uint64_t, 3>& items) {
  std::vector<std::uint64_t> found;
  if (Fit fit = from_json(json, found); !fit) {
    return fit;
  }
  if (found.size() != items.size()) {
    return misfit("expected {} numbers, found {}", items.size(), found.size());
  }
  std::copy(found.begin(), found.end(), items.begin());
  return {};
}

template <typename Item>
Fit from_json(base::JsonValue& json, std::optional<Item>& item) {
  return from_json(json, item.emplace());
}

template <typename Item>
Fit from_json(base::JsonValue& json, std::map<std::string, Item>& items) {
  auto* const object = std::get_if<base::JsonObject>(&json.value);
  if (object == nullptr) {
    return wrong_type("an object", json);
  }
  for (auto& [escaped_key, element] : *object) {
    auto key = base::unescape_text(escaped_key);
    if (!key) {
      return misfit("{}", key.error().message);
    }
    if (Fit fit = from_json(element, items[std::move(*key)]); !fit) {
      return below(base::printable_excerpt(escaped_key), std::move(fit.error()));
    }
  }
  return {};
}

// Reads the members of one object in the order of the calls, up to the first that does not fit.
// Ignores other members.
class MemberReader {
public:
  explicit MemberReader(base::JsonValue& json)
      : m_object(std::get_if<base::JsonObject>(&json.value)) {
    if (m_object == nullptr) {
      m_fit = wrong_type("an object", json);
    }
  }

  // Leaves `value` unchanged if the member is absent.
  template <typename Value>
  MemberReader& read(std::string_view name, Value& value) {
    if (base::JsonValue* const member = find(name); member != nullptr) {
      if (Fit fit = from_json(*member, value); !fit) {
        m_fit = below(name, std::move(fit.error()));
      }
    }
    return *this;
  }

  MemberReader& require(std::string_view name) {
    if (m_fit && find(name) == nullptr) {
      m_fit = below(name, Misfit{{}, "missing"});
    }
    return *this;
  }

  [[nodiscard]] Fit take() { return std::move(m_fit); }

private:
  base::JsonValue* find(std::string_view name) {
    if (!m_fit) {
      return nullptr;
    }
    const auto found = m_object->find(name);
    return found == m_object->end() ? nullptr : &found->second;
  }

  base::JsonObject* m_object;
  Fit m_fit;
};

Fit from_json(base::JsonValue& json, bool& value) {
  const auto* const found = std::get_if<bool>(&json.value);
  if (found == nullptr) {
    return wrong_type("true or false", json);
  }
  value = *found;
  return {};
}

Fit from_json(base::JsonValue& json, std::uint64_t& value) {
  const auto* const found = std::get_if<std::uint64_t>(&json.value);
  if (found == nullptr) {
    return wrong_type("an unsigned integer", json);
  }
  value = *found;
  return {};
}

Fit from_json(base::JsonValue& json, std::uint32_t& value) {
  std::uint64_t wide = 0;
  if (Fit fit = from_json(json, wide); !fit) {
    return fit;
  }
  if (wide > std::numeric_limits<std::uint32_t>::max()) {
    return misfit("expected an integer up to {}, found {}",
                  std::numeric_limits<std::uint32_t>::max(), wide);
  }
  value = static_cast<std::uint32_t>(wide);
  return {};
}

Fit from_json(base::JsonValue& json, std::string& text) {
  const auto* const found = std::get_if<std::string>(&json.value);
  if (found == nullptr) {
    return wrong_type("a string", json);
  }
  auto unescaped = base::unescape_text(*found);
  if (!unescaped) {
    return misfit("{}", unescaped.error().message);
  }
  text = std::move(*unescaped);
  json.value = nullptr;
  return {};
}

Fit from_json(base::JsonValue& json, KernelArgument& argument) {
  return MemberReader(json)
      .read("access", argument.access)
      .read("address_space", argument.address_space)
      .read("const", argument.is_const)
      .read("name", argument.name)
      .read("pipe", argument.is_pipe)
      .read("restrict", argument.is_restrict)
      .read("type_name", argument.type_name)
      .read("volatile", argument.is_volatile)
      .take();
}

Fit from_json(base::JsonValue& json, KernelReflection& kernel) {
  Fit fit = MemberReader(json)
                .require("name")
                .read("argument_count", kernel.argument_count)
                .read("arguments", kernel.arguments)
                .read("attributes", kernel.attributes)
                .read("local_bytes", kernel.local_bytes)
                .read("max_work_group_size", kernel.max_work_group_size)
                .read("name", kernel.name)
                .read("preferred_multiple", kernel.preferred_multiple)
                .read("private_bytes", kernel.private_bytes)
                .read("required_work_group_size", kernel.required_work_group_size)
                .read("specialized_sizes", kernel.specialized_sizes)
                .read("vendor", kernel.vendor)
                .take();
  // No writer writes a kernel without a name, and the encoded form would not contain it.
  return fit && kernel.name.empty() ? below("name", Misfit{{}, "empty"}) : fit;
}

Fit from_json(base::JsonValue& json, DeviceIdentity& identity) {
  return MemberReader(json)
      .read("address_bits", identity.address_bits)
      .read("architecture", identity.architecture)
      .read("device_name", identity.device_name)
      .read("device_version", identity.device_version)
      .read("driver_version", identity.driver_version)
      .read("il_versions", identity.il_versions)
      .read("opencl_c_versions", identity.opencl_c_versions)
      .read("platform_name", identity.platform_name)
      .read("platform_version", identity.platform_version)
      .read("vendor", identity.vendor)
      .read("vendor_id", identity.vendor_id)
      .take();
}

Fit from_json(base::JsonValue& json, Target& target) {
  return MemberReader(json)
      .read("identity", target.identity)
      .read("origin", target.origin)
      .read("spec", target.spec)
      .take();
}

Fit from_json(base::JsonValue& json, SpecConstant& constant) {
  return MemberReader(json)
      .read("default_bits", constant.default_bits)
      .read("id", constant.spec_id)
      .read("name", constant.name)
      .read("size_bytes", constant.size_bytes)
      .read("type_name", constant.type_name)
      .take();
}

Fit from_json(base::JsonValue& json, ManifestEntry& entry) {
  Fit fit = MemberReader(json)
                .require("raw_digest")
                .read("build_log", entry.build_log)
                .read("kernels", entry.kernels)
                .read("options", entry.options)
                .read("raw_digest", entry.raw_digest)
                .read("spec_constants", entry.spec_constants)
                .read("target", entry.target)
                .read("tools", entry.tools)
                .read("variant", entry.variant)
                .take();
  if (!fit) {
    return fit;
  }
  const bool is_digest =
      entry.raw_digest.size() == k_row_digest_digits &&
      entry.raw_digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!is_digest) {
    return below("raw_digest", Misfit{{}, "expected 16 lower-case hexadecimal digits"});
  }
  return {};
}

Fit from_json(base::JsonValue& json, RecordedLaunch& launch) {
  Fit fit = MemberReader(json)
                .require("dimensions")
                .require("kernel")
                .read("dimensions", launch.dimensions)
                .read("kernel", launch.kernel)
                .read("local_size", launch.local_size)
                .read("variant", launch.variant)
                .take();
  if (fit && (launch.dimensions == 0 || launch.dimensions > launch.local_size.size())) {
    return below(
        "dimensions",
        Misfit{{}, fmt::format("expected an integer from 1 to 3, found {}", launch.dimensions)});
  }
  return fit;
}

Fit from_json(base::JsonValue& json, RecordedBuild& build) {
  return MemberReader(json)
      .read("kernels", build.kernels)
      .read("target", build.target)
      .read("variant", build.variant)
      .take();
}

tl::unexpected<base::Error> invalid(const Misfit& misfit) {
  return base::fail(ErrorCode::manifest_invalid, "{}{}{}", misfit.path,
                    misfit.path.empty() ? "" : ": ", misfit.reason);
}

// Returns at least the bytes of the values that decoding `json`, the member `name` of an object,
// creates.
std::uint64_t decoded_bytes(const base::JsonValue& json, std::string_view name) {
  constexpr std::uint64_t k_map_node_bytes = 128;
  std::uint64_t bytes = 0;
  if (const auto* const text = std::get_if<std::string>(&json.value)) {
    bytes = text->size();
  } else if (const auto* const items = std::get_if<base::JsonArray>(&json.value)) {
    const std::uint64_t item_bytes = name == "kernels"          ? sizeof(KernelReflection)
                                     : name == "launches"       ? sizeof(RecordedLaunch)
                                     : name == "builds"         ? sizeof(RecordedBuild)
                                     : name == "arguments"      ? sizeof(KernelArgument)
                                     : name == "spec_constants" ? sizeof(SpecConstant)
                                                                : sizeof(std::string);
    for (const base::JsonValue& item : *items) {
      bytes += item_bytes + decoded_bytes(item, "");
    }
  } else if (const auto* const members = std::get_if<base::JsonObject>(&json.value)) {
    const bool is_map = name == "tools" || name == "vendor";
    for (const auto& [key, member] : *members) {
      bytes += (is_map ? k_map_node_bytes + key.size() : 0) + decoded_bytes(member, key);
    }
  }
  return bytes;
}

// Decodes one row after the other, so that each row is in memory only once.
class ManifestDecoder {
public:
  explicit ManifestDecoder(ReadBudget* budget) : m_budget(budget) {}

  base::Result<Manifest> run(base::ByteView json) {
    update_limits();
    CLBIN_TRY_ASSIGN(
        base::JsonValue document,
        base::parse_json(json, m_limits,
                         {"entries", [this](base::JsonValue item, std::uint64_t memory_bytes) {
                            return take_row(std::move(item), memory_bytes);
                          }}));
    if (m_budget != nullptr) {
      CLBIN_TRY(m_budget->take_memory(k_manifest_bytes + decoded_bytes(document, ""), "manifest"));
    }
    std::vector<ManifestEntry> none; // a list was decoded row by row; anything else is rejected
    const Fit fit = MemberReader(document)
                        .read("builds", m_manifest.builds)
                        .read("entries", none)
                        .read("launches", m_manifest.launches)
                        .read("producer", m_manifest.producer)
                        .read("program", m_manifest.program)
                        .take();
    if (!fit) {
      return invalid(fit.error());
    }
    return std::move(m_manifest);
  }

private:
  static constexpr std::uint64_t k_manifest_bytes = 2 * sizeof(Manifest);

  base::Result<void> take_row(base::JsonValue item, std::uint64_t memory_bytes) {
    constexpr std::uint64_t k_row_bytes = 3 * sizeof(ManifestEntry); // in a growing vector
    std::vector<ManifestEntry>& rows = m_manifest.entries;
    if (m_budget != nullptr) {
      const std::string what = fmt::format("entries[{}]", rows.size());
      CLBIN_TRY(m_budget->take_memory(memory_bytes, what));
      CLBIN_TRY(m_budget->take_memory(k_row_bytes + decoded_bytes(item, ""), what));
    }
    const Fit fit = from_json(item, rows.emplace_back());
    if (!fit) {
      return invalid(below(fmt::format("entries[{}]", rows.size() - 1), fit.error()).value());
    }
    if (m_budget != nullptr) {
      m_budget->return_memory(memory_bytes);
    }
    update_limits();
    return {};
  }

  void update_limits() {
    if (m_budget != nullptr) {
      m_limits.max_memory_bytes = m_budget->memory_left();
    }
  }

  ReadBudget* m_budget;
  base::JsonLimits m_limits;
  Manifest m_manifest;
};

} // namespace

std::string row_digest(const base::Digest& raw_digest) {
  return base::to_hex(raw_digest).substr(0, k_row_digest_digits);
}

base::Bytes encode_manifest(const Manifest& manifest) {
  base::JsonObject object;
  put(object, "builds", manifest.builds);
  put(object, "entries", manifest.entries);
  put(object, "launches", manifest.launches);
  put(object, "producer", manifest.producer);
  put(object, "program", manifest.program);
  const std::string text = base::write_json({std::move(object)});
  const base::ByteView bytes = base::as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

base::Result<Manifest> decode_manifest(base::ByteView json, ReadBudget* budget) {
  try {
    return ManifestDecoder(budget).run(json);
  } catch (const std::bad_alloc&) {
    return base::fail(ErrorCode::out_of_memory, "no memory for a manifest of {} bytes",
                      json.size());
  }
}

} // namespace clbin::format
