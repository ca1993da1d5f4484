#include "bundle_resealing.hpp"

#include "base/digest.hpp"

#include <algorithm>
#include <optional>
#include <vector>

// Offsets from clbin(5), repeated here because this code must not depend on the reader that it
// tests.
namespace clbin::fuzz {
namespace {

using base::Bytes;
using base::ByteView;

constexpr std::size_t k_prefix_bytes = 64;
constexpr std::size_t k_rooted_prefix_bytes = 24;
constexpr std::size_t k_directory_bytes_offset = 12;
constexpr std::size_t k_root_offset = 32;
constexpr std::size_t k_section_record_bytes = 32;
constexpr std::size_t k_page_record_bytes = 40;
constexpr std::size_t k_page_bytes = 4096;
constexpr std::size_t k_max_sections = 64;
constexpr std::uint32_t k_flag_paged = 2;
constexpr std::uint32_t k_kind_target = 4;
constexpr std::uint32_t k_kind_blob = 5;
constexpr std::uint32_t k_kind_payload = 7;
constexpr std::uint32_t k_kind_keys = 8;
constexpr std::size_t k_blob_record_bytes = 96;
constexpr std::size_t k_blob_codec_offset = 92;
constexpr std::byte k_encrypted_codec{2};
constexpr std::size_t k_nonce_bytes = 24;

struct Section {
  std::uint32_t kind = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint32_t record_bytes = 0;
};

std::optional<ByteView> region(ByteView bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) {
    return std::nullopt;
  }
  return bytes.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(size));
}

// Returns 0 if the field is not inside `bytes`.
std::uint64_t number_at(ByteView bytes, std::uint64_t offset, std::size_t width) {
  const auto field = region(bytes, offset, width);
  std::uint64_t value = 0;
  for (std::size_t index = 0; field && index < width; ++index) {
    value |= std::to_integer<std::uint64_t>((*field)[index]) << (8U * index);
  }
  return value;
}

std::uint32_t number32_at(ByteView bytes, std::uint64_t offset) {
  return static_cast<std::uint32_t>(number_at(bytes, offset, 4));
}

void overwrite(Bytes& bytes, std::uint64_t offset, ByteView value) {
  if (region(bytes, offset, value.size())) {
    std::copy(value.begin(), value.end(),
              bytes.begin() + static_cast<Bytes::difference_type>(offset));
  }
}

std::vector<Section> read_sections(ByteView bundle) {
  const std::uint32_t count = number32_at(bundle, k_prefix_bytes);
  std::vector<Section> sections;
  for (std::size_t index = 0; index < std::min<std::size_t>(count, k_max_sections); ++index) {
    const std::size_t at = k_prefix_bytes + 8 + index * k_section_record_bytes;
    sections.push_back({number32_at(bundle, at), number32_at(bundle, at + 4),
                        number_at(bundle, at + 8, 8), number_at(bundle, at + 16, 8),
                        number32_at(bundle, at + 24)});
  }
  return sections;
}

void reseal_blobs(Bytes& bundle, const Section& blobs, const Section& payloads) {
  for (std::uint64_t at = 0; at + k_blob_record_bytes <= blobs.bytes; at += k_blob_record_bytes) {
    const auto record = region(bundle, blobs.offset, at + k_blob_record_bytes);
    if (!record) {
      return;
    }
    const std::uint64_t offset = number_at(*record, at + 64, 8);
    const std::uint64_t stored_bytes = number_at(*record, at + 72, 8);
    const auto all = region(bundle, payloads.offset, payloads.bytes);
    const auto stored = all ? region(*all, offset, stored_bytes) : std::nullopt;
    if (stored) {
      overwrite(bundle, blobs.offset + at + 32, base::digest_of(*stored).bytes);
    }
  }
}

void reseal_page(Bytes& bundle, const Section& section, ByteView page, std::size_t record_at) {
  const base::Digest digest = base::digest_of(page);
  std::array<std::byte, 8> key{};
  const std::size_t key_at = section.kind == k_kind_target ? 16 : 0;
  if (section.record_bytes != 0 && section.kind != k_kind_keys &&
      key_at + key.size() <= page.size()) {
    std::copy_n(page.begin() + static_cast<std::ptrdiff_t>(key_at), key.size(), key.begin());
  }
  overwrite(bundle, record_at, key);
  overwrite(bundle, record_at + key.size(), digest.bytes);
}

// Returns the offset of the page records of the next section.
std::size_t reseal_pages(Bytes& bundle, const Section& section, std::size_t record_at) {
  const std::size_t record_bytes = std::max<std::size_t>(section.record_bytes, 1);
  const std::size_t page_bytes = k_page_bytes / record_bytes * record_bytes;
  if (page_bytes == 0) {
    return record_at;
  }
  for (std::uint64_t at = 0; at < section.bytes; at += page_bytes) {
    const std::uint64_t size = std::min<std::uint64_t>(page_bytes, section.bytes - at);
    const auto all = region(bundle, section.offset, at + size);
    if (!all) {
      break;
    }
    reseal_page(bundle, section, all->subspan(static_cast<std::size_t>(at)), record_at);
    record_at += k_page_record_bytes;
  }
  return record_at;
}

void reseal_root(Bytes& bundle) {
  const auto directory =
      region(bundle, k_prefix_bytes, number32_at(bundle, k_directory_bytes_offset));
  if (!directory) {
    return;
  }
  base::Hasher hasher;
  hasher.add(base::as_bytes("clbin-root-1"));
  hasher.add(ByteView(bundle).first(k_rooted_prefix_bytes));
  hasher.add(*directory);
  overwrite(bundle, k_root_offset, hasher.finish().bytes);
}

std::optional<Section> find(const std::vector<Section>& sections, std::uint32_t kind) {
  const auto found = std::find_if(sections.begin(), sections.end(),
                                  [&](const Section& section) { return section.kind == kind; });
  return found == sections.end() ? std::nullopt : std::optional(*found);
}

// A blob of codec 2.
struct EncryptedBlob {
  std::uint64_t offset = 0; // of its stored bytes, which are inside the bundle
  Bytes stored;
  Bytes binding;
};

// Returns std::nullopt for other blobs.
std::optional<EncryptedBlob> encrypted_blob(ByteView bundle, const Section& blobs,
                                            const Section& payloads, std::uint64_t at) {
  const auto row = region(bundle, blobs.offset + at, k_blob_record_bytes);
  if (!row || (*row)[k_blob_codec_offset] != k_encrypted_codec) {
    return std::nullopt;
  }
  const std::uint64_t offset = payloads.offset + number_at(*row, 64, 8);
  const auto stored = region(bundle, offset, number_at(*row, 72, 8));
  if (!stored || stored->size() < base::k_encryption_bytes) {
    return std::nullopt;
  }
  const std::uint64_t reference = number_at(*row, 88, 4);
  const auto digest = region(bundle, blobs.offset + reference * k_blob_record_bytes, 32);
  base::ByteWriter binding;
  binding.write_bytes(row->first(32));
  binding.write_u64(number_at(*row, 80, 8));
  binding.write_bytes(digest && reference != 0xffffffffU ? *digest : ByteView(Bytes(32)));
  return EncryptedBlob{offset, {stored->begin(), stored->end()}, std::move(binding).take()};
}

// Replaces the stored bytes of each blob of codec 2 by what `change` returns for it, unless the
// size differs.
template <typename Change>
Bytes with_changed_blobs(Bytes bundle, const Change& change) {
  const std::vector<Section> sections = read_sections(bundle);
  const auto blobs = find(sections, k_kind_blob);
  const auto payloads = find(sections, k_kind_payload);
  if (!blobs || !payloads || !region(bundle, blobs->offset, blobs->bytes)) {
    return bundle;
  }
  for (std::uint64_t at = 0; at + k_blob_record_bytes <= blobs->bytes; at += k_blob_record_bytes) {
    const auto blob = encrypted_blob(bundle, *blobs, *payloads, at);
    const Bytes changed = blob ? change(*blob) : Bytes();
    if (blob && changed.size() == blob->stored.size()) {
      overwrite(bundle, blob->offset, changed);
    }
  }
  return bundle;
}

} // namespace

Bytes seal_blobs(Bytes bundle, const base::ContentKey& key) {
  return with_changed_blobs(std::move(bundle), [&key](const EncryptedBlob& blob) {
    const std::size_t plain_bytes = blob.stored.size() - base::k_encryption_bytes;
    return key.encrypt(blob.binding, ByteView(blob.stored).subspan(k_nonce_bytes, plain_bytes));
  });
}

Bytes open_blobs(Bytes bundle, const base::ContentKey& key) {
  return with_changed_blobs(std::move(bundle), [&key](const EncryptedBlob& blob) {
    const Bytes plain = key.decrypt(blob.binding, blob.stored).value_or(Bytes());
    Bytes opened(plain.size() + base::k_encryption_bytes);
    std::copy(plain.begin(), plain.end(), opened.begin() + k_nonce_bytes);
    return opened;
  });
}

Bytes reseal(Bytes bundle) {
  if (bundle.size() < k_prefix_bytes) {
    return bundle;
  }
  const std::vector<Section> sections = read_sections(bundle);
  const auto blobs = find(sections, k_kind_blob);
  const auto payloads = find(sections, k_kind_payload);
  if (blobs && payloads) {
    reseal_blobs(bundle, *blobs, *payloads);
  }
  std::size_t record_at = k_prefix_bytes + 8 + sections.size() * k_section_record_bytes;
  for (const Section& section : sections) {
    if ((section.flags & k_flag_paged) != 0) {
      record_at = reseal_pages(bundle, section, record_at);
    }
  }
  reseal_root(bundle);
  return bundle;
}

} // namespace clbin::fuzz
