// Recognizes files of keys, so that a message can say what a file contains instead of what was
// wanted.
#pragma once

#include "base/crypto/secret_bytes.hpp"
#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace clbin::base {

enum class KeyTextKind : std::uint8_t {
  unknown,
  content_key,
  recipient_secret_key,
  recipient_public_key,
  minisign_public_key,
  minisign_secret_key,
  minisign_signature,
};

// Looks only at the number of lines, their sizes and the first two bytes; the rest can be damaged.
// Accepts a comment and a line of base64, or such a line alone. Safe on untrusted input.
[[nodiscard]] KeyTextKind kind_of_key_text(std::string_view text);
// Returns "a content key of clbin"; "not a file of keys" if the kind is unknown.
[[nodiscard]] std::string_view to_string(KeyTextKind kind) noexcept;

// Returns what a text is that begins as a file of keys, such as "a content key of clbin", or "a
// damaged file of keys" if only its comment can be recognized; std::nullopt for other texts. Takes
// little time for large ones. Safe on untrusted input.
[[nodiscard]] std::optional<std::string_view> name_of_key_file(std::string_view text);

inline constexpr std::string_view k_untrusted_comment = "untrusted comment: ";
// Returns the lines without their ends ("\n" or "\r\n") and without empty lines at the end,
// borrowed from `text`.
[[nodiscard]] std::vector<std::string_view> lines_of_key_text(std::string_view text);
// Errors: invalid_argument, if a line is one that editors can show as several lines (check_line).
// For public keys: the key that is trusted is then the one that its owner sees.
[[nodiscard]] Result<void> check_lines_of_key(const std::vector<std::string_view>& lines,
                                              KeyTextKind kind);

} // namespace clbin::base
