#include "format/bundle/bundle_draft.hpp"

#include "base/zstd_codec.hpp"
#include "format/binary/binary_kind.hpp"

#include <algorithm>
#include <tuple>

namespace clbin::format {

using base::Bytes;
using base::ByteView;
using base::Digest;
using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

Bytes encode_row(const ManifestEntry& row) {
  Manifest manifest;
  manifest.entries.push_back(row);
  return encode_manifest(manifest);
}

auto order_of(const EntryDraft& entry) {
  return std::tuple(encode_row(entry.row), entry.match_key, entry.type, entry.address_bits);
}

auto order_of(const FrameDraft& frame) {
  return std::tuple(frame.reference.has_value(), frame.stored.size_bytes(), frame.stored_digest,
                    frame.reference);
}

std::string target_name(const Target& target) {
  return target.origin == TargetOrigin::offline ? target.spec : target.identity.device_name;
}

} // namespace

Result<void> add_entry(BundleDraft& draft, const std::string& program, EntryDraft entry) {
  constexpr unsigned k_bits_below_kind = 56;
  entry.row.raw_digest = row_digest(entry.raw_digest);
  EntryIdentity identity{entry.row.variant, target_digest(entry.row.target),
                         entry.match_key >> k_bits_below_kind};
  auto& entries = draft.programs[program].entries;
  const auto there = entries.find(identity);
  if (there == entries.end()) {
    entries.emplace(std::move(identity), std::move(entry));
    return {};
  }
  if (there->second.raw_digest != entry.raw_digest) {
    return fail(ErrorCode::conflict,
                "program '{}', variant '{}' has two different binaries of kind {} for '{}'",
                program, entry.row.variant, to_string(static_cast<BinaryKind>(identity.kind)),
                target_name(entry.row.target));
  }
  if (order_of(entry) < order_of(there->second)) {
    there->second = std::move(entry);
  }
  return {};
}

void add_build(ProgramDraft& draft, RecordedBuild build) {
  const std::pair place(build.variant, target_digest(build.target));
  const auto [there, added] = draft.builds.try_emplace(place, std::move(build));
  std::vector<std::string>& kernels = there->second.kernels;
  if (!added) {
    kernels.insert(kernels.end(), build.kernels.begin(), build.kernels.end());
  }
  std::sort(kernels.begin(), kernels.end());
  kernels.erase(std::unique(kernels.begin(), kernels.end()), kernels.end());
}

void add_frame(BundleDraft& draft, const Digest& raw_digest, FrameDraft frame) {
  const auto there = draft.frames.find(raw_digest);
  if (there == draft.frames.end()) {
    draft.frames.emplace(raw_digest, std::move(frame));
  } else if (order_of(frame) < order_of(there->second)) {
    there->second = std::move(frame);
  }
}

bool is_same_frame(const FrameDraft& a, const FrameDraft& b) {
  return a.stored_digest == b.stored_digest && a.codec == b.codec && a.raw_bytes == b.raw_bytes &&
         a.reference == b.reference;
}

FrameDraft store_alone(ByteView raw) {
  FrameDraft frame;
  frame.raw_bytes = raw.size();
  frame.codec = BlobCodec::stored;
  frame.stored_digest = base::digest_of(raw);
  frame.stored = Bytes(raw.begin(), raw.end());
  return frame;
}

Result<FrameDraft> compress_alone(ByteView raw, int level) {
  CLBIN_TRY_ASSIGN(Bytes stored, base::zstd_compress(raw, {}, level));
  if (stored.size() >= raw.size()) {
    return store_alone(raw);
  }
  FrameDraft frame;
  frame.raw_bytes = raw.size();
  frame.codec = BlobCodec::zstd;
  frame.stored_digest = base::digest_of(stored);
  frame.stored = std::move(stored);
  return frame;
}

} // namespace clbin::format
