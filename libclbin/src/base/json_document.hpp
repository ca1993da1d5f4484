// JSON (RFC 8259) in memory: read strictly from bytes nobody vouches for, written
// deterministically. The only part of clbin that knows the JSON library, and only its .cpp does.
#pragma once

#include "base/byte_codec.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace clbin::base {

// A number that is no std::uint64_t: negative, fractional, with an exponent, or too large. Kept as
// the text that the document has, for messages.
struct OtherNumber {
  std::string text;
  friend bool operator==(const OtherNumber&, const OtherNumber&) = default;
};

struct JsonValue;
using JsonArray = std::vector<JsonValue>;
using JsonObject = std::map<std::string, JsonValue, std::less<>>;

struct JsonValue {
  std::variant<std::nullptr_t, bool, std::uint64_t, OtherNumber, std::string, JsonArray, JsonObject>
      value = nullptr;
};

struct JsonLimits {
  std::uint64_t max_bytes = 64ULL << 20U;
  std::uint64_t max_values = 4ULL << 20U; // of any type; each takes about 100 bytes of memory
  std::uint64_t max_depth = 16;           // arrays and objects around a value, itself included
  // Of what stands in memory at once; what a JsonItemSink was given does not.
  std::uint64_t max_memory_bytes = ~std::uint64_t{0};
};

// Safe on untrusted input. manifest_invalid, with the path of the member, a byte offset, or both:
// what is not JSON, a key twice in one object, deeper than max_depth. limit_exceeded: more than the
// other limits. Strings are valid UTF-8. out_of_memory.
[[nodiscard]] Result<JsonValue> parse_json(ByteView text, const JsonLimits& limits);

// Takes the items of one list, a member of the outermost object, one after another, so that the
// list never stands in memory as a whole: in the document it stays empty.
struct JsonItemSink {
  std::string_view member;
  // `memory_bytes` is what the item takes. An error ends the parse.
  std::function<Result<void>(JsonValue item, std::uint64_t memory_bytes)> take;
};
[[nodiscard]] Result<JsonValue> parse_json(ByteView text, const JsonLimits& limits,
                                           const JsonItemSink& sink);

// Reads MessagePack, whose values are those of JSON, likewise; errors have the code `damaged`
// instead of manifest_invalid. Binary data and extension types are refused, and strings need not be
// UTF-8.
[[nodiscard]] Result<JsonValue> parse_message_pack(ByteView bytes, const JsonLimits& limits);

enum class JsonLayout : std::uint8_t {
  compact,  // without white space
  indented, // for people: two spaces a level, a closing line feed
};

// Members in ascending order of their keys' bytes, in UTF-8: equal values give equal bytes. What is
// not UTF-8 becomes U+FFFD; escape_text keeps it.
[[nodiscard]] std::string write_json(const JsonValue& value,
                                     JsonLayout layout = JsonLayout::compact);

// For messages: at most 40 bytes of `text` in printable ASCII, other bytes as '?', cut with "...".
[[nodiscard]] std::string printable_excerpt(std::string_view text);

} // namespace clbin::base
