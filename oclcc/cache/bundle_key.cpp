#include "cache/bundle_key.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_layout.hpp"
#include "model/record.hpp"

#include <span>

namespace oclcc {

using clbin::base::Digest;
using clbin::base::KeptBytes;
using clbin::base::Result;
using clbin::format::EntryInput;
using clbin::format::Target;
using clbin::format::WriteOptions;

namespace {

constexpr std::string_view k_key_label = "oclcc-bundle-key-2";

class BundleHasher : public clbin::format::RecordHasher<BundleHasher> {
public:
  // `unit_keys` must outlive this object.
  explicit BundleHasher(std::span<const Digest> unit_keys) : m_unit_keys(unit_keys) {}

  using RecordWriter::write;

  // identity_digest covers every member of an identity.
  void write(const Target& target) {
    const auto& [origin, identity, spec] = target;
    write(origin);
    put(clbin::format::identity_digest(identity).bytes);
    write(spec);
  }

  void write(const EntryInput& entry) {
    const auto& [variant, target, options, payload, kernels, build_log, tools, spec_constants] =
        entry;
    write(variant);
    write(target);
    write(options);
    write(spec_constants);
    write(!m_unit_keys.empty());
    if (!m_unit_keys.empty()) {
      put(m_unit_keys.front().bytes);
      m_unit_keys = m_unit_keys.subspan(1);
      return;
    }
    write(payload);
    write(kernels);
    write(build_log);
    write(tools);
  }

  void write(const KeptBytes& payload) {
    const auto bytes = payload.read();
    if (bytes.has_value()) {
      write(bytes->view());
    } else {
      m_status = tl::unexpected(bytes.error());
    }
  }

  // The last error of reading payloads.
  [[nodiscard]] Result<Digest> finish() {
    CLBIN_TRY(m_status);
    return RecordHasher::finish();
  }

private:
  std::span<const Digest> m_unit_keys; // of the entries to come
  Result<void> m_status;
};

} // namespace

Result<Digest> bundle_key(const BundleOfUnits& bundle, const WriteOptions& options,
                          std::string_view executable) {
  const auto& [input, unit_keys] = bundle;
  const auto& [producer, programs] = input;
  // No encrypted bundle is cached, and compressed sources do not change the bytes.
  const auto& [compression_level, spill, encryption, max_stored_bytes, sources] = options;
  BundleHasher hasher(unit_keys);
  hasher.write(k_key_label);
  hasher.write(std::string_view(OCLCC_VERSION));
  hasher.write(executable);
  hasher.write(clbin::base::zstd_version());
  hasher.write(clbin::format::k_format_major);
  hasher.write(clbin::format::k_format_minor);
  hasher.write(compression_level);
  hasher.write(max_stored_bytes);
  hasher.write(producer);
  hasher.write(programs);
  return hasher.finish();
}

} // namespace oclcc
