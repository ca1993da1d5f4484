#include "format/bundle/bundle_reader.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/bundle_samples.hpp"
#include "support/crafted_bundle.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <thread>

namespace clbin::format {
namespace {

using base::ByteRegion;
using base::Bytes;
using base::ByteView;
using base::ErrorCode;
using base::Result;
using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

// Counts the bytes that are read from it.
class CountingSource : public base::ByteSource {
public:
  explicit CountingSource(Bytes bytes)
      : ByteSource(bytes.size(), "counting", "counting",
                   [this](std::uint64_t offset, std::uint64_t size_bytes, std::string_view field) {
                     m_read_bytes += size_bytes;
                     m_last_end = std::max<std::uint64_t>(m_last_end, offset + size_bytes);
                     return base::memory_source(m_bytes)->read(offset, size_bytes, field);
                   }),
        m_bytes(std::move(bytes)) {}

  std::atomic<std::uint64_t> m_read_bytes{0};
  std::atomic<std::uint64_t> m_last_end{0};

private:
  Bytes m_bytes;
};

base::Error open_error(Bytes bytes, const ReadLimits& limits = {}) {
  const auto reader = BundleReader::open(base::owning_source(std::move(bytes), "test.clbin"),
                                         limits, TrailingBytes::refuse);
  EXPECT_FALSE(reader.has_value());
  return reader ? base::Error{} : reader.error();
}

Bytes sample_bytes() {
  return test::must_write(test::sample_input());
}

TEST(BundleReader, RefusesWhatIsNoBundle) {
  EXPECT_EQ(open_error({}).code, ErrorCode::not_a_bundle);
  EXPECT_EQ(open_error({}).message, "not a bundle: it is empty");
  const base::Error elf = open_error(test::bytes_of("\x7f"
                                                    "ELF and more"));
  EXPECT_EQ(elf.code, ErrorCode::not_a_bundle);
  EXPECT_EQ(elf.message, "not a bundle: it starts with 7f 45 4c 46 20 61 6e 64");
  const base::Error cached = open_error(test::bytes_of("GGMLCLBC and more"));
  EXPECT_EQ(cached.code, ErrorCode::not_a_bundle);
  EXPECT_EQ(cached.message, "not a bundle: it is a file of llama.cpp's cache of OpenCL programs");
}

TEST(BundleReader, RefusesEveryPrefixOfABundle) {
  const Bytes bytes = sample_bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const base::Error error =
        open_error(Bytes(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)));
    ASSERT_EQ(error.code, size == 0 ? ErrorCode::not_a_bundle : ErrorCode::truncated)
        << size << ": " << error.message;
  }
}

TEST(BundleReader, RefusesANewerMajorVersionAndNamesBoth) {
  Bytes bytes = sample_bytes();
  bytes[8] = std::byte{2};
  bytes[10] = std::byte{7};
  const base::Error error = open_error(bytes);
  EXPECT_EQ(error.code, ErrorCode::newer_version);
  EXPECT_EQ(error.message,
            "prefix: format version 2.7 is newer than 1.0, which this version reads");
  // Also if the rest is missing, because another version may have a shorter prefix.
  bytes.resize(12);
  EXPECT_EQ(open_error(bytes).code, ErrorCode::newer_version);
}

TEST(BundleReader, RefusesMajorVersionZero) {
  Bytes bytes = sample_bytes();
  bytes[8] = std::byte{0};
  EXPECT_EQ(open_error(bytes).code, ErrorCode::damaged);
  EXPECT_EQ(open_error(bytes).message, "prefix: there is no format version 0.0");
}

TEST(BundleReader, TakesAHigherMinorVersion) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.edit_prefix = [](Prefix& prefix) { prefix.minor = 9; };
  const BundleReader reader = test::must_open(crafted.build());
  EXPECT_EQ(reader.prefix().major, 1);
  EXPECT_EQ(reader.prefix().minor, 9);
  EXPECT_TRUE(reader.verify().has_value());
}

TEST(BundleReader, RefusesBytesAfterABundleInAFile) {
  Bytes bytes = sample_bytes();
  bytes.push_back(std::byte{0});
  const base::Error error = open_error(bytes);
  EXPECT_EQ(error.code, ErrorCode::trailing_bytes);
  EXPECT_EQ(error.message, fmt::format("1 bytes follow the bundle of {}", bytes.size() - 1));
}

TEST(BundleReader, IgnoresBytesAfterABundleInMemory) {
  const Bytes bytes = sample_bytes();
  Bytes region = bytes;
  region.resize(bytes.size() + 1000, std::byte{0xa5});
  const auto reader =
      BundleReader::open(base::memory_source(region), {}, TrailingBytes::ignore).value();
  EXPECT_EQ(reader.total_bytes(), bytes.size());
  EXPECT_TRUE(reader.verify().has_value());
}

TEST(BundleReader, RefusesTablesThatAreShorterThanTheEntriesOfAGroup) {
  test::CraftedBundle crafted(sample_bytes());
  test::CraftedBundle::Section& exact = crafted.section(SectionKind::exact);
  exact.bytes.clear();
  exact.record.count = 0;
  const BundleReader reader = test::must_open(crafted.build());
  const GroupView group = reader.group(0).value();
  const auto found = reader.find_exact(group, Digest());
  ASSERT_FALSE(found.has_value());
  EXPECT_EQ(found.error().code, ErrorCode::damaged);
  EXPECT_EQ(found.error().message,
            fmt::format("EXACT: it has 0 records, but a group has some from 0 to {}",
                        group.entry_count - 1));
}

TEST(BundleReader, SkipsAnUnknownOptionalSection) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.sections.push_back(
      {{static_cast<SectionKind>(99), k_section_paged, 0, 0, 0, 3}, test::random_bytes(5000, 1)});
  const BundleReader reader = test::must_open(crafted.build());
  EXPECT_EQ(test::contents_of(reader).value(),
            test::contents_of(test::must_open(sample_bytes())).value());
  const auto verified = reader.verify();
  EXPECT_TRUE(verified.has_value()) << verified.error().message;
}

TEST(BundleReader, ChecksAnUnknownOptionalSectionToo) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.sections.push_back(
      {{static_cast<SectionKind>(99), k_section_paged, 0, 0, 0, 3}, test::random_bytes(5000, 1)});
  Bytes bytes = crafted.build();
  bytes[bytes.size() - 100] ^= std::byte{1};
  const auto verified = test::must_open(bytes).verify();
  ASSERT_FALSE(verified.has_value());
  EXPECT_EQ(verified.error().code, ErrorCode::digest_mismatch);
  EXPECT_EQ(verified.error().message,
            "page 1 of section 99: its digest does not match: it was changed");
}

TEST(BundleReader, RefusesAnUnknownRequiredSectionByItsNumber) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.sections.push_back(
      {{static_cast<SectionKind>(99), k_section_paged | k_section_required, 0, 0, 0, 3},
       test::random_bytes(50, 1)});
  const base::Error error = open_error(crafted.build());
  EXPECT_EQ(error.code, ErrorCode::unknown_required_section);
  EXPECT_EQ(error.message, "section 99 is required and not known to this version");
}

TEST(BundleReader, TakesSignaturesAndUnknownOptionalTrailingRecords) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.append_trailing(1, 0, test::random_bytes(96, 1));
  crafted.append_trailing(77, 0, test::random_bytes(3, 2));
  const Bytes bytes = crafted.build();
  const BundleReader reader = test::must_open(bytes);
  EXPECT_EQ(reader.total_bytes(), bytes.size());
  EXPECT_EQ(reader.root_digest(), test::must_open(sample_bytes()).root_digest());
  EXPECT_TRUE(reader.verify().has_value());
}

TEST(BundleReader, RefusesAnUnknownRequiredTrailingRecord) {
  test::CraftedBundle crafted(sample_bytes());
  crafted.append_trailing(1, 0, test::random_bytes(96, 1));
  crafted.append_trailing(77, 1, test::random_bytes(3, 2));
  const base::Error error = open_error(crafted.build());
  EXPECT_EQ(error.code, ErrorCode::unknown_required_section);
  EXPECT_EQ(error.message,
            "trailing record 1 is of kind 77, which is required and not known to this version");
}

TEST(BundleReader, RefusesADirectoryAboveTheLimit) {
  ReadLimits limits;
  limits.max_directory_bytes = 100;
  const base::Error error = open_error(sample_bytes(), limits);
  EXPECT_EQ(error.code, ErrorCode::limit_exceeded);
  EXPECT_THAT(error.message, StartsWith("prefix: directory_bytes "));
  EXPECT_THAT(error.message, HasSubstr("is above the limit of 100 bytes"));
}

TEST(BundleReader, RefusesAPayloadAboveTheLimitBeforeReadingIt) {
  BundleInput input = test::sample_input();
  input.programs[0].entries[0].payload = Bytes(1U << 20U, std::byte{7});
  const auto source = std::make_shared<CountingSource>(test::must_write(input));
  ReadLimits limits;
  limits.max_raw_bytes = (1U << 20U) - 1;
  const auto reader = BundleReader::open(source, limits, TrailingBytes::refuse).value();
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    if (reader.blob(i)->raw_bytes == 1U << 20U) {
      const std::uint64_t read_before = source->m_read_bytes;
      const auto raw = reader.read_blob(i);
      ASSERT_FALSE(raw.has_value());
      EXPECT_EQ(raw.error().code, ErrorCode::limit_exceeded);
      EXPECT_EQ(raw.error().message,
                fmt::format("blob {}: raw_bytes 1048576 is above the limit of 1048575 bytes", i));
      EXPECT_EQ(source->m_read_bytes, read_before);
      return;
    }
  }
  FAIL() << "no such blob";
}

TEST(BundleReader, OpeningReadsPrefixAndDirectoryOnly) {
  const Bytes bytes = test::must_write(test::large_input(1, 2000));
  const auto source = std::make_shared<CountingSource>(bytes);
  const auto reader = BundleReader::open(source, {}, TrailingBytes::refuse).value();
  base::ByteReader prefix(ByteView(bytes).subspan(12), "prefix");
  EXPECT_EQ(source->m_read_bytes, 64U + prefix.read_u32("directory_bytes").value());
  EXPECT_EQ(source->m_last_end, source->m_read_bytes);
}

TEST(BundleReader, SelectingTouchesFewPages) {
  const auto source =
      std::make_shared<CountingSource>(test::must_write(test::large_input(1, 2000)));
  const auto reader = BundleReader::open(source, {}, TrailingBytes::refuse).value();
  const std::uint64_t opened = source->m_read_bytes;
  const GroupView group = reader.find_group("program0", "default").value();
  const auto found =
      reader.find_exact(group, target_digest(test::sample_device("device 1234"))).value();
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LE(source->m_read_bytes - opened, 12U * 4096U);
  // Pages are cached after the first read.
  const std::uint64_t selected = source->m_read_bytes;
  EXPECT_TRUE(reader.find_exact(group, found[0].target.digest).has_value());
  EXPECT_EQ(source->m_read_bytes, selected);
}

TEST(BundleReader, FindsEveryEntryByItsTarget) {
  for (const auto& [groups, entries] : {std::pair(1U, 700U), {20U, 35U}, {700U, 1U}}) {
    const BundleReader reader =
        test::must_open(test::must_write(test::large_input(groups, entries)));
    for (std::uint32_t number = 0; number < groups * entries; ++number) {
      const GroupView group =
          reader.find_group(fmt::format("program{}", number / entries), "default").value();
      const std::string device = fmt::format("device {}", number);
      const auto found = reader.find_exact(group, target_digest(test::sample_device(device)));
      ASSERT_TRUE(found.has_value()) << found.error().message;
      ASSERT_EQ(found->size(), 1U);
      EXPECT_EQ((*found)[0].target.device_name, device);
      EXPECT_EQ((*found)[0].group, group.index);
      EXPECT_EQ(reader.entry((*found)[0].index)->group, group.index);
    }
  }
}

TEST(BundleReader, FindsNothingForATargetOfAnotherGroup) {
  const BundleReader reader = test::must_open(test::must_write(test::large_input(2, 300)));
  const GroupView group = reader.find_group("program0", "default").value();
  const auto found = reader.find_exact(group, target_digest(test::sample_device("device 400")));
  EXPECT_TRUE(found.value().empty());
}

TEST(BundleReader, FindsKeyRangesAsALinearSearchDoes) {
  const BundleReader reader = test::must_open(test::must_write(test::large_input(3, 400)));
  for (const char* program : {"program0", "program1", "program2"}) {
    const GroupView group = reader.find_group(program, "default").value();
    std::vector<std::uint64_t> keys;
    for (std::uint32_t i = 0; i < group.entry_count; ++i) {
      keys.push_back(reader.entry(group.first_entry + i, group)->match_key);
    }
    ASSERT_TRUE(std::is_sorted(keys.begin(), keys.end()));
    std::vector<std::uint64_t> bounds = {0, ~std::uint64_t{0}};
    for (std::size_t i = 0; i < keys.size(); i += 13) {
      bounds.insert(bounds.end(), {keys[i] - 1, keys[i], keys[i] + 1});
    }
    for (const std::uint64_t low : bounds) {
      for (const std::uint64_t high : bounds) {
        const EntryRange range = reader.find_key_range(group, low, high).value();
        const auto count = static_cast<std::uint32_t>(
            std::count_if(keys.begin(), keys.end(),
                          [&](std::uint64_t key) { return low <= key && key <= high; }));
        ASSERT_EQ(range.count, count);
        if (count > 0) {
          const auto first = std::lower_bound(keys.begin(), keys.end(), low) - keys.begin();
          ASSERT_EQ(range.first, group.first_entry + static_cast<std::uint32_t>(first));
        }
      }
    }
  }
}

TEST(BundleReader, NamesTheProgramsAndVariantsThereAre) {
  const BundleReader reader = test::must_open(sample_bytes());
  const auto program = reader.find_group("matmull", "default");
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().code, ErrorCode::no_such_program);
  EXPECT_EQ(program.error().message, "no program 'matmull' (there is: 'matmul', 'reduce')");
  const auto variant = reader.find_group("matmul", "slow");
  ASSERT_FALSE(variant.has_value());
  EXPECT_EQ(variant.error().code, ErrorCode::no_such_variant);
  EXPECT_EQ(variant.error().message,
            "program 'matmul' has no variant 'slow' (there is: 'default', 'fast')");
  const BundleReader large = test::must_open(test::must_write(test::large_input(20, 1)));
  EXPECT_THAT(large.find_group("x", "default").error().message,
              testing::EndsWith("'program15' and 12 more)"));
}

TEST(BundleReader, RefusesIndicesThatAreNone) {
  const BundleReader reader = test::must_open(sample_bytes());
  EXPECT_EQ(reader.group(3).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader.group(3).error().message, "there is no group 3: the bundle has 3");
  EXPECT_EQ(reader.entry(7).error().message, "there is no entry 7: the bundle has 7");
  EXPECT_EQ(reader.blob(k_no_index).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader.read_blob(8).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader.read_frame(8).error().code, ErrorCode::invalid_argument);

  const GroupView group = reader.find_group("reduce", "default").value();
  const std::uint32_t other = group.first_entry == 0 ? group.entry_count : group.first_entry - 1;
  EXPECT_EQ(reader.entry(other, group).error().code, ErrorCode::invalid_argument);

  GroupView foreign = group;
  foreign.first_entry = 4000000000U;
  EXPECT_EQ(reader.find_exact(foreign, {}).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(reader.find_key_range(foreign, 0, 1).error().code, ErrorCode::invalid_argument);
}

TEST(BundleReader, SaysThatThereIsNoSource) {
  const BundleReader reader = test::must_open(sample_bytes());
  const auto source = reader.read_source(reader.find_group("reduce", "default").value());
  ASSERT_FALSE(source.has_value());
  EXPECT_EQ(source.error().code, ErrorCode::no_source);
  EXPECT_EQ(source.error().message, "the bundle does not contain the source of program 'reduce'");
}

TEST(BundleReader, RefusesAChangedPayload) {
  Bytes bytes = sample_bytes();
  const BundleReader intact = test::must_open(bytes);
  bytes[bytes.size() - 9] ^= std::byte{0x10}; // of the last blob
  const BundleReader reader = test::must_open(bytes);
  const auto raw = reader.read_blob(reader.blob_count() - 1);
  ASSERT_FALSE(raw.has_value());
  EXPECT_EQ(raw.error().code, ErrorCode::digest_mismatch);
  EXPECT_EQ(raw.error().message,
            fmt::format("blob {}: stored_digest does not match: it was changed",
                        reader.blob_count() - 1));
  EXPECT_EQ(reader.decompressed_count(), 0U);
  EXPECT_FALSE(reader.read_frame(reader.blob_count() - 1).has_value());
}

TEST(BundleReader, RefusesAPayloadWhoseReferenceWasChanged) {
  const Bytes bytes = sample_bytes();
  const BundleReader intact = test::must_open(bytes);
  test::CraftedBundle crafted(bytes);
  std::size_t checked = 0;
  for (std::uint32_t i = 0; i < intact.blob_count(); ++i) {
    const BlobView blob = intact.blob(i).value();
    if (blob.reference == k_no_index) {
      continue;
    }
    test::CraftedBundle changed(bytes);
    const BlobView reference = intact.blob(blob.reference).value();
    changed.section(SectionKind::payload).bytes[static_cast<std::size_t>(reference.offset)] ^=
        std::byte{1};
    const BundleReader reader = test::must_open(changed.build());
    EXPECT_EQ(reader.read_blob(i).error().code, ErrorCode::digest_mismatch);
    EXPECT_EQ(reader.decompressed_count(), 0U);
    ++checked;
  }
  EXPECT_GT(checked, 0U);
}

TEST(BundleReader, CountsDecompressedFramesAndTheirReferences) {
  const BundleReader reader = test::must_open(sample_bytes());
  std::uint64_t expected = 0;
  for (std::uint32_t i = 0; i < reader.blob_count(); ++i) {
    const BlobView blob = reader.blob(i).value();
    ASSERT_TRUE(reader.read_blob(i).has_value());
    expected += blob.codec == 1 ? 1U : 0U;
    if (blob.reference != k_no_index) {
      expected += reader.blob(blob.reference)->codec == 1 ? 1U : 0U;
    }
    EXPECT_EQ(reader.decompressed_count(), expected);
  }
}

TEST(BundleReader, ReadsAFileAsItReadsMemory) {
  const auto folder = base::TemporaryFolder::create({}, "bundle_reader_test").value();
  const std::filesystem::path path = folder.path() / "a.clbin";
  const Bytes bytes = test::must_write(test::large_input(5, 100));
  ASSERT_TRUE(base::write_output_file(path, bytes).has_value());
  const auto reader =
      BundleReader::open(base::open_file_source(path).value(), {}, TrailingBytes::refuse).value();
  EXPECT_EQ(reader.name(), path.string());
  EXPECT_TRUE(reader.verify().has_value());
  EXPECT_EQ(test::contents_of(reader).value(), test::contents_of(test::must_open(bytes)).value());
}

TEST(BundleReader, MayBeUsedFromManyThreadsAtOnce) {
  const BundleReader reader = test::must_open(test::must_write(test::large_input(10, 50)));
  std::atomic<std::uint32_t> found_count{0};
  std::vector<std::thread> threads;
  for (std::uint32_t t = 0; t < 4; ++t) {
    threads.emplace_back([&reader, &found_count, t] {
      for (std::uint32_t number = t; number < 500; number += 2) {
        const auto group = reader.find_group(fmt::format("program{}", number / 50), "default");
        const auto found = reader.find_exact(
            *group, target_digest(test::sample_device(fmt::format("device {}", number))));
        if (found && found->size() == 1 && reader.read_blob((*found)[0].blob)) {
          ++found_count;
        }
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(found_count, 250U + 250U + 249U + 249U);
}

} // namespace
} // namespace clbin::format
