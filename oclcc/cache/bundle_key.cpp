// Names every member, so that adding a member is a compile error until its effect on the key is
// decided here.
#include "cache/bundle_key.hpp"

#include "base/zstd_codec.hpp"
#include "format/bundle/bundle_layout.hpp"

#include <span>

namespace oclcc {

using clbin::base::Digest;
using clbin::base::Hasher;
using clbin::base::KeptBytes;
using clbin::base::Result;
using clbin::format::EntryInput;
using clbin::format::KernelArgument;
using clbin::format::KernelReflection;
using clbin::format::ProgramInput;
using clbin::format::RecordedBuild;
using clbin::format::RecordedLaunch;
using clbin::format::SourceFile;
using clbin::format::SourcePackage;
using clbin::format::Target;
using clbin::format::VariantInput;
using clbin::format::WriteOptions;

namespace {

constexpr std::string_view k_key_label = "oclcc-bundle-key-2";

// A class, so that each overload sees all of them.
class InputHasher {
public:
  // `unit_keys` must outlive this object.
  explicit InputHasher(std::span<const Digest> unit_keys) : m_unit_keys(unit_keys) {}

  void add(std::string_view text) { m_hasher.add_field(text); }

  void add(std::uint64_t number) { m_hasher.add_u64(number); }

  void add(const std::array<std::uint64_t, 3>& size) {
    for (const std::uint64_t number : size) {
      m_hasher.add_u64(number);
    }
  }

  void add(const KernelArgument& argument) {
    const auto& [name, type_name, address_space, access, is_const, is_restrict, is_volatile,
                 is_pipe] = argument;
    m_hasher.add_field(name);
    m_hasher.add_field(type_name);
    m_hasher.add_u64(static_cast<std::uint64_t>(address_space));
    m_hasher.add_u64(static_cast<std::uint64_t>(access));
    for (const bool qualifier : {is_const, is_restrict, is_volatile, is_pipe}) {
      m_hasher.add_u64(qualifier ? 1 : 0);
    }
  }

  template <typename Item>
  void add(const std::vector<Item>& items) {
    m_hasher.add_u64(items.size());
    for (const Item& item : items) {
      add(item);
    }
  }

  template <typename Value>
  void add(const std::map<std::string, Value>& values) {
    m_hasher.add_u64(values.size());
    for (const auto& [name, value] : values) {
      m_hasher.add_field(name);
      add(value);
    }
  }

  template <typename Value>
  void add(const std::optional<Value>& value) {
    m_hasher.add_u64(value.has_value() ? 1 : 0);
    if (value.has_value()) {
      add(*value);
    }
  }

  void add(const KernelReflection& kernel) {
    const auto& [name, arguments, argument_count, attributes, required_work_group_size,
                 max_work_group_size, preferred_multiple, local_bytes, private_bytes,
                 specialized_sizes, vendor] = kernel;
    m_hasher.add_field(name);
    add(arguments);
    add(argument_count);
    m_hasher.add_field(attributes);
    add(required_work_group_size);
    add(max_work_group_size);
    add(preferred_multiple);
    add(local_bytes);
    add(private_bytes);
    add(specialized_sizes);
    add(vendor);
  }

  // identity_digest covers every member of an identity.
  void add(const Target& target) {
    const auto& [origin, identity, spec] = target;
    m_hasher.add_u64(static_cast<std::uint64_t>(origin));
    m_hasher.add(clbin::format::identity_digest(identity).bytes);
    m_hasher.add_field(spec);
  }

  void add(const clbin::format::SpecConstant& constant) {
    const auto& [spec_id, name, type_name, size_bytes, default_bits] = constant;
    m_hasher.add_u64(spec_id);
    m_hasher.add_field(name);
    m_hasher.add_field(type_name);
    m_hasher.add_u64(size_bytes);
    m_hasher.add_u64(default_bits);
  }

  void add(const EntryInput& entry) {
    const auto& [variant, target, options, payload, kernels, build_log, tools, spec_constants] =
        entry;
    m_hasher.add_field(variant);
    add(target);
    m_hasher.add_field(options);
    add(spec_constants);
    m_hasher.add_u64(m_unit_keys.empty() ? 0 : 1);
    if (!m_unit_keys.empty()) {
      m_hasher.add(m_unit_keys.front().bytes);
      m_unit_keys = m_unit_keys.subspan(1);
      return;
    }
    add(payload);
    add(kernels);
    m_hasher.add_field(build_log);
    add(tools);
  }

  void add(const SourceFile& file) {
    const auto& [include_name, display_name, text] = file;
    m_hasher.add_field(include_name);
    m_hasher.add_field(display_name);
    m_hasher.add_field(text);
  }

  void add(const SourcePackage& source) {
    const auto& [main, headers] = source;
    add(main);
    add(headers);
  }

  void add(const VariantInput& variant) {
    const auto& [name, options] = variant;
    m_hasher.add_field(name);
    m_hasher.add_field(options);
  }

  void add(const RecordedLaunch& launch) {
    const auto& [variant, kernel, dimensions, local_size] = launch;
    m_hasher.add_field(variant);
    m_hasher.add_field(kernel);
    m_hasher.add_u64(dimensions);
    add(local_size);
  }

  void add(const RecordedBuild& build) {
    const auto& [variant, target, kernels] = build;
    m_hasher.add_field(variant);
    add(target);
    add(kernels);
  }

  void add(const ProgramInput& program) {
    const auto& [name, source, variants, entries, launches, builds] = program;
    m_hasher.add_field(name);
    add(source);
    add(variants);
    add(entries);
    add(launches);
    add(builds);
  }

  void add(const KeptBytes& payload) {
    const auto bytes = payload.read();
    if (bytes.has_value()) {
      m_hasher.add_field(bytes->view());
    } else {
      m_status = tl::unexpected(bytes.error());
    }
  }

  // The last error of reading payloads.
  [[nodiscard]] Result<Digest> finish() {
    CLBIN_TRY(m_status);
    return m_hasher.finish();
  }

private:
  Hasher m_hasher;
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
  InputHasher hasher(unit_keys);
  hasher.add(k_key_label);
  hasher.add(std::string_view(OCLCC_VERSION));
  hasher.add(executable);
  hasher.add(clbin::base::zstd_version());
  hasher.add(std::uint64_t{clbin::format::k_format_major});
  hasher.add(std::uint64_t{clbin::format::k_format_minor});
  hasher.add(static_cast<std::uint64_t>(compression_level));
  hasher.add(max_stored_bytes);
  hasher.add(producer);
  hasher.add(programs);
  return hasher.finish();
}

} // namespace oclcc
