#include "loader/attempt_digest.hpp"

namespace clbin::loader {
namespace {

constexpr std::string_view k_payload_label = "clbin-quarantine-payload-1";
constexpr std::string_view k_attempt_label = "clbin-quarantine-attempt-1";
constexpr std::string_view k_together_label = "clbin-quarantine-together-1";
constexpr std::string_view k_devices_label = "clbin-quarantine-devices-1";

void add_frame(base::Hasher& hasher, const format::BlobView& blob) {
  hasher.add_field(blob.stored_digest.bytes);
  hasher.add_u64(blob.raw_bytes);
  hasher.add_u64(blob.codec);
  hasher.add_u64(blob.flags);
}

void add_names(base::Hasher& hasher, const std::vector<std::string>& names) {
  hasher.add_u64(names.size());
  for (const std::string& name : names) {
    hasher.add_field(name);
  }
}

} // namespace

base::Result<base::Digest> payload_digest(const format::BundleReader& bundle, std::uint32_t blob) {
  CLBIN_TRY_ASSIGN(const format::BlobView own, bundle.blob(blob));
  base::Hasher hasher;
  hasher.add_field(k_payload_label);
  add_frame(hasher, own);
  if (own.reference != format::k_no_index) {
    CLBIN_TRY_ASSIGN(const format::BlobView reference, bundle.blob(own.reference));
    add_frame(hasher, reference);
  }
  return hasher.finish();
}

base::Digest attempt_digest(const LoadSession& session, const BinaryToTry& binary) {
  base::Hasher hasher;
  hasher.add_field(k_attempt_label);
  hasher.add_field(binary.payload.bytes);
  hasher.add_u64(static_cast<std::uint64_t>(binary.language));
  hasher.add_field(binary.options);
  add_names(hasher, binary.kernels);
  for (const opencl::SpecializationConstant& constant : session.request.constants) {
    hasher.add_u64(constant.id);
    hasher.add_field(constant.value);
  }
  return hasher.finish();
}

DigestPair together_digest(const LoadSession& session, const std::vector<ProvedEntry>& entries,
                           const std::string& options, const std::vector<std::string>& kernels) {
  base::Hasher attempt;
  attempt.add_field(k_together_label);
  attempt.add_field(options);
  add_names(attempt, kernels);
  base::Hasher devices;
  devices.add_field(k_devices_label);
  for (std::size_t device = 0; device < entries.size(); ++device) {
    attempt.add_field(entries[device].payload.bytes);
    devices.add_field(format::identity_digest(session.identities[device]).bytes);
  }
  return {attempt.finish(), devices.finish()};
}

} // namespace clbin::loader
