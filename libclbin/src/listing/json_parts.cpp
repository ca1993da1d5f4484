#include "listing/json_parts.hpp"

namespace clbin::listing {

using base::JsonArray;
using base::JsonObject;
using base::JsonValue;

namespace {

JsonValue json_of(std::uint32_t number) {
  return {std::uint64_t{number}};
}

JsonValue json_of(const std::string& text) {
  return {text};
}

JsonValue json_of(const std::vector<std::string>& texts) {
  return strings_json(texts);
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
  visit(identity,
        [&](std::string_view name, const auto& value) { members.emplace(name, json_of(value)); });
  return members;
}

} // namespace clbin::listing
