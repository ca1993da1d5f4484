#include "command_line/bundle_file.hpp"

#include "base/system/files.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "listing/bundle_summary.hpp"
#include "terminal/shell_quoting.hpp"

#include <fmt/format.h>

namespace oclcc {

namespace {

constexpr std::size_t k_most_named_recipients = 8;

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
  std::vector<std::string> recipients;
  for (const format::KeySlot& slot : slots) {
    if (slot.method == format::KeyMethod::sealed) {
      recipients.push_back(to_text(slot.recipient));
    }
  }
  const std::size_t count = recipients.size();
  recipients.resize(std::min(count, k_most_named_recipients));
  return fmt::format(
      "its content key is {}{}{}{}", to_text(slots.front().key_id),
      count == 0   ? ""
      : count == 1 ? ", and its recipient is "
                   : ", and its recipients are ",
      fmt::join(recipients, ", "),
      count == recipients.size() ? "" : fmt::format(" and {} more", count - recipients.size()));
}

Result<format::BundleReader> open_unnamed(const std::filesystem::path& path, const BundleKeys& keys,
                                          const format::SignaturePolicy* policy) {
  constexpr auto k_refuse = format::TrailingBytes::refuse;
  CLBIN_TRY_ASSIGN(auto source, open_bundle_source(path, keys));
  CLBIN_TRY_ASSIGN(format::BundleReader bundle,
                   policy == nullptr
                       ? format::BundleReader::open(std::move(source), {}, k_refuse)
                       : format::BundleReader::open(std::move(source), {}, k_refuse, *policy));
  CLBIN_TRY(keys.unlock(bundle));
  return bundle;
}

Result<format::BundleReader> open_file(const std::filesystem::path& path, const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(auto bundle, format::BundleReader::open_file(path));
  CLBIN_TRY(keys.unlock(bundle));
  CLBIN_TRY(require_contents(bundle));
  return bundle;
}

// Returns the base of a directory and its packs that are there, as one bundle, encrypted as the
// base.
Result<std::shared_ptr<const base::ByteSource>> merged_packs(const std::filesystem::path& directory,
                                                             const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(const auto files, bundle_files(directory));
  constexpr std::size_t k_other_files = 64;
  base::allow_open_files(files.size() + k_other_files);
  std::vector<format::BundleReader> bundles;
  for (const BundleFile& file : files) {
    CLBIN_TRY_ASSIGN(auto bundle, named(open_file(file.path, keys), file.path));
    CLBIN_TRY(check_root(file, bundle.root_digest()));
    bundles.push_back(std::move(bundle));
  }
  std::vector<const format::BundleReader*> pointers;
  std::ranges::transform(bundles, std::back_inserter(pointers),
                         [](const auto& bundle) { return &bundle; });
  std::optional<format::Encryption> encryption;
  if (bundles.front().is_encrypted()) {
    CLBIN_TRY_ASSIGN(auto slots, bundles.front().key_slots());
    encryption = format::Encryption{bundles.front().content_key(), std::move(slots)};
  }
  CLBIN_TRY_ASSIGN(base::Bytes merged,
                   format::merge_bundles(pointers, encryption ? &*encryption : nullptr));
  return base::owning_source(std::move(merged), directory.string());
}

// Reads a file that is no bundle, however large, only as far as its prefix.
Result<ValidBundle> read_whole_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  CLBIN_TRY(require_file(path));
  CLBIN_TRY_ASSIGN(const auto source, open_bundle_source(path));
  CLBIN_TRY(format::BundleReader::open(source, {}, format::TrailingBytes::refuse));
  if (source->size_bytes() > k_max_whole_bundle_bytes) {
    return fail(ErrorCode::limit_exceeded, "it has more than {} bytes", k_max_whole_bundle_bytes);
  }
  CLBIN_TRY_ASSIGN(const base::ByteRegion whole, source->read(0, source->size_bytes(), "bundle"));
  base::Bytes bytes(whole.view().begin(), whole.view().end());
  // The file may have changed since it was opened.
  CLBIN_TRY_ASSIGN(auto bundle, format::BundleReader::open(base::memory_source(bytes), {},
                                                           format::TrailingBytes::refuse));
  CLBIN_TRY(keys.unlock(bundle));
  CLBIN_TRY_ASSIGN(const Verified verified, verify_bundle(bundle));
  return ValidBundle{std::move(bytes), verified};
}

// --- Inputs of the wrong kind -------------------------------------------------------------------

constexpr std::uint64_t k_examined_bytes = 64U << 10U;

// "kernel void f(", "__kernel __attribute__((…)) void f("
bool defines_kernel(std::string_view text) {
  constexpr std::string_view k_keyword = "kernel";
  constexpr std::string_view k_space = " \t\r\n";
  for (std::size_t at = text.find(k_keyword); at != std::string_view::npos;
       at = text.find(k_keyword, at + 1)) {
    const std::string_view rest = text.substr(at + k_keyword.size());
    const std::size_t word = rest.find_first_not_of(k_space);
    if (word != 0 && word != std::string_view::npos &&
        (rest.substr(word).starts_with("void") || rest.substr(word).starts_with("__attribute__"))) {
      return true;
    }
  }
  return false;
}

// As a word for a shell. A note is one line, in which no word can have a line feed.
std::string shown_word(const std::filesystem::path& path) {
  const std::string word = quote_for_shell(file_word(path));
  return word.find('\n') == std::string::npos ? word : "FILE";
}

// Whether `path` is a regular text file with the suffix ".cl" or a kernel in its first 64 KiB.
bool looks_like_source(const std::filesystem::path& path) {
  const auto start = start_of_file(path, k_examined_bytes);
  if (!start) {
    return false;
  }
  const std::string_view text = base::as_text(start->view());
  return text.find('\0') == std::string_view::npos &&
         (path.extension() == ".cl" || defines_kernel(text));
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
  return fail(ErrorCode::wrong_key, "no key of '--decrypt-key' opens it: {}", described(slots));
}

std::string bundle_name(const std::filesystem::path& path) {
  return path == "-" ? "<stdin>" : path.string();
}

std::optional<base::ByteRegion> start_of_file(const std::filesystem::path& path,
                                              std::uint64_t max_bytes) {
  std::error_code ignored;
  if (path == "-" || !std::filesystem::is_regular_file(path, ignored)) {
    return std::nullopt;
  }
  const auto source = base::open_file_source(path);
  if (!source) {
    return std::nullopt;
  }
  auto start = (*source)->read(0, std::min((*source)->size_bytes(), max_bytes), "start");
  return start ? std::optional(std::move(*start)) : std::nullopt;
}

bool is_bundle(const std::filesystem::path& path) {
  const auto start = start_of_file(path, format::k_magic.size());
  const auto magic = std::as_bytes(std::span(format::k_magic));
  return start &&
         std::equal(magic.begin(), magic.end(), start->view().begin(), start->view().end());
}

bool has_packs(const std::filesystem::path& path) {
  std::error_code ignored;
  return path != "-" &&
         std::filesystem::exists(format::pack_path(path, format::k_base_name), ignored);
}

Result<std::vector<BundleFile>> bundle_files(const std::filesystem::path& path) {
  if (!has_packs(path)) {
    return std::vector{BundleFile{path, std::nullopt}};
  }
  std::vector<BundleFile> files{{format::pack_path(path, format::k_base_name), std::nullopt}};
  const auto read_packs = [&]() -> Result<std::vector<format::PackRecord>> {
    CLBIN_TRY_ASSIGN(const auto base, format::BundleReader::open_file(files.front().path));
    return base.packs();
  };
  CLBIN_TRY_ASSIGN(const auto packs, named(read_packs(), files.front().path));
  std::set<std::string> known;
  for (const format::PackRecord& pack : packs) {
    std::error_code ignored; // of a file that does not exist
    const std::filesystem::path file = format::pack_path(path, pack.name.str());
    if (known.insert(pack.name.str()).second &&
        std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
      files.push_back({file, pack.root});
    }
  }
  return files;
}

Result<void> check_root(const BundleFile& file, const base::Digest& root) {
  if (!file.root || *file.root == root) {
    return {};
  }
  return fail(ErrorCode::digest_mismatch,
              "{} is not the pack that its base names: it is of another version or another product",
              base::in_quotes(file.path));
}

Result<void> require_file(const std::filesystem::path& path) {
  return has_packs(path) ? fail(ErrorCode::file_read, "it is a directory: name the files in it")
                         : Result<void>();
}

Result<std::shared_ptr<const base::ByteSource>>
open_bundle_source(const std::filesystem::path& path, const BundleKeys& keys) {
  if (has_packs(path)) {
    return merged_packs(path, keys);
  }
  std::error_code ignored;
  if (path != "-" && !std::filesystem::is_fifo(path, ignored)) {
    return base::open_file_source(path);
  }
  CLBIN_TRY_ASSIGN(base::Bytes bytes, base::read_whole_file(path, k_max_whole_bundle_bytes));
  return base::owning_source(std::move(bytes), bundle_name(path));
}

Result<format::BundleReader> open_bundle(const std::filesystem::path& path, const BundleKeys& keys,
                                         const format::SignaturePolicy* policy) {
  return named(open_unnamed(path, keys, policy), path);
}

Result<format::BundleReader> open_readable_bundle(const std::filesystem::path& path,
                                                  const BundleKeys& keys) {
  CLBIN_TRY_ASSIGN(format::BundleReader bundle, open_bundle(path, keys));
  CLBIN_TRY(named(require_contents(bundle), path));
  return bundle;
}

Result<void> require_contents(const format::BundleReader& bundle) {
  if (!bundle.is_locked()) {
    return {};
  }
  return fail(ErrorCode::encrypted, "it is encrypted: name its key with '--decrypt-key'");
}

Result<Verified> verify_bundle(const format::BundleReader& bundle) {
  auto verified = bundle.verify();
  if (verified) {
    return Verified::all;
  }
  if (bundle.is_locked() && verified.error().code == ErrorCode::encrypted) {
    return Verified::all_but_contents;
  }
  return tl::unexpected(std::move(verified.error()));
}

Result<ValidBundle> read_valid_bundle(const std::filesystem::path& path, const BundleKeys& keys) {
  return named(read_whole_bundle(path, keys), path);
}

std::vector<format::TrailingRecord> signatures_in(const std::filesystem::path& path) {
  const auto bundle =
      open_bundle(has_packs(path) ? format::pack_path(path, format::k_base_name) : path);
  auto records = bundle ? bundle->signature_records() : tl::unexpected(bundle.error());
  return records ? std::move(*records) : std::vector<format::TrailingRecord>();
}

Error named_error(Error error, const std::filesystem::path& path) {
  const bool is_named = error.message.find(fmt::format("'{}'", path.string())) != std::string::npos;
  return is_named ? error : clbin::listing::named_error(std::move(error), bundle_name(path));
}

Result<void> require_other_files(std::span<const std::filesystem::path> outputs,
                                 const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& output : outputs) {
    const auto is_output = [&](const std::filesystem::path& file) {
      std::error_code error;
      return file != "-" && output != "-" && std::filesystem::equivalent(file, output, error);
    };
    if (std::ranges::any_of(files, is_output)) {
      return refused("'{}' is both an input and the output", output.string());
    }
  }
  return {};
}

void explain_bundle_input(const std::filesystem::path& bundle, const Options& options,
                          Reporter& reporter) {
  if (is_converted(output_kind(options).form)) {
    return;
  }
  reporter.explain(
      fmt::format("to see its contents: oclcc --info {}; '-o k.o' embeds it; '--merge', "
                  "'--strip' and '--repack' change it",
                  shown_word(bundle)));
}

void explain_source_inputs(const Options& options, Reporter& reporter) {
  for (const Input& input : options.inputs) {
    if (looks_like_source(input.path)) {
      reporter.note(fmt::format("'{}' looks like OpenCL source: compile it first: oclcc {}",
                                input.path.string(), shown_word(input.path)));
    }
  }
}

} // namespace oclcc
