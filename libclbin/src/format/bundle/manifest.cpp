#include "format/bundle/manifest.hpp"

#include "format/bundle/measurements.hpp"
#include "format/bundle/record_json.hpp"

#include <functional>
#include <new>

namespace clbin::format {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

constexpr std::size_t k_row_digest_digits = 16;

ReadBudget unlimited_budget() {
  return {~std::uint64_t{0}, ~std::uint64_t{0}};
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
  std::string operator()(const JsonArray&) const { return "an array"; }
  std::string operator()(const JsonObject&) const { return "an object"; }
};

// Returns the value of `json` if it is a `T`. `expected` names the type in messages.
template <typename T>
tl::expected<T*, Misfit> get(JsonValue& json, std::string_view expected) {
  T* const found = std::get_if<T>(&json.value);
  if (found == nullptr) {
    return misfit("expected {}, found {}", expected, std::visit(ValueDescriber(), json.value));
  }
  return found;
}

// Each function moves values out of `json` if possible, so that a large manifest is not in memory
// twice.
Fit from_json(JsonValue& json, bool& value) {
  CLBIN_TRY_ASSIGN(const bool* const found, get<bool>(json, "true or false"));
  value = *found;
  return {};
}

Fit from_json(JsonValue& json, std::uint64_t& value) {
  CLBIN_TRY_ASSIGN(const auto* const found, get<std::uint64_t>(json, "an unsigned integer"));
  value = *found;
  return {};
}

Fit from_json(JsonValue& json, std::uint32_t& value) {
  std::uint64_t wide = 0;
  CLBIN_TRY(from_json(json, wide));
  if (wide > std::numeric_limits<std::uint32_t>::max()) {
    return misfit("expected an integer up to {}, found {}",
                  std::numeric_limits<std::uint32_t>::max(), wide);
  }
  value = static_cast<std::uint32_t>(wide);
  return {};
}

Fit from_json(JsonValue& json, std::string& text) {
  CLBIN_TRY_ASSIGN(const auto* const found, get<std::string>(json, "a string"));
  auto unescaped = base::unescape_text(*found);
  if (!unescaped) {
    return misfit("{}", unescaped.error().message);
  }
  text = std::move(*unescaped);
  json.value = nullptr;
  return {};
}

Fit from_json(JsonValue& json, Bytes& bytes) {
  CLBIN_TRY_ASSIGN(const auto* const found, get<std::string>(json, "a string"));
  auto decoded = base::bytes_from_hex(*found);
  if (!decoded) {
    return misfit("{}", decoded.error().message);
  }
  bytes = *std::move(decoded);
  json.value = nullptr;
  return {};
}

template <typename Enum>
requires std::is_enum_v<Enum> Fit from_json(JsonValue& json, Enum& value) {
  CLBIN_TRY_ASSIGN(auto* const text, get<std::string>(json, "a string"));
  const auto names = names_of(value);
  const auto found = std::ranges::find(names, *text);
  if (found == names.end()) {
    return misfit("'{}' is not known", base::printable_excerpt(*text));
  }
  value = static_cast<Enum>(found - names.begin());
  return {};
}

template <Record T>
Fit from_json(JsonValue& json, T& record);

Fit from_json(JsonValue& json, GroupSize& items);

template <typename Item>
Fit from_json(JsonValue& json, std::vector<Item>& items) {
  CLBIN_TRY_ASSIGN(auto* const array, get<JsonArray>(json, "an array"));
  items.reserve(array->size());
  for (JsonValue& element : *array) {
    if (Fit fit = from_json(element, items.emplace_back()); !fit) {
      return below(fmt::format("[{}]", items.size() - 1), std::move(fit.error()));
    }
  }
  return {};
}

Fit from_json(JsonValue& json, GroupSize& items) {
  std::vector<std::uint64_t> found;
  CLBIN_TRY(from_json(json, found));
  if (found.size() != items.size()) {
    return misfit("expected {} numbers, found {}", items.size(), found.size());
  }
  std::copy(found.begin(), found.end(), items.begin());
  return {};
}

template <typename Item>
Fit from_json(JsonValue& json, std::optional<Item>& item) {
  return from_json(json, item.emplace());
}

template <typename Item>
Fit from_json(JsonValue& json, std::map<std::string, Item>& items) {
  CLBIN_TRY_ASSIGN(auto* const object, get<JsonObject>(json, "an object"));
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

// The members that every encoded record of a type has.
template <Record T>
constexpr std::array<std::string_view, 0> k_required{};
template <>
constexpr std::array<std::string_view, 1> k_required<KernelReflection>{"name"};
template <>
constexpr std::array<std::string_view, 1> k_required<ManifestEntry>{"raw_digest"};
template <>
constexpr std::array<std::string_view, 2> k_required<RecordedLaunch>{"dimensions", "kernel"};
template <>
constexpr std::array<std::string_view, 2> k_required<Measurement>{"kernel", "variant"};
template <>
constexpr std::array<std::string_view, 2> k_required<KnownAnswer>{"kernel", "variant"};

// Conditions on the values of the members.
template <Record T>
Fit check(const T& /*unused*/) {
  return {};
}

// No writer writes a kernel without a name, and the encoded form would not contain it.
Fit check(const KernelReflection& kernel) {
  return kernel.name.empty() ? below("name", {{}, "empty"}) : Fit();
}

Fit check(const ManifestEntry& entry) {
  const bool is_digest =
      entry.raw_digest.size() == k_row_digest_digits &&
      entry.raw_digest.find_first_not_of("0123456789abcdef") == std::string::npos;
  return is_digest ? Fit()
                   : below("raw_digest", Misfit{{}, "expected 16 lower-case hexadecimal digits"});
}

Fit check(const RecordedLaunch& launch) {
  const bool is_valid = launch.dimensions >= 1 && launch.dimensions <= launch.local_size.size();
  return is_valid
             ? Fit()
             : below(
                   "dimensions",
                   misfit("expected an integer from 1 to 3, found {}", launch.dimensions).value());
}

template <Record T>
requires requires(const T& launch) {
  broken_rule(launch);
}
Fit check(const T& launch) {
  const std::string_view broken = broken_rule(launch);
  return broken.empty() ? Fit() : misfit("{}", broken);
}

// A member of a record. The code that reads records is the same for all, so that it is in a program
// only once.
struct Member {
  std::string_view name;
  void* value;
  Fit (*read)(JsonValue&, void*);
};

template <typename Value>
Fit read_member(JsonValue& json, void* value) {
  return from_json(json, *static_cast<Value*>(value));
}

// Reads members in ascending order of their names, up to the first that does not fit. Ignores
// unknown members, and does not change those that are absent.
Fit read_members(JsonValue& json, std::span<const Member> members,
                 std::span<const std::string_view> required) {
  CLBIN_TRY_ASSIGN(auto* const object, get<JsonObject>(json, "an object"));
  for (const std::string_view name : required) {
    if (!object->contains(name)) {
      return below(name, Misfit{{}, "missing"});
    }
  }
  for (auto& [name, element] : *object) {
    const auto member = std::ranges::find(members, name, &Member::name);
    if (member == members.end()) {
      continue;
    }
    if (Fit fit = member->read(element, member->value); !fit) {
      return below(name, std::move(fit.error()));
    }
  }
  return {};
}

template <Record T>
Fit from_json(JsonValue& json, T& record) {
  std::vector<Member> members;
  visit(record, [&](std::string_view name, auto& value) {
    members.push_back({name, &value, &read_member<std::remove_reference_t<decltype(value)>>});
  });
  CLBIN_TRY(read_members(json, members, k_required<T>));
  return check(record);
}

tl::unexpected<base::Error> invalid(const Misfit& misfit) {
  return fail(ErrorCode::manifest_invalid, "{}{}{}", misfit.path, misfit.path.empty() ? "" : ": ",
              misfit.reason);
}

// Returns at least the bytes of the values that decoding `json`, the member `name` of an object,
// creates.
std::uint64_t decoded_bytes(const JsonValue& json, std::string_view name) {
  constexpr std::uint64_t k_map_node_bytes = 128;
  constexpr std::uint64_t k_argument_bytes = // of kernels, and of launches
      std::max(sizeof(KernelArgument), sizeof(LaunchArgument));
  std::uint64_t bytes = 0;
  if (const auto* const text = std::get_if<std::string>(&json.value)) {
    bytes = text->size();
  } else if (const auto* const items = std::get_if<JsonArray>(&json.value)) {
    const std::uint64_t item_bytes = name == "kernels"           ? sizeof(KernelReflection)
                                     : name == "launches"        ? sizeof(RecordedLaunch)
                                     : name == "builds"          ? sizeof(RecordedBuild)
                                     : name == "measurements"    ? sizeof(Measurement)
                                     : name.ends_with("answers") ? sizeof(KnownAnswer)
                                     : name == "results"         ? sizeof(ExpectedBuffer)
                                     : name == "arguments"       ? k_argument_bytes
                                     : name == "spec_constants"  ? sizeof(SpecConstant)
                                                                 : sizeof(std::string);
    for (const JsonValue& item : *items) {
      bytes += item_bytes + decoded_bytes(item, "");
    }
  } else if (const auto* const members = std::get_if<JsonObject>(&json.value)) {
    const bool is_map = name == "tools" || name == "vendor";
    for (const auto& [key, member] : *members) {
      bytes += (is_map ? k_map_node_bytes + key.size() : 0) + decoded_bytes(member, key);
    }
  }
  return bytes;
}

// Moves what the JSON lists apart to the known answers.
Fit unite_answers(Manifest& manifest) {
  for (const auto* list : {&manifest.answers, &manifest.recorded_answers}) {
    const bool is_other = list == &manifest.recorded_answers;
    const auto found = std::ranges::find(*list, !is_other, is_recorded);
    if (found != list->end()) {
      return below(
          fmt::format("{}[{}]", is_other ? "recorded_answers" : "answers", found - list->begin()),
          misfit("{}", is_other ? "it has no stored data" : "it has stored data").value());
    }
  }
  std::ranges::move(manifest.recorded_answers, std::back_inserter(manifest.answers));
  manifest.recorded_answers = {};
  std::ranges::sort(manifest.answers, ByPlace());
  return {};
}

// Decodes one row after the other, so that each row is in memory only once.
class ManifestDecoder {
public:
  explicit ManifestDecoder(ReadBudget& budget) : m_budget(budget) {}

  Result<Manifest> run(ByteView json) {
    m_limits.max_memory_bytes = m_budget.memory_left();
    CLBIN_TRY_ASSIGN(
        JsonValue document,
        base::parse_json(json, m_limits,
                         {{k_entries, k_measurements},
                          [this](std::string_view member, JsonValue item, std::uint64_t bytes) {
                            return member == k_entries
                                       ? take(m_manifest.entries, member, item, bytes)
                                       : take(m_manifest.measurements, member, item, bytes);
                          }}));
    CLBIN_TRY(m_budget.take_memory(k_manifest_bytes + decoded_bytes(document, ""), "manifest"));
    // The rows were decoded one by one, and the document contains empty lists of them.
    Fit fit = from_json(document, m_manifest);
    fit = fit ? unite_answers(m_manifest) : fit;
    if (!fit) {
      return invalid(fit.error());
    }
    return std::move(m_manifest);
  }

private:
  static constexpr std::uint64_t k_manifest_bytes = 2 * sizeof(Manifest);
  static constexpr std::string_view k_entries = "entries";
  static constexpr std::string_view k_measurements = "measurements";

  template <typename Row>
  Result<void> take(std::vector<Row>& rows, std::string_view member, JsonValue& item,
                    std::uint64_t memory_bytes) {
    constexpr std::uint64_t k_row_bytes = 3 * sizeof(Row); // in a growing vector
    const std::string what = fmt::format("{}[{}]", member, rows.size());
    CLBIN_TRY(m_budget.take_memory(memory_bytes, what));
    CLBIN_TRY(m_budget.take_memory(k_row_bytes + decoded_bytes(item, ""), what));
    const Fit fit = from_json(item, rows.emplace_back());
    if (!fit) {
      return invalid(below(what, fit.error()).value());
    }
    m_budget.return_memory(memory_bytes);
    m_limits.max_memory_bytes = m_budget.memory_left();
    return {};
  }

  ReadBudget& m_budget;
  base::JsonLimits m_limits;
  Manifest m_manifest;
};

// Sources. ---------------------------------------------------------------------------------

constexpr std::uint32_t k_source_version = 1;
// Limit of one package: a file of 12 bytes uses 300 bytes of memory, and drivers process headers
// one at a time.
constexpr std::uint32_t k_max_files = 1U << 17U;

void encode_file(ByteWriter& writer, const SourceFile& file) {
  visit(file, [&](std::string_view /*name*/, const std::string& text) { writer.write_text(text); });
}

// A file with its node in the set of names and its share of a growing vector.
constexpr std::uint64_t k_file_bytes = 3 * sizeof(SourceFile) + 64;

Result<SourceFile> decode_file(ByteReader& reader, ReadBudget& budget) {
  const std::size_t start = reader.offset();
  CLBIN_TRY_ASSIGN(const std::string_view include_name, reader.read_text("include name"));
  CLBIN_TRY_ASSIGN(const std::string_view display_name, reader.read_text("display name"));
  CLBIN_TRY_ASSIGN(const std::string_view text, reader.read_text("text"));
  CLBIN_TRY(budget.take_memory(k_file_bytes + reader.offset() - start, "source"));
  return SourceFile{std::string(include_name), std::string(display_name), std::string(text)};
}

} // namespace

std::string row_digest(const Digest& raw_digest) {
  return base::to_hex(raw_digest).substr(0, k_row_digest_digits);
}

Bytes encode_manifest(const Manifest& manifest) {
  if (std::ranges::any_of(manifest.answers, is_recorded)) {
    Manifest apart = manifest;
    const auto recorded =
        std::stable_partition(apart.answers.begin(), apart.answers.end(), std::not_fn(is_recorded));
    apart.recorded_answers.assign(recorded, apart.answers.end());
    apart.answers.erase(recorded, apart.answers.end());
    return encode_manifest(apart);
  }
  Bytes json;
  const auto append = [&json](std::string_view part) {
    const ByteView bytes = base::as_bytes(part);
    json.insert(json.end(), bytes.begin(), bytes.end());
    return true;
  };
  base::JsonStream stream(append, base::JsonLayout::compact, base::JsonCharacters::all);
  RecordJson(stream, RecordStyle::manifest).write(manifest);
  (void)stream.finish();
  return json;
}

Result<Manifest> decode_manifest(ByteView json, ReadBudget* budget) {
  try {
    ReadBudget unlimited = unlimited_budget();
    return ManifestDecoder(budget == nullptr ? unlimited : *budget).run(json);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::out_of_memory, "no memory for a manifest of {} bytes", json.size());
  }
}

Bytes encode_source_package(const SourcePackage& package) {
  ByteWriter writer;
  writer.write_u32(k_source_version);
  writer.write_u32(static_cast<std::uint32_t>(1 + package.headers.size()));
  encode_file(writer, package.main);
  for (const SourceFile& header : package.headers) {
    encode_file(writer, header);
  }
  return std::move(writer).take();
}

bool is_valid_include_name(std::string_view name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20; };
  if (std::ranges::any_of(name, is_control)) {
    return false;
  }
  for (std::size_t start = 0; start <= name.size();) {
    const std::size_t end = std::min(name.find('/', start), name.size());
    const std::string_view part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") {
      return false;
    }
    start = end + 1;
  }
  return true;
}

Result<SourcePackage> decode_source_package(ByteView bytes, ReadBudget* budget) {
  ByteReader reader(bytes, "source");
  CLBIN_TRY_ASSIGN(const std::uint32_t version, reader.read_u32("version"));
  if (version != k_source_version) {
    return fail(ErrorCode::newer_version, "source: version {} is not known", version);
  }
  CLBIN_TRY_ASSIGN(const std::uint32_t file_count, reader.read_u32("file count"));
  if (file_count == 0) {
    return fail(ErrorCode::damaged, "source: it has no main file");
  }
  ReadBudget unlimited = unlimited_budget();
  ReadBudget& spent = budget == nullptr ? unlimited : *budget;
  SourcePackage package;
  CLBIN_TRY_ASSIGN(package.main, decode_file(reader, spent));
  if (package.main.text.empty()) {
    return fail(ErrorCode::damaged, "source: the main file is empty");
  }
  // Reserves nothing for the untrusted count; every file has at least 12 bytes.
  std::set<std::string> names;
  for (std::uint32_t i = 1; i < file_count; ++i) {
    if (i == k_max_files) {
      return fail(ErrorCode::limit_exceeded, "source: more than {} files", k_max_files);
    }
    CLBIN_TRY_ASSIGN(SourceFile header, decode_file(reader, spent));
    if (!is_valid_include_name(header.include_name)) {
      return fail(ErrorCode::damaged, "source: file {} has no valid include name", i);
    }
    if (!names.insert(header.include_name).second) {
      return fail(ErrorCode::damaged, "source: file {} has an include name seen before", i);
    }
    package.headers.push_back(std::move(header));
  }
  CLBIN_TRY(reader.require_end());
  return package;
}

} // namespace clbin::format
