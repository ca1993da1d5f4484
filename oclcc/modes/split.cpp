// --split: a base, which contains sources and IL, and packs beside it, each with the device
// binaries of some targets. All are written before the first one gets its name. The base, which
// names the packs by their roots, gets it last: until then, a base of before does not accept the
// new packs.
#include "base/system/folder.hpp"
#include "command_line/modes.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "modes/extracted_names.hpp"
#include "trust/bundle_encryption.hpp"
#include "trust/bundle_signing.hpp"
#include "worker/worker_process.hpp"

#include <fmt/format.h>

namespace oclcc {

using base::Bytes;
using base::Digest;
using format::DeviceFamily;
using format::PackRecord;
using format::TargetView;

namespace {

namespace fs = std::filesystem;

constexpr std::size_t k_pack_digest_digits = 8;

// Of letters, digits, '.', '-' and '_': "amdgcn:gfx90a:xnack+" becomes "amdgcn-gfx90a-xnack_".
std::string pack_name_part(std::string text) {
  std::ranges::replace(text, ':', '-');
  std::string part = file_name_part(text);
  std::ranges::transform(part, part.begin(), [](char c) {
    return c == '+' || c == '@' ? '_' : c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return format::is_pack_name(part) ? part : "target-" + part;
}

// "nvidia"; for a device of no known family, its name.
std::string vendor_of(const TargetView& target) {
  return target.family == DeviceFamily::unknown
             ? pack_name_part(fmt::format("device-{}", target.device_name))
             : std::string(to_string(target.family));
}

// "nvidia-sm_7x", "amd-gfx11": the devices of one generation. Others are families of their own.
std::string family_of(const format::EntryView& entry) {
  const TargetView& target = entry.target;
  const format::BinaryInfo info = format::info_from_match_key(entry.match_key);
  if (info.arch_major != 0 && target.family == DeviceFamily::nvidia) {
    return fmt::format("nvidia-sm_{}x", info.arch_major);
  }
  if (info.arch_major != 0 && target.family == DeviceFamily::amd) {
    return fmt::format("amd-gfx{}", info.arch_major);
  }
  if (target.family == DeviceFamily::intel && target.origin == format::TargetOrigin::offline) {
    return pack_name_part(target.spec.str());
  }
  return vendor_of(target);
}

std::string pack_name_of(const format::EntryView& entry, SplitUnit unit) {
  const TargetView& target = entry.target;
  switch (unit) {
  case SplitUnit::vendor:
    return vendor_of(target);
  case SplitUnit::family:
    return family_of(entry);
  case SplitUnit::entry:
    break;
  }
  const bool is_offline = target.origin == format::TargetOrigin::offline;
  return pack_name_part(
      is_offline ? target.spec.str()
                 : fmt::format("{}-{}", to_string(target.family), target.device_name.str()));
}

// The packs by the digests of targets; IL stays in the base. Targets whose names are equal only by
// chance get their digests.
std::map<Digest, std::string> pack_names(const std::vector<format::EntryView>& entries,
                                         SplitUnit unit) {
  std::map<Digest, std::string> plain; // the entries of a target are in one pack
  for (const format::EntryView& entry : entries) {
    if (entry.target.family != DeviceFamily::spirv) {
      plain.try_emplace(entry.target.digest, pack_name_of(entry, unit));
    }
  }
  std::map<std::string, std::set<Digest>> targets;
  for (const auto& [digest, name] : plain) {
    targets[name].insert(digest);
  }
  std::map<Digest, std::string> names;
  for (const auto& [name, digests] : targets) {
    for (const Digest& digest : digests) {
      const bool is_taken = unit == SplitUnit::entry && digests.size() > 1;
      names[digest] = is_taken ? fmt::format("{}-{}", name,
                                             base::to_hex(digest).substr(0, k_pack_digest_digits))
                               : name;
    }
  }
  return names;
}

Result<std::vector<format::EntryView>> listed_entries(const format::BundleReader& bundle) {
  std::vector<format::EntryView> entries;
  format::TextBudget budget(bundle.total_bytes());
  for (std::uint32_t i = 0; i < bundle.entry_count(); ++i) {
    CLBIN_TRY_ASSIGN(format::EntryView entry, bundle.entry(i));
    CLBIN_TRY(budget.take(entry));
    entries.push_back(std::move(entry));
  }
  return entries;
}

// Moves the entries of each pack out of `contents`, which becomes that of the base. What is not
// about entries stays there.
std::map<std::string, format::BundleInput> take_packs(format::BundleInput& contents,
                                                      const std::map<Digest, std::string>& names) {
  std::map<std::string, format::BundleInput> packs;
  for (format::ProgramInput& program : contents.programs) {
    std::vector<format::EntryInput> kept;
    for (format::EntryInput& entry : program.entries) {
      const auto name = names.find(target_digest(entry.target));
      if (name == names.end()) {
        kept.push_back(std::move(entry));
        continue;
      }
      format::BundleInput& pack = packs[name->second];
      pack.producer = contents.producer;
      if (pack.programs.empty() || pack.programs.back().name != program.name) {
        pack.programs.push_back({program.name, std::nullopt, {}, {}});
      }
      format::ProgramInput& there = pack.programs.back();
      if (std::ranges::find(there.variants, entry.variant, &format::VariantInput::name) ==
          there.variants.end()) {
        there.variants.push_back(
            *std::ranges::find(program.variants, entry.variant, &format::VariantInput::name));
      }
      there.entries.push_back(std::move(entry));
    }
    program.entries = std::move(kept);
  }
  return packs;
}

class Splitting {
public:
  Splitting(const Options& options, const ModeContext& context)
      : m_options(options), m_context(context) {}

  Result<ExitCode> run() {
    if (!m_options.output || *m_options.output == "-") {
      return refused("'--split' needs a directory: name one with '-o'");
    }
    CLBIN_TRY_ASSIGN(const auto keys, trust::read_decryption_keys(m_options, m_context.reporter));
    CLBIN_TRY_ASSIGN(const auto request,
                     trust::EncryptionRequest::read(m_options, m_context.reporter));
    if (m_options.signing.is_requested()) {
      CLBIN_TRY_ASSIGN(m_signer, trust::BundleSigner::open(m_options, m_context.workers.stop,
                                                           m_context.reporter));
    }
    const fs::path& input = m_options.inputs.front().path;
    CLBIN_TRY_ASSIGN(const format::BundleReader bundle, open_readable_bundle(input, keys));
    CLBIN_TRY_ASSIGN(m_write.encryption, trust::encryption_of_output(request, std::array{&bundle}));
    CLBIN_TRY_ASSIGN(m_write.spill, base::SpillFile::create());
    const bool was_signed = !signatures_in(input).empty();
    CLBIN_TRY(named(split(bundle), input));
    if (!m_signer && was_signed) {
      m_context.reporter.note(
          fmt::format("{}: {}", m_options.output->string(), k_signatures_removed));
    }
    return ExitCode::success;
  }

private:
  Result<void> split(const format::BundleReader& bundle) {
    CLBIN_TRY_ASSIGN(const auto others, bundle.packs());
    if (!others.empty()) {
      return refused("it names the pack '{}', which is not part of it: split a whole bundle",
                     others.front().name.str());
    }
    CLBIN_TRY_ASSIGN(const auto entries, listed_entries(bundle));
    const auto names = pack_names(entries, m_options.split_unit);
    CLBIN_TRY_ASSIGN(format::BundleInput contents, format::unpack_bundle(bundle, m_write.spill));
    const auto packs = take_packs(contents, names);
    CLBIN_TRY(make_directory());
    const base::FileDescriptor lock = base::lock_folder(*m_options.output); // of other runs
    const std::map<std::string, Digest> before = packs_before();
    std::map<std::string, Digest> roots;
    constexpr std::size_t k_other_files = 64;
    base::allow_open_files(packs.size() + k_other_files);
    for (const auto& [name, pack] : packs) {
      CLBIN_TRY_ASSIGN(roots[name], write(name, pack));
    }
    m_write.packs = records_of(entries, names, roots);
    CLBIN_TRY(write(format::k_base_name, contents));
    for (std::size_t i = 0; i < m_files.size(); ++i) {
      CLBIN_TRY(m_files[i].commit());
      m_context.reporter.verbose(m_paths[i]);
    }
    for (const auto& [name, root] : before) {
      if (!roots.contains(name)) {
        remove_if_unchanged(path_of(name), root);
      }
    }
    return {};
  }

  [[nodiscard]] fs::path path_of(std::string_view name) const {
    return format::pack_path(*m_options.output, name);
  }

  [[nodiscard]] Result<void> make_directory() const {
    std::error_code error;
    fs::create_directories(*m_options.output, error);
    if (!fs::is_directory(*m_options.output)) {
      return fail(ErrorCode::file_write, "cannot write into {}: {}",
                  base::in_quotes(*m_options.output),
                  error ? error.message() : "it is not a directory");
    }
    return {};
  }

  // The packs that a base in the directory names.
  [[nodiscard]] std::map<std::string, Digest> packs_before() const {
    std::map<std::string, Digest> names;
    const auto base = format::BundleReader::open_file(path_of(format::k_base_name));
    const auto packs = base ? base->packs() : Result<std::vector<PackRecord>>();
    for (const PackRecord& pack : packs.value_or(std::vector<PackRecord>())) {
      names.try_emplace(pack.name.str(), pack.root);
    }
    return names;
  }

  // A pack that the new base does not name, unless it is another file, or the input.
  void remove_if_unchanged(const fs::path& path, const Digest& root) const {
    const auto pack = format::BundleReader::open_file(path);
    std::error_code error;
    if (pack && pack->root_digest() == root &&
        !fs::equivalent(path, m_options.inputs.front().path, error)) {
      fs::remove(path, error);
    }
  }

  // Returns the root.
  Result<Digest> write(std::string_view name, const format::BundleInput& contents) {
    CLBIN_TRY_ASSIGN(Bytes bytes, format::write_bundle(contents, m_write));
    if (m_signer) {
      CLBIN_TRY_ASSIGN(trust::SignedBundle signed_bundle, m_signer->sign(bytes));
      bytes = std::move(signed_bundle.bytes);
    }
    const fs::path path = path_of(name);
    CLBIN_TRY(require_other_files({&path, 1}, {m_options.inputs.front().path}));
    CLBIN_TRY(require_other_files({&path, 1}, trust::files_of_keys(m_options)));
    CLBIN_TRY_ASSIGN(base::OutputFile file, base::OutputFile::open(path));
    CLBIN_TRY(file.append(bytes));
    m_files.push_back(std::move(file));
    m_paths.push_back(path.string());
    CLBIN_TRY_ASSIGN(const auto written, format::BundleReader::open(base::memory_source(bytes)));
    return written.root_digest();
  }

  static std::vector<PackRecord> records_of(const std::vector<format::EntryView>& entries,
                                            const std::map<Digest, std::string>& names,
                                            const std::map<std::string, Digest>& roots) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, PackRecord> records;
    for (const format::EntryView& entry : entries) {
      if (const auto name = names.find(entry.target.digest); name != names.end()) {
        const std::uint64_t target = base::leading_u64(entry.target.digest);
        records.try_emplace(
            {target, entry.match_key},
            PackRecord{entry.match_key, target, roots.at(name->second), name->second});
      }
    }
    std::vector<PackRecord> list;
    std::ranges::transform(records, std::back_inserter(list),
                           [](const auto& record) { return record.second; });
    return list;
  }

  const Options& m_options;
  const ModeContext& m_context;
  format::WriteOptions m_write;
  std::optional<trust::BundleSigner> m_signer;
  std::vector<base::OutputFile> m_files; // the base is the last
  std::vector<std::string> m_paths;      // of these
};

} // namespace

Result<ExitCode> split(const Options& options, const ModeContext& context) {
  return Splitting(options, context).run();
}

} // namespace oclcc
