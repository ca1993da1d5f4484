#include "bundle_resealing.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_surgery.hpp"
#include "fuzz_check.hpp"
#include "golden/encrypted_bundles.hpp"
#include "matching/candidate_ranking.hpp"
#include "matching/variant_choice.hpp"

#include <algorithm>
#include <array>
#include <memory>

namespace clbin::fuzz {
namespace {

using format::BundleReader;

// Small limits find violations sooner. They are 64 times the size of a seed.
constexpr format::ReadLimits k_limits{.max_directory_bytes = 1U << 20U, .max_raw_bytes = 1U << 20U};

base::Result<BundleReader> open(base::ByteView bytes) {
  return BundleReader::open(base::memory_source(bytes), k_limits, format::TrailingBytes::ignore);
}

// The key of the encrypted seeds: those of tests/golden/encrypted_v1.
const base::ContentKey& seed_key() {
  static const std::shared_ptr<const base::ContentKey> key = test::golden_content_key();
  return *key;
}

template <typename T>
void require_message(const base::Result<T>& result) {
  require(result.has_value() || !result.error().message.empty(), "an error has a message");
}

std::array<format::DeviceIdentity, 3> devices() {
  std::array<format::DeviceIdentity, 3> all;
  all[0].platform_name = "NVIDIA CUDA";
  all[0].architecture = "sm_90";
  all[0].driver_version = "580.159.03";
  all[1].platform_name = "AMD Accelerated Parallel Processing";
  all[1].architecture = "gfx90a:sramecc+:xnack-";
  all[2].platform_name = "Intel(R) OpenCL Graphics";
  all[2].architecture = "12.0.0";
  return all;
}

constexpr std::uint64_t k_gpu = 1U << 2U; // CL_DEVICE_TYPE_GPU

void match(const BundleReader& bundle, const format::GroupView& group) {
  for (const format::DeviceIdentity& device : devices()) {
    const auto ranked = matching::rank_candidates(bundle, group, device);
    require_message(ranked);
    require_message(matching::explain_candidates(bundle, group, device));
    const auto measured = matching::choose_measured(
        bundle, group.program.str(), {format::measured_device(device, k_gpu), {1024, 49152}});
    require_message(measured);
    for (std::size_t i = 0; measured && i < measured->groups.size(); ++i) {
      require(measured->groups[i].program == group.program, "a variant is one of its program");
      require(!matching::measured_reason(*measured, measured->groups[i]).empty(),
              "a choice has a reason");
    }
    if (!ranked) {
      continue;
    }
    for (const matching::Candidate& candidate : *ranked) {
      require(candidate.rule != matching::Rule::not_compatible, "a candidate fits");
      require_message(matching::read_candidate(bundle, candidate));
    }
  }
}

void look_up(const BundleReader& bundle, const format::GroupView& group) {
  require_message(bundle.find_group(group.program, group.variant));
  require_message(bundle.find_key_range(group, 0, ~0ULL));
  require_message(bundle.find_key_range(group, 1ULL << 56U, 2ULL << 56U));
  require_message(bundle.read_manifest(group));
  require_message(bundle.read_source(group));
  match(bundle, group);
}

void read_packs(const BundleReader& bundle) {
  const auto packs = bundle.packs();
  require_message(packs);
  for (std::size_t i = 0; packs && i < packs->size(); ++i) {
    require(format::is_pack_name((*packs)[i].name),
            "a pack has the name of a file beside the base");
  }
  for (const format::DeviceIdentity& device : devices()) {
    require(!packs || matching::packs_for(*packs, device).size() <= packs->size(),
            "the packs of a device are some of all");
  }
}

void read_tables(const BundleReader& bundle) {
  read_packs(bundle);
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    const auto group = bundle.group(index);
    require_message(group);
    if (group) {
      look_up(bundle, *group);
    }
  }
  for (std::uint32_t index = 0; index < bundle.entry_count(); ++index) {
    const auto entry = bundle.entry(index);
    require_message(entry);
    const auto group = bundle.group(0);
    if (entry && group) {
      require_message(bundle.find_exact(*group, entry->target.digest));
    }
  }
}

void read_blobs(const BundleReader& bundle) {
  for (std::uint32_t index = 0; index < bundle.blob_count(); ++index) {
    require_message(bundle.blob(index));
    require_message(bundle.read_frame(index));
    const auto raw = bundle.read_blob(index);
    require_message(raw);
    require(!raw || raw->size() <= k_limits.max_raw_bytes, "no blob is above the limit");
  }
}

// Checks properties of every valid bundle.
void check_valid(const BundleReader& bundle) {
  for (std::uint32_t index = 0; index < bundle.group_count(); ++index) {
    const auto group = bundle.group(index);
    require(group.has_value(), "a verified bundle's groups can be read");
    const auto found = bundle.find_group(group->program, group->variant);
    require(found.has_value() && found->index == index, "a verified bundle's groups are found");
    require(bundle.read_manifest(*group).has_value(), "a verified bundle's manifests can be read");
    const std::uint32_t end = group->first_entry + group->entry_count;
    for (std::uint32_t at = group->first_entry; at < end; ++at) {
      const auto entry = bundle.entry(at);
      require(entry.has_value(), "a verified bundle's entries can be read");
      const auto own = bundle.find_exact(*group, entry->target.digest);
      require(own.has_value() && !own->empty(), "a verified bundle's entries are found");
    }
  }
  for (std::uint32_t index = 0; index < bundle.blob_count(); ++index) {
    const auto raw = bundle.read_blob(index);
    require(raw.has_value() &&
                bundle.table_digest(base::digest_of(*raw)) == bundle.blob(index)->raw_digest,
            "a verified bundle's blobs are what their digests say");
  }
}

void require_valid(const base::Bytes& bytes) {
  const auto bundle = open(bytes);
  require(bundle.has_value() && bundle->verify().has_value(), "what surgery writes verifies");
}

// `plain` is what a merge made.
void check_encryption_of(const base::Bytes& plain) {
  const auto input = open(plain);
  require(input.has_value(), "what surgery writes opens");
  const BundleReader* pointer = &*input;
  const format::Encryption encryption = format::encryption_with(test::golden_content_key());
  const auto encrypted = format::merge_bundles({&pointer, 1}, &encryption);
  require_message(encrypted);
  if (!encrypted) {
    return; // it would be above the limits of a reader
  }
  auto again = open(*encrypted);
  require(again.has_value() && again->unlock(test::golden_content_key()).has_value(),
          "what was encrypted opens with its key");
  require(again->verify().has_value(), "what was encrypted verifies");
  pointer = &*again;
  const auto decrypted = format::merge_bundles({&pointer, 1});
  require(decrypted.has_value() && *decrypted == plain, "decryption returns what was encrypted");
}

void operate(const BundleReader& bundle) {
  const std::array<const BundleReader*, 2> twice{&bundle, &bundle};
  const auto merged = format::merge_bundles(twice);
  const auto copied = format::merge_bundles(std::span(twice).first(1));
  require_message(merged);
  require_message(copied);
  require(merged.has_value() == copied.has_value(), "a merge with itself works as one alone");
  if (merged) {
    require(*merged == *copied, "a merge with itself changes nothing");
    require_valid(*merged);
    check_encryption_of(*merged);
  }
  const auto stripped =
      format::strip_bundle(bundle, {[](const format::EntryView& entry) { return entry.index != 0; },
                                    format::KeepSource::no});
  require_message(stripped);
  if (stripped) {
    require_valid(stripped->bytes);
  }
}

// Without the key, nothing of the contents is read.
void check_locked(const BundleReader& bundle) {
  read_tables(bundle);
  for (std::uint32_t index = 0; index < bundle.blob_count(); ++index) {
    require_message(bundle.read_stored(index));
    require(!bundle.read_blob(index), "no blob is read without the key");
    require(!bundle.read_frame(index), "no frame is read without the key");
  }
  require(!bundle.verify(), "a bundle is not whole without its key");
}

// Returns whether contents can be read.
bool unlock(BundleReader& bundle) {
  if (!bundle.is_encrypted()) {
    return true;
  }
  check_locked(bundle);
  const auto slots = bundle.key_slots();
  require_message(slots);
  if (slots) {
    require_message(format::content_key_from(*slots, test::alice()));
  }
  const auto unlocked = bundle.unlock(test::golden_content_key());
  require_message(unlocked);
  return unlocked.has_value();
}

void read_all(base::ByteView bytes) {
  auto bundle = open(bytes);
  require_message(bundle);
  if (!bundle || !unlock(*bundle)) {
    return;
  }
  read_tables(*bundle);
  read_blobs(*bundle);
  const auto verified = bundle->verify();
  require_message(verified);
  if (verified) {
    check_valid(*bundle);
    operate(*bundle);
  }
}

} // namespace
} // namespace clbin::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clbin;
  const base::ByteView bytes = std::as_bytes(std::span(data, size));
  fuzz::read_all(bytes);
  const base::Bytes resealed = fuzz::reseal({bytes.begin(), bytes.end()});
  if (!std::equal(resealed.begin(), resealed.end(), bytes.begin(), bytes.end())) {
    fuzz::read_all(resealed);
  }
  const base::Bytes sealed =
      fuzz::reseal(fuzz::seal_blobs({bytes.begin(), bytes.end()}, fuzz::seed_key()));
  if (sealed != resealed) { // there are encrypted blobs: what zstd sees is what a fuzzer changed
    fuzz::read_all(sealed);
  }
  return 0;
}
