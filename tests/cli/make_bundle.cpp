// make_bundle KIND FILE: bundles for the CLI tests, made without a driver.
//   sample             two programs, three groups, seven entries
//   newer              the same, of format version 2.0
//   manifest FROM TO   the same, where the first manifest has TO for FROM, all digests right

#include "format/bundle_writer.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <cstdio>
#include <gtest/gtest.h>

namespace {

using clbin::base::Bytes;
using clbin::format::SectionKind;
using clbin::test::CraftedBundle;

// Where BLOB's fields lie: clbin(5).
constexpr std::size_t k_blob_raw_digest = 0;
constexpr std::size_t k_blob_stored_digest = 32;
constexpr std::size_t k_blob_offset = 64;
constexpr std::size_t k_blob_stored_bytes = 72;
constexpr std::size_t k_blob_raw_bytes = 80;
constexpr std::size_t k_blob_reference = 88;
constexpr std::size_t k_blob_codec = 92;

Bytes newer(const Bytes& sample) {
  CraftedBundle crafted(sample);
  crafted.edit_prefix = [](clbin::format::Prefix& prefix) {
    prefix.major = 2;
    prefix.minor = 0;
  };
  return crafted.build();
}

Bytes with_manifest_changed(const Bytes& sample, const std::string& from, const std::string& to) {
  const auto reader = clbin::test::must_open(sample);
  const auto group = reader.group(0);
  const std::uint32_t blob = group->manifest_blob;
  const auto raw = reader.read_blob(blob);
  std::string json(clbin::base::as_text(*raw));
  const std::size_t place = json.find(from);
  if (place == std::string::npos) {
    std::fprintf(stderr, "make_bundle: no %s in %s\n", from.c_str(), json.c_str());
    return {};
  }
  json.replace(place, from.size(), to);

  CraftedBundle crafted(sample);
  Bytes& payload = crafted.section(SectionKind::payload).bytes;
  payload.resize((payload.size() + 7) / 8 * 8);
  const std::size_t offset = payload.size();
  const Bytes bytes = clbin::test::bytes_of(json);
  payload.insert(payload.end(), bytes.begin(), bytes.end());
  const auto digest = clbin::base::digest_of(bytes);
  crafted.set_bytes(SectionKind::blob, blob, k_blob_raw_digest, digest.bytes);
  crafted.set_bytes(SectionKind::blob, blob, k_blob_stored_digest, digest.bytes);
  crafted.set_u64(SectionKind::blob, blob, k_blob_offset, offset);
  crafted.set_u64(SectionKind::blob, blob, k_blob_stored_bytes, bytes.size());
  crafted.set_u64(SectionKind::blob, blob, k_blob_raw_bytes, bytes.size());
  crafted.set_u32(SectionKind::blob, blob, k_blob_reference, clbin::format::k_no_index);
  crafted.set_u8(SectionKind::blob, blob, k_blob_codec, 0);
  return crafted.build();
}

Bytes make(const std::vector<std::string>& words) {
  const Bytes sample = clbin::test::must_write(clbin::test::sample_input());
  if (words[0] == "sample") {
    return sample;
  }
  if (words[0] == "newer") {
    return newer(sample);
  }
  return words[0] == "manifest" && words.size() == 4
             ? with_manifest_changed(sample, words[1], words[2])
             : Bytes();
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 2) {
    std::fputs("usage: make_bundle sample|newer FILE, make_bundle manifest FROM TO FILE\n", stderr);
    return 2;
  }
  const Bytes bytes = make(words);
  const bool made = !bytes.empty() && !testing::UnitTest::GetInstance()->Failed();
  return made && clbin::base::write_output_file(words.back(), bytes) ? 0 : 1;
}
