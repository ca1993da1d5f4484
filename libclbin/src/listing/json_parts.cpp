#include "listing/json_parts.hpp"

namespace clbin::listing {

using base::JsonObject;
using base::JsonValue;

JsonValue error_json(const base::Error& error) {
  JsonObject members; // g++ 12 warns of a JsonObject that is made of a list (maybe-uninitialized)
  members["code"].value = static_cast<std::uint64_t>(error.code);
  members["message"].value = error.message;
  return {std::move(members)};
}

JsonValue errors_json(std::span<const base::Error> errors) {
  return {base::array_of(errors, error_json)};
}

JsonObject identity_json(const format::DeviceIdentity& identity) {
  JsonObject members;
  visit(identity, [&](std::string_view name, const auto& value) {
    if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(value)>>) {
      members.emplace(name, JsonValue{std::uint64_t{value}});
    } else if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, std::string>) {
      members.emplace(name, JsonValue{value});
    } else {
      members.emplace(name, base::strings_json(value));
    }
  });
  return members;
}

} // namespace clbin::listing
