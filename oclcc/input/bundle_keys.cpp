#include "input/bundle_keys.hpp"

#include "format/bundle/encryption.hpp"

#include <algorithm>

namespace oclcc {

namespace base = clbin::base;
namespace format = clbin::format;
using base::ErrorCode;
using base::Result;

namespace {

constexpr std::ptrdiff_t k_most_named_recipients = 8;

using ContentKeyPointer = std::shared_ptr<const base::ContentKey>;

// Returns null if the key does not open a bundle with these slots.
ContentKeyPointer content_key_of(const base::DecryptionKey& key,
                                 const std::vector<format::KeySlot>& slots) {
  if (const auto* const content = std::get_if<ContentKeyPointer>(&key)) {
    return slots.front().key_id == (*content)->id() ? *content : nullptr;
  }
  auto opened = format::content_key_from(slots, std::get<base::RecipientSecretKey>(key));
  return opened ? std::move(*opened) : nullptr;
}

// "its content key is 0123456789ABCDEF, and its recipients are …"
std::string described(const std::vector<format::KeySlot>& slots) {
  std::string text = fmt::format("its content key is {}", to_text(slots.front().key_id));
  const auto is_sealed = [](const format::KeySlot& slot) {
    return slot.method == format::KeyMethod::sealed;
  };
  const auto count = std::count_if(slots.begin(), slots.end(), is_sealed);
  std::ptrdiff_t named = 0;
  for (const format::KeySlot& slot : slots) {
    if (is_sealed(slot) && named < k_most_named_recipients) {
      text += fmt::format("{}{}",
                          named > 0    ? ", "
                          : count == 1 ? ", and its recipient is "
                                       : ", and its recipients are ",
                          to_text(slot.recipient));
      ++named;
    }
  }
  return text + (named < count ? fmt::format(" and {} more", count - named) : "");
}

} // namespace

Result<void> BundleKeys::unlock(format::BundleReader& bundle) const {
  if (m_keys.empty() || !bundle.is_encrypted()) {
    return {};
  }
  CLBIN_TRY_ASSIGN(const std::vector<format::KeySlot> slots, bundle.key_slots());
  for (const base::DecryptionKey& key : m_keys) {
    if (ContentKeyPointer content = content_key_of(key, slots)) {
      return bundle.unlock(std::move(content));
    }
  }
  return base::fail(ErrorCode::wrong_key, "no key of '--decrypt-key' opens it: {}",
                    described(slots));
}

} // namespace oclcc
