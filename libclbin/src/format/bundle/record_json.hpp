// Records as JSON: in manifests (clbin(5)), and in the listings of `--json`.
#pragma once

#include "base/json_document.hpp"
#include "base/text.hpp"
#include "model/kernel.hpp"

namespace clbin::format {

enum class RecordStyle : std::uint8_t {
  manifest, // omits members with default values; escapes bytes that are not UTF-8
  listing,  // every member but the variant, which is that of the group; null for unknown facts
};

// Writes values and records to a stream, members in ascending order of their names. Copies only a
// part of each text of a listing at a time.
class RecordJson {
public:
  explicit RecordJson(base::JsonStream& document, RecordStyle style = RecordStyle::listing)
      : m_document(document), m_style(style) {}

  void write(bool value) { m_document.value({value}); }
  void write(std::uint64_t number) { m_document.value({number}); }
  void write(std::uint32_t number) { write(std::uint64_t{number}); }
  void write(const std::string& text) {
    if (is_listing()) {
      m_document.text(text);
    } else {
      m_document.text(base::escape_text(text));
    }
  }

  void write(const base::Bytes& bytes) { m_document.text(base::to_hex(bytes)); }

  template <typename Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) { m_document.text(name_of(value)); }

  // Writes null for a null pointer.
  void write_known(const auto* value) {
    if (value != nullptr) {
      write(*value);
    } else {
      m_document.value({nullptr});
    }
  }

  template <typename Value>
  void write(const std::optional<Value>& value) {
    write_known(value ? &*value : nullptr);
  }

  void write(const GroupSize& size) {
    m_document.value({base::JsonArray{{size[0]}, {size[1]}, {size[2]}}});
  }

  template <typename Item>
  void write(const std::vector<Item>& items) {
    m_document.array(items, [this](const Item& item) { write(item); });
  }

  template <typename Value>
  void write(const std::map<std::string, Value>& values) {
    std::map<std::string, const Value*> members; // in the order of the names that are written
    for (const auto& [name, value] : values) {
      members.emplace(is_listing() ? name : base::escape_text(name), &value);
    }
    m_document.begin_object();
    for (const auto& [name, value] : members) {
      m_document.key(name);
      write(*value);
    }
    m_document.end();
  }

  template <Record T>
  void write(const T& record) {
    std::vector<Member> members;
    visit(record, [&](std::string_view name, const auto& value) {
      using Value = std::remove_cvref_t<decltype(value)>;
      const bool is_renamed = std::same_as<T, KernelArgument> && name == "type_name";
      if (is_listing() ? name != "variant" : value != Value()) {
        members.push_back({is_listing() && is_renamed ? "type" : name, &value, &write_as<Value>});
      }
    });
    write_members(members);
  }

private:
  // The code that writes records is the same for all, so that it is in a program only once.
  struct Member {
    std::string_view name;
    const void* value;
    void (*write)(RecordJson&, const void*);
  };

  void write_members(std::span<Member> members) {
    std::ranges::sort(members, {}, &Member::name);
    m_document.begin_object();
    for (const Member& member : members) {
      m_document.key(member.name);
      member.write(*this, member.value);
    }
    m_document.end();
  }

  template <typename Value>
  static void write_as(RecordJson& self, const void* value) {
    self.write_member(*static_cast<const Value*>(value));
  }

  [[nodiscard]] bool is_listing() const noexcept { return m_style == RecordStyle::listing; }
  void write_member(const auto& value) { write(value); }
  void write_member(const GroupSize& size) {
    write_known(is_listing() && size[0] == 0 ? nullptr : &size);
  }

  base::JsonStream& m_document;
  RecordStyle m_style;
};

} // namespace clbin::format
