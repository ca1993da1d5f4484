// Opens bundles of the command line, with the keys of --decrypt-key; every error names the file.
// Rejects outputs that would overwrite their inputs, and explains inputs of the wrong kind.
#pragma once

#include "base/crypto/key_text.hpp"
#include "command_line/options.hpp"
#include "format/bundle/bundle_reader.hpp"

namespace oclcc {

// Content keys and secret keys of recipients. Const methods are thread-safe.
class BundleKeys {
public:
  void add(base::DecryptionKey key) { m_keys.push_back(std::move(key)); }

  // Unlocks `bundle` with the first key that opens it. Does nothing if the bundle is not encrypted,
  // or if there are no keys. Errors: wrong_key, if none of the keys opens it; those of the reader.
  [[nodiscard]] Result<void> unlock(format::BundleReader& bundle) const;

private:
  std::vector<base::DecryptionKey> m_keys;
};

// all_but_contents: the bundle is encrypted, and there is no key.
enum class Verified : std::uint8_t { all, all_but_contents };
// Verifies what can be read of a bundle. Errors of BundleReader::verify.
[[nodiscard]] Result<Verified> verify_bundle(const format::BundleReader& bundle);
// The warning on Verified::all_but_contents.
inline constexpr std::string_view k_contents_not_checked =
    "its contents were not checked, because it is encrypted: name its key with '--decrypt-key'";

struct ValidBundle {
  base::Bytes bytes;
  Verified verified = Verified::all;
};
// Reads a whole file, or standard input for "-", and verifies the bundle in it. Errors as for
// open_bundle and verify_bundle.
[[nodiscard]] Result<ValidBundle> read_valid_bundle(const std::filesystem::path& path,
                                                    const BundleKeys& keys);

// Of a bundle that is read into memory as a whole.
inline constexpr std::uint64_t k_max_whole_bundle_bytes = 4ULL << 30U;

// Returns the path as given, or "<stdin>" for "-".
[[nodiscard]] std::string bundle_name(const std::filesystem::path& path);

// Returns at most `max_bytes` from the beginning of a regular file; std::nullopt if it is not a
// regular file or cannot be read.
[[nodiscard]] std::optional<base::ByteRegion> start_of_file(const std::filesystem::path& path,
                                                            std::uint64_t max_bytes);

// Whether `path` is a regular file that starts with a bundle's magic. Returns false for an
// unreadable file; opening it reports the error.
[[nodiscard]] bool is_bundle(const std::filesystem::path& path);

// Whether `path` is the directory of a base, base.clbin, and packs.
[[nodiscard]] bool has_packs(const std::filesystem::path& path);

struct BundleFile {
  std::filesystem::path path;
  std::optional<base::Digest> root; // of a pack, as the base names it
};
// Returns the files of which a bundle consists: `path` itself, or of a directory of packs, the base
// and those packs that are there. Errors of opening the base.
[[nodiscard]] Result<std::vector<BundleFile>> bundle_files(const std::filesystem::path& path);
// digest_mismatch, if it is a pack, and not the one that the base names.
[[nodiscard]] Result<void> check_root(const BundleFile& file, const base::Digest& root);
// file_read: `path` is a directory of packs, and the caller needs one file.
[[nodiscard]] Result<void> require_file(const std::filesystem::path& path);

// Opens a file, or standard input for "-". Reads standard input and pipes into memory, at most 4
// GiB. Merges the files of a directory of packs; if they are encrypted, `keys` must open them, and
// so is the result. file_not_found, file_read, limit_exceeded; of a directory also the errors of
// check_root and of opening its files.
[[nodiscard]] Result<std::shared_ptr<const base::ByteSource>>
open_bundle_source(const std::filesystem::path& path, const BundleKeys& keys = {});

// Opens a bundle, which must have the signatures of `policy` unless it is null, and unlocks it if
// it is encrypted and there are keys. Errors as for the previous function, BundleReader::open and
// BundleKeys::unlock.
[[nodiscard]] Result<format::BundleReader>
open_bundle(const std::filesystem::path& path, const BundleKeys& keys = {},
            const format::SignaturePolicy* policy = nullptr);
// Opens a bundle whose contents can be read. Errors: also encrypted, if there is no key.
[[nodiscard]] Result<format::BundleReader> open_readable_bundle(const std::filesystem::path& path,
                                                                const BundleKeys& keys);
// encrypted: the contents of `bundle` cannot be read without a key.
[[nodiscard]] Result<void> require_contents(const format::BundleReader& bundle);

// The note on an output whose inputs were signed.
inline constexpr std::string_view k_signatures_removed =
    "the signatures of the input were removed, because the contents changed: sign it again";
// The note if the output is signed, but not by all who signed the inputs.
inline constexpr std::string_view k_other_signatures_removed =
    "other signatures, counters or vouches of the input were removed, because the contents changed";
// Returns the signatures, counters and vouches of a bundle, or of the base of a directory. None if
// it is unreadable.
[[nodiscard]] std::vector<format::TrailingRecord> signatures_in(const std::filesystem::path& path);

// Prefixes the message with "a.clbin: ", unless it already names the file.
[[nodiscard]] Error named_error(Error error, const std::filesystem::path& path);
template <typename Value>
[[nodiscard]] Result<Value> named(Result<Value> result, const std::filesystem::path& path) {
  return result ? std::move(result) : tl::unexpected(named_error(std::move(result.error()), path));
}

// invalid_argument if an output is one of the files of a program.
[[nodiscard]] Result<void> require_other_files(std::span<const std::filesystem::path> outputs,
                                               const std::vector<std::filesystem::path>& files);

// Prints a note on the uses of `bundle`, after the error that a compile cannot read it.
void explain_bundle_input(const std::filesystem::path& bundle, const Options& options,
                          Reporter& reporter);

// Prints a note for each input that looks like OpenCL source, after a mode that reads bundles has
// failed. Reads the beginning of each regular file.
void explain_source_inputs(const Options& options, Reporter& reporter);

} // namespace oclcc
