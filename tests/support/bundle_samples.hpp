// Contents of bundles, made without a driver.
#pragma once

#include "format/bundle/bundle.hpp"
#include "format/bundle/bundle_reader.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace clbin::test {

// As text that classify_binary takes for PTX; equal `body` makes them similar.
[[nodiscard]] base::Bytes sample_ptx(unsigned sm, std::string_view body);
// Bytes that no compressor makes smaller, the same for the same seed.
[[nodiscard]] base::Bytes random_bytes(std::size_t size_bytes, std::uint64_t seed);
[[nodiscard]] base::Bytes bytes_of(std::string_view text);
[[nodiscard]] base::Bytes bytes_kept_in(const base::KeptBytes& kept);

[[nodiscard]] format::Target sample_device(std::string_view device_name);
[[nodiscard]] format::Target sample_offline_target(std::string_view spec,
                                                   std::string_view architecture);
[[nodiscard]] format::EntryInput sample_entry(std::string_view variant, format::Target target,
                                              base::Bytes payload);
[[nodiscard]] format::SourcePackage sample_source(std::string_view text);

// Two programs, three groups, similar and different payloads, one of them shared; source for one.
[[nodiscard]] format::BundleInput sample_input();
// `groups` programs of `entries` entries each, every one with a target and a payload of its own.
[[nodiscard]] format::BundleInput large_input(std::uint32_t groups, std::uint32_t entries);
// What machine `number` of a build farm makes: 50 entries of one of four programs, each with a
// target and a payload of its own, which has at least `payload_bytes`.
[[nodiscard]] format::BundleInput farm_input(std::uint32_t number, std::size_t payload_bytes);

// write_bundle with a fast level; the test fails where it does.
[[nodiscard]] base::Bytes must_write(const format::BundleInput& input);
// Opens from memory, refusing trailing bytes; copies.
[[nodiscard]] base::Result<format::BundleReader> open_bytes(base::Bytes bytes);
[[nodiscard]] format::BundleReader must_open(base::Bytes bytes);
[[nodiscard]] format::BundleReader must_open(base::Bytes bytes, std::string name);

// The order of programs, variants, entries and kernels changed by `seed`, nothing else.
[[nodiscard]] format::BundleInput shuffled(format::BundleInput input, std::uint64_t seed);

// Every readable fact as text, so that two bundles can be compared: raw bytes by digest, not how
// they are stored.
[[nodiscard]] base::Result<std::string> contents_of(const format::BundleReader& reader);

} // namespace clbin::test
