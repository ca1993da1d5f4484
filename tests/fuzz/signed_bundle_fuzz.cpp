// What a verifier reads before a signature holds: prefix, trailing records, and the digest of the
// directory. The input is the trailing records of a signed bundle, or a whole bundle.
#include "base/file_io.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/signatures.hpp"
#include "fuzz_check.hpp"
#include "golden/signed_bundles.hpp"
#include "support/project_folders.hpp"

#include <algorithm>
#include <set>
#include <span>

namespace clbin::fuzz {
namespace {

using base::ErrorCode;
using format::BundleReader;
using format::SignaturePolicy;
using format::TrailingBytes;

constexpr format::ReadLimits k_limits{.max_directory_bytes = 1U << 20U, .max_raw_bytes = 1U << 20U};

struct Sample {
  base::Bytes bundle; // signed
  std::size_t body_bytes = 0;
  base::Digest root;
};

const Sample& sample() {
  static const Sample made = [] {
    Sample result;
    // The corpus was signed for these bytes; another libzstd writes others.
    result.bundle =
        base::read_regular_file(test::tests_folder() / "golden/signed_v1/signed.clbin", 1U << 20U)
            .value();
    const base::Bytes body = format::with_trailing_records(result.bundle, {}).value();
    result.body_bytes = body.size();
    result.root =
        BundleReader::open(base::memory_source(body), {}, TrailingBytes::refuse)->root_digest();
    return result;
  }();
  return made;
}

base::Result<BundleReader> open(base::ByteView bytes, const SignaturePolicy& policy) {
  return BundleReader::open(base::memory_source(bytes), k_limits, TrailingBytes::refuse, policy);
}

// A bundle that opens was signed by one of the two keys: its contents are those of the sample.
void check(base::ByteView bytes) {
  for (const SignaturePolicy& policy :
       {SignaturePolicy{{test::old_key().public_key()}, test::k_signed_counter},
        SignaturePolicy{{test::signing_key().public_key()}, 0}}) {
    const auto reader = open(bytes, policy);
    require(reader.has_value() || !reader.error().message.empty(), "an error has a message");
    if (!reader.has_value()) {
      continue;
    }
    require(reader->root_digest() == sample().root, "nobody else has signed another bundle");
    require(reader->is_trusted(), "the bundle is trusted");
    require(reader->signature_records().has_value(), "the records of an open bundle can be read");
  }
  require(!open(bytes, {}).has_value(), "no bundle is trusted without a key");
}

base::Bytes with_tail(base::ByteView tail) {
  base::Bytes bundle(sample().bundle.begin(),
                     sample().bundle.begin() + static_cast<std::ptrdiff_t>(sample().body_bytes));
  bundle.insert(bundle.end(), tail.begin(), tail.end());
  bundle.resize(bundle.size() + format::padding_after(bundle.size()));
  const auto size = base::little_endian(std::uint64_t{bundle.size()});
  std::copy(size.begin(), size.end(), bundle.begin() + 24);
  return bundle;
}

// Records that can be read are written and read again.
void check_round_trip(base::ByteView bytes) {
  const auto reader =
      BundleReader::open(base::memory_source(bytes), k_limits, TrailingBytes::refuse);
  if (!reader.has_value()) {
    return;
  }
  const auto records = reader->signature_records();
  require(records.has_value(), "the records of an open bundle can be read");
  const auto written = format::with_trailing_records(bytes, *records);
  require(written.has_value(), "what was read can be written");
  const auto again =
      BundleReader::open(base::memory_source(*written), k_limits, TrailingBytes::refuse);
  require(again.has_value(), "what was written can be read");
  const auto read = again->signature_records();
  require(read.has_value() && std::multiset(read->begin(), read->end()) ==
                                  std::multiset(records->begin(), records->end()),
          "the records are the same");
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  fuzz::check(bytes);
  const base::Bytes bundle = fuzz::with_tail(bytes);
  fuzz::check(bundle);
  fuzz::check_round_trip(bundle);
  return 0;
}
