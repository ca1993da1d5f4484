// Contents of bundles, made without a driver.
#pragma once

#include "format/bundle/bundle_reader.hpp"
#include "model/bundle.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace clbin::test {

// Returns text that classify_binary recognizes as PTX. Payloads with equal `body` are similar.
[[nodiscard]] base::Bytes sample_ptx(unsigned sm, std::string_view body);
// Returns bytes that no compressor makes smaller, the same for the same seed.
[[nodiscard]] base::Bytes random_bytes(std::size_t size_bytes, std::uint64_t seed);
[[nodiscard]] base::Bytes bytes_of(std::string_view text);
[[nodiscard]] base::Bytes bytes_kept_in(const base::KeptBytes& kept);

[[nodiscard]] format::Target sample_device(std::string_view device_name);
[[nodiscard]] format::Target sample_offline_target(std::string_view spec,
                                                   std::string_view architecture);
[[nodiscard]] format::EntryInput sample_entry(std::string_view variant, format::Target target,
                                              base::Bytes payload);
[[nodiscard]] format::SourcePackage sample_source(std::string_view text);
// A kernel "k" of one dimension, with 1024 work-items and NULL as local size, on a GPU.
[[nodiscard]] format::Measurement
sample_measurement(std::string_view variant, std::string_view device_name, std::uint64_t median_ns);

// Two programs, three groups, similar and different payloads, one shared payload, and source for
// one program.
[[nodiscard]] format::BundleInput sample_input();
// `groups` programs of `entries` entries each. Each entry has its own target and payload.
[[nodiscard]] format::BundleInput large_input(std::uint32_t groups, std::uint32_t entries);
// The bundle of unit `number` of a plan, with its source: one entry of one of 100 programs. Each
// has its own target, and its own payload of at least `payload_bytes`.
[[nodiscard]] format::BundleInput unit_input(std::uint32_t number, std::size_t payload_bytes);
// The output of machine `number` of a build farm: 50 entries of one of four programs. Each has its
// own target, and its own payload of at least `payload_bytes`.
[[nodiscard]] format::BundleInput farm_input(std::uint32_t number, std::size_t payload_bytes);

// write_bundle with a fast level. The test fails if it fails.
[[nodiscard]] base::Bytes must_write(const format::BundleInput& input);
// Opens a copy of the bytes from memory, and rejects trailing bytes.
[[nodiscard]] base::Result<format::BundleReader> open_bytes(base::Bytes bytes);
[[nodiscard]] format::BundleReader must_open(base::Bytes bytes);
[[nodiscard]] format::BundleReader must_open(base::Bytes bytes, std::string name);

// Changes only the order of programs, variants, entries and kernels, depending on `seed`.
[[nodiscard]] format::BundleInput shuffled(format::BundleInput input, std::uint64_t seed);

// Returns every readable fact as text, to compare two bundles. Contains the digests of raw bytes,
// and not the way they are stored.
[[nodiscard]] base::Result<std::string> contents_of(const format::BundleReader& reader);

} // namespace clbin::test
