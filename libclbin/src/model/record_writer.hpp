// Records as a sequence of numbers and bytes, from which they could be read again: for messages and
// for digests.
#pragma once

#include "base/byte_codec.hpp"
#include "model/kernel.hpp"
#include "model/record.hpp"

#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>

namespace clbin::format {

// `Self`, the derived class, has put(std::uint64_t) and put(base::ByteView). It may overload
// write() for types that it writes in another way. Members are written in the order of visit(),
// without their names. A count or a size precedes everything of variable length.
template <typename Self>
class RecordWriter {
public:
  void write(Number auto number) { self().put(static_cast<std::uint64_t>(number)); }

  void write(base::ByteView bytes) {
    write(bytes.size());
    self().put(bytes);
  }
  void write(std::string_view text) { write(base::as_bytes(text)); }
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const base::Bytes& bytes) { write(base::ByteView(bytes)); }

  void write(const GroupSize& size) {
    for (const std::uint64_t items : size) {
      write(items);
    }
  }

  template <typename First, typename Second>
  void write(const std::pair<First, Second>& pair) {
    self().write(pair.first);
    self().write(pair.second);
  }

  template <typename Value>
  void write(const std::optional<Value>& value) {
    write(value.has_value());
    if (value.has_value()) {
      self().write(*value);
    }
  }

  void write(const std::ranges::range auto& items) {
    write(items.size());
    for (const auto& item : items) {
      self().write(item);
    }
  }

  void write(const Record auto& record) {
    visit(record, [this](std::string_view /*name*/, const auto& value) { self().write(value); });
  }

private:
  [[nodiscard]] Self& self() { return static_cast<Self&>(*this); }
};

} // namespace clbin::format
