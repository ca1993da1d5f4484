#include "base/crypto/key_kind.hpp"

#include "base/configuration_text.hpp"
#include "base/crypto/base64.hpp"
#include "base/text_lines.hpp"

#include <array>
#include <optional>

namespace clbin::base {

namespace {

struct KeyShape {
  std::size_t size_bytes;
  std::string_view start;
  std::size_t lines;
  KeyTextKind kind;
};

constexpr std::array<KeyShape, 7> k_shapes = {{
    {42, "CK", 2, KeyTextKind::content_key},
    {42, "XS", 2, KeyTextKind::recipient_secret_key},
    {42, "XP", 2, KeyTextKind::recipient_public_key},
    {42, "Ed", 2, KeyTextKind::minisign_public_key},
    {158, "Ed", 2, KeyTextKind::minisign_secret_key},
    {74, "Ed", 4, KeyTextKind::minisign_signature},
    {74, "ED", 4, KeyTextKind::minisign_signature},
}};

} // namespace

std::vector<std::string_view> lines_of_key_text(std::string_view text) {
  std::vector<std::string_view> lines = split_lines(text);
  while (!lines.empty() && lines.back().empty()) {
    lines.pop_back();
  }
  return lines;
}

Result<void> check_lines_of_key(const std::vector<std::string_view>& lines, KeyTextKind kind) {
  for (const std::string_view line : lines) {
    if (const auto checked = check_line(line); !checked.has_value()) {
      return fail(ErrorCode::invalid_argument, "not {}: {}", to_string(kind),
                  checked.error().message);
    }
  }
  return {};
}

KeyTextKind kind_of_key_text(std::string_view text) {
  const std::vector<std::string_view> lines = lines_of_key_text(text);
  const bool is_bare = lines.size() == 1;
  if (lines.empty() || (!is_bare && !lines[0].starts_with(k_untrusted_comment))) {
    return KeyTextKind::unknown;
  }
  for (const KeyShape& shape : k_shapes) {
    const bool has_lines = lines.size() == shape.lines || (is_bare && shape.lines == 2);
    if (!has_lines) {
      continue;
    }
    const auto bytes = from_base64(is_bare ? lines[0] : lines[1], shape.size_bytes);
    if (bytes && as_text(bytes->view()).starts_with(shape.start)) {
      return shape.kind;
    }
  }
  return KeyTextKind::unknown;
}

std::optional<std::string_view> name_of_key_file(std::string_view text) {
  constexpr std::size_t k_max_bytes = 16384; // minisign's comments alone have up to 8192
  const KeyTextKind kind =
      text.size() <= k_max_bytes ? kind_of_key_text(text) : KeyTextKind::unknown;
  if (kind != KeyTextKind::unknown) {
    return to_string(kind);
  }
  return text.starts_with(k_untrusted_comment) ? std::optional("a damaged file of keys")
                                               : std::nullopt;
}

std::string_view to_string(KeyTextKind kind) noexcept {
  switch (kind) {
  case KeyTextKind::content_key:
    return "a content key of clbin";
  case KeyTextKind::recipient_secret_key:
    return "the secret key of a recipient";
  case KeyTextKind::recipient_public_key:
    return "the public key of a recipient";
  case KeyTextKind::minisign_public_key:
    return "a public key of minisign";
  case KeyTextKind::minisign_secret_key:
    return "a secret key of minisign";
  case KeyTextKind::minisign_signature:
    return "a signature of minisign";
  case KeyTextKind::unknown:
    break;
  }
  return "not a file of keys";
}

} // namespace clbin::base
