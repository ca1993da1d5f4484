#include "clbin/clbin.h"

#include "base/file_io.hpp"
#include "base/json_document.hpp"
#include "format/bundle/bundle_reader.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "matching/vendor_rules.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_bundle.hpp"
#include "support/sample_identities.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>

namespace clbin {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Takes ownership of the error. Returns its message, or "" if there is no error.
std::string take_message(clbin_error*& error) {
  const std::string message = clbin_error_message(error);
  clbin_error_free(error);
  error = nullptr;
  return message;
}

// Returns a struct with its size and nothing else.
template <typename Struct>
Struct sized() {
  Struct result{};
  result.struct_size = sizeof(result);
  return result;
}

// Returns a struct that `function` fills.
template <typename Struct, typename Function, typename... Arguments>
Struct filled(const Function& function, Arguments... arguments) {
  auto result = sized<Struct>();
  EXPECT_EQ(function(arguments..., &result), CLBIN_SUCCESS);
  EXPECT_EQ(result.struct_size, sizeof(result));
  return result;
}

// `fill` fills its argument. An older version does not have the member at `offset_of_last`.
template <typename Struct, typename Fill>
void expect_fills_older_and_newer_versions(std::size_t offset_of_last, const Fill& fill) {
  struct Newer {
    Struct known;
    uint64_t added;
  } newer{};
  newer.known.struct_size = sizeof(newer);
  newer.added = 7;
  EXPECT_EQ(fill(&newer.known), CLBIN_SUCCESS);
  EXPECT_EQ(newer.known.struct_size, sizeof(newer));
  EXPECT_EQ(newer.added, 0U);

  Struct older{};
  std::memset(static_cast<void*>(&older), 0x5a, sizeof(older));
  older.struct_size = offset_of_last;
  EXPECT_EQ(fill(&older), CLBIN_SUCCESS);
  EXPECT_EQ(older.struct_size, offset_of_last);
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&older);
  EXPECT_TRUE(std::all_of(bytes + offset_of_last, bytes + sizeof(older), [](unsigned char byte) {
    return byte == 0x5a;
  })) << "writes beyond the older struct";

  for (const std::size_t size :
       {std::size_t{0}, sizeof(std::size_t) - 1, std::numeric_limits<std::size_t>::max()}) {
    older.struct_size = size;
    EXPECT_EQ(fill(&older), CLBIN_ERROR_INVALID_ARGUMENT);
  }
  EXPECT_EQ(fill(nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
}

// Returns the index of the entry of the first group that was not made for an offline target.
std::size_t entry_of_a_device(const clbin_listing* listing) {
  const auto first =
      filled<clbin_entry>(clbin_listing_entry, listing, std::size_t{0}, std::size_t{0});
  return *first.target_spec == '\0' ? 0 : 1;
}

class CApi : public ::testing::Test {
protected:
  CApi() : m_bytes(test::sample_bundle()) {
    EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), nullptr, &m_bundle, &m_error),
              CLBIN_SUCCESS)
        << take_message(m_error);
  }

  ~CApi() override {
    clbin_error_free(m_error);
    clbin_close(m_bundle);
  }

  base::Bytes m_bytes;
  clbin_bundle* m_bundle = nullptr;
  clbin_error* m_error = nullptr;
};

TEST(CApiStatus, HasANameForEveryNumber) {
  EXPECT_STREQ(clbin_status_name(CLBIN_SUCCESS), "CLBIN_SUCCESS");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_TRUNCATED), "CLBIN_ERROR_TRUNCATED");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_SEVERAL_DEVICES_REFUSED),
               "CLBIN_ERROR_SEVERAL_DEVICES_REFUSED");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_NOT_SIGNED), "CLBIN_ERROR_NOT_SIGNED");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_UNTRUSTED_KEY), "CLBIN_ERROR_UNTRUSTED_KEY");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_BAD_SIGNATURE), "CLBIN_ERROR_BAD_SIGNATURE");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_OLD_COUNTER), "CLBIN_ERROR_OLD_COUNTER");
  EXPECT_STREQ(clbin_status_name(CLBIN_ERROR_WRONG_KEY), "CLBIN_ERROR_WRONG_KEY");
  EXPECT_STREQ(clbin_status_name(static_cast<clbin_status>(59)), "unknown status");
}

TEST(CApiStatus, TellsTheVersionOfTheLibrary) {
  EXPECT_EQ(clbin_version(), static_cast<uint32_t>(CLBIN_VERSION_NUMBER));
}

int append_text(const char* text, size_t size_bytes, void* user_data) {
  static_cast<std::string*>(user_data)->append(text, size_bytes);
  return 0;
}

TEST(CApiOpen, SaysWhichFileCannotBeOpened) {
  clbin_bundle* bundle = nullptr;
  clbin_error* error = nullptr;
  EXPECT_EQ(clbin_open("/nowhere/x.clbin", nullptr, &bundle, &error), CLBIN_ERROR_FILE_NOT_FOUND);
  EXPECT_EQ(bundle, nullptr);
  EXPECT_EQ(take_message(error), "cannot open '/nowhere/x.clbin': No such file or directory");
}

TEST(CApiOpen, RefusesWhatIsNoBundle) {
  clbin_bundle* bundle = nullptr;
  const std::string text(100, 'x');
  EXPECT_EQ(clbin_open_memory(text.data(), text.size(), nullptr, &bundle, nullptr),
            CLBIN_ERROR_NOT_A_BUNDLE);
  EXPECT_EQ(bundle, nullptr);
}

TEST_F(CApi, OpensAFile) {
  const auto folder = base::TemporaryFolder::create({}, "clbin-test");
  ASSERT_TRUE(folder.has_value()) << folder.error().message;
  const std::string path = (folder->path() / "x.clbin").string();
  ASSERT_TRUE(base::write_output_file(path, m_bytes).has_value());
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(clbin_open(path.c_str(), nullptr, &bundle, &m_error), CLBIN_SUCCESS)
      << take_message(m_error);
  EXPECT_EQ(clbin_verify(bundle, &m_error), CLBIN_SUCCESS) << take_message(m_error);
  clbin_close(bundle);
}

// A file of a bundle in a folder of its own, opened.
class CApiCurrent : public CApi {
protected:
  CApiCurrent() {
    write(m_path);
    open(m_path);
  }
  ~CApiCurrent() override { clbin_close(m_opened); }

  void write(const fs::path& path) const {
    std::ofstream file(path, std::ios::binary); // keeps the file that is there
    file.write(reinterpret_cast<const char*>(m_bytes.data()),
               static_cast<std::streamsize>(m_bytes.size()));
  }
  void open(const fs::path& path) {
    clbin_close(m_opened);
    m_opened = nullptr;
    ASSERT_EQ(clbin_open(path.string().c_str(), nullptr, &m_opened, nullptr), CLBIN_SUCCESS);
  }
  // Times of files are coarse: a change in the same tick could not be seen.
  void let_time_pass() const {
    const auto before = fs::last_write_time(m_path);
    const fs::path other = m_folder->path() / "clock";
    do {
      std::ofstream(other) << 'x';
    } while (fs::last_write_time(other) <= before);
  }

  base::Result<base::TemporaryFolder> m_folder = base::TemporaryFolder::create({}, "clbin-test");
  fs::path m_path = m_folder->path() / "x.clbin";
  clbin_bundle* m_opened = nullptr;
};

TEST_F(CApiCurrent, IsTheFileThatWasOpened) {
  EXPECT_EQ(clbin_is_current(m_opened), 1);
  EXPECT_EQ(clbin_verify(m_opened, nullptr), CLBIN_SUCCESS);
  EXPECT_EQ(clbin_is_current(m_opened), 1); // reading changes nothing
}

TEST_F(CApiCurrent, IsNotAFileThatReplacedIt) {
  ASSERT_TRUE(base::write_output_file(m_path, m_bytes).has_value()); // by renaming a new file
  EXPECT_EQ(clbin_is_current(m_opened), 0);
  EXPECT_EQ(clbin_verify(m_opened, nullptr), CLBIN_SUCCESS); // the old one stays usable
  open(m_path);
  EXPECT_EQ(clbin_is_current(m_opened), 1);
}

TEST_F(CApiCurrent, IsNotAFileThatWasWrittenSince) {
  let_time_pass();
  const auto time = fs::last_write_time(m_path);
  write(m_path);
  EXPECT_EQ(clbin_is_current(m_opened), 0);
  fs::last_write_time(m_path, time); // as cp -p does
  EXPECT_EQ(clbin_is_current(m_opened), 0);
}

TEST_F(CApiCurrent, IsNotAFileThatIsGone) {
  fs::rename(m_path, m_folder->path() / "elsewhere");
  EXPECT_EQ(clbin_is_current(m_opened), 0);
  open(m_folder->path() / "elsewhere");
  std::error_code error;
  fs::remove_all(m_folder->path(), error);
  if (error == std::errc::permission_denied) {
    GTEST_SKIP() << "this system does not remove the folder of an open file";
  }
  EXPECT_EQ(clbin_is_current(m_opened), 0);
}

TEST_F(CApiCurrent, FollowsLinksAndRelativePaths) {
  const fs::path link = m_folder->path() / "link";
  std::error_code error;
  fs::create_symlink("x.clbin", link, error);
  if (error == std::errc::function_not_supported) {
    GTEST_SKIP() << "the C++ library of MinGW-w64 creates no links";
  }
  ASSERT_FALSE(error) << error.message();
  const fs::path folder = fs::current_path();
  fs::current_path(m_folder->path());
  open("link");
  fs::current_path(folder);
  EXPECT_EQ(clbin_is_current(m_opened), 1);
  write(m_folder->path() / "y.clbin");
  fs::remove(link);
  fs::create_symlink("y.clbin", link);
  EXPECT_EQ(clbin_is_current(m_opened), 0);
}

TEST_F(CApi, IsAlwaysCurrentInMemoryAndBehindACallback) {
  EXPECT_EQ(clbin_is_current(m_bundle), 1);
  EXPECT_EQ(clbin_is_current(nullptr), 0);
  const auto read = [](uint64_t offset, void* buffer, size_t size, void* bytes) {
    std::memcpy(buffer, static_cast<base::Bytes*>(bytes)->data() + offset, size);
    return 0;
  };
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(clbin_open_callback(read, &m_bytes, m_bytes.size(), nullptr, &bundle, nullptr),
            CLBIN_SUCCESS);
  EXPECT_EQ(clbin_is_current(bundle), 1);
  clbin_close(bundle);
}

TEST_F(CApi, IgnoresWhatFollowsTheBundleInMemory) {
  m_bytes.resize(m_bytes.size() + 100, std::byte{0x5a});
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), nullptr, &bundle, &m_error),
            CLBIN_SUCCESS)
      << take_message(m_error);
  clbin_close(bundle);
}

TEST_F(CApi, RefusesNullArguments) {
  clbin_bundle* bundle = nullptr;
  clbin_listing* listing = nullptr;
  clbin_selection* selection = nullptr;
  clbin_identity identity{};
  identity.struct_size = sizeof(identity);
  EXPECT_EQ(clbin_open(nullptr, nullptr, &bundle, &m_error), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'path' is NULL");
  EXPECT_EQ(clbin_open("x", nullptr, nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_open_memory(nullptr, 0, nullptr, &bundle, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_verify(nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_list(nullptr, &listing, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_list(m_bundle, nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_list_json(nullptr, append_text, nullptr, &m_error), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'bundle' is NULL");
  EXPECT_EQ(clbin_list_json(m_bundle, nullptr, nullptr, &m_error), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'write' is NULL");
  EXPECT_EQ(clbin_select(m_bundle, nullptr, "saxpy", nullptr, &selection, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'identity' is NULL");
  EXPECT_EQ(clbin_select(m_bundle, &identity, nullptr, nullptr, &selection, nullptr),
            CLBIN_ERROR_INVALID_ARGUMENT);
}

TEST(CApiNull, IsHarmlessForFunctionsWithoutAStatus) {
  clbin_close(nullptr);
  clbin_error_free(nullptr);
  clbin_listing_free(nullptr);
  clbin_selection_free(nullptr);
  clbin_report_free(nullptr);
  EXPECT_STREQ(clbin_error_message(nullptr), "");
  EXPECT_EQ(clbin_listing_group_count(nullptr), 0U);
  EXPECT_EQ(clbin_listing_group(nullptr, 0, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  auto kernel = sized<clbin_kernel>();
  EXPECT_EQ(clbin_listing_kernel(nullptr, 0, 0, 0, &kernel), CLBIN_ERROR_INVALID_ARGUMENT);
  auto selection = sized<clbin_selection_info>();
  EXPECT_EQ(clbin_selection_get(nullptr, &selection), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(selection.data, nullptr);
  EXPECT_EQ(selection.size_bytes, 0U);
  EXPECT_EQ(selection.kernel_count, 0U);
  auto report = sized<clbin_report_info>();
  EXPECT_EQ(clbin_report_get(nullptr, &report), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(report.origin, CLBIN_ORIGIN_NONE);
  EXPECT_EQ(report.attempt_count, 0U);
  auto attempt = sized<clbin_attempt>();
  EXPECT_EQ(clbin_report_attempt(nullptr, 0, &attempt), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_STREQ(clbin_report_text(nullptr), "");
}

TEST_F(CApi, KeepsToTheLimitsOfTheCaller) {
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.max_directory_bytes = 1;
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_ERROR_LIMIT_EXCEEDED);
  options.max_directory_bytes = 0;
  options.max_raw_bytes = 3;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_SUCCESS);
  EXPECT_EQ(clbin_verify(bundle, nullptr), CLBIN_ERROR_LIMIT_EXCEEDED);
  clbin_close(bundle);
}

TEST_F(CApi, KeepsToTheLimitsOfOneCall) {
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.max_total_raw_bytes = 40; // each payload is larger
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_SUCCESS);
  EXPECT_EQ(clbin_verify(bundle, &m_error), CLBIN_ERROR_LIMIT_EXCEEDED);
  EXPECT_THAT(take_message(m_error),
              HasSubstr(": the call needs more than its limit of 40 raw bytes"));
  clbin_close(bundle);

  options.max_total_raw_bytes = 0;
  options.max_memory_bytes = 100;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_SUCCESS);
  clbin_listing* listing = nullptr;
  EXPECT_EQ(clbin_list(bundle, &listing, &m_error), CLBIN_ERROR_LIMIT_EXCEEDED);
  EXPECT_THAT(take_message(m_error), HasSubstr("the call needs more than its limit of 100 bytes of "
                                               "memory besides payloads"));
  EXPECT_EQ(listing, nullptr);
  clbin_close(bundle);

  // A program compiled against a version without these fields.
  options.struct_size = offsetof(clbin_open_options, max_total_raw_bytes);
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_SUCCESS);
  EXPECT_EQ(clbin_list(bundle, &listing, nullptr), CLBIN_SUCCESS);
  clbin_listing_free(listing);
  clbin_close(bundle);
}

TEST_F(CApi, TakesStructsOfOlderAndNewerVersions) {
  struct Newer {
    clbin_open_options known;
    uint64_t added;
  } newer{};
  newer.known.struct_size = sizeof(newer);
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &newer.known, &bundle, nullptr),
            CLBIN_SUCCESS);
  clbin_close(bundle);
  newer.added = 1;
  EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &newer.known, &bundle, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(take_message(m_error), HasSubstr("clbin_open_options sets a member that version"));

  clbin_open_options older{};
  older.struct_size = sizeof(older.struct_size) + sizeof(older.max_directory_bytes);
  older.max_raw_bytes = 1; // beyond the older struct: ignored
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &older, &bundle, nullptr),
            CLBIN_SUCCESS);
  EXPECT_EQ(clbin_verify(bundle, nullptr), CLBIN_SUCCESS);
  clbin_close(bundle);
}

TEST_F(CApi, RefusesAStructSizeThatWasNotSet) {
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{3}, std::numeric_limits<std::size_t>::max()}) {
    clbin_open_options options{};
    options.struct_size = size;
    clbin_bundle* bundle = nullptr;
    EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, &m_error),
              CLBIN_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(take_message(m_error), HasSubstr("set it to sizeof(clbin_open_options)"));
  }
}

TEST_F(CApi, WritesTheListingAsJson) {
  std::string text;
  ASSERT_EQ(clbin_list_json(m_bundle, append_text, &text, &m_error), CLBIN_SUCCESS)
      << take_message(m_error);
  const auto document = base::parse_json(base::as_bytes(text), {});
  ASSERT_TRUE(document.has_value()) << document.error().message;
  EXPECT_EQ(text, base::write_json(*document, base::JsonLayout::indented));
  EXPECT_THAT(text, HasSubstr("\"errors\": [],\n      \"file\": \"memory\""));
  EXPECT_THAT(text, HasSubstr("\"program\": \"saxpy\""));
  EXPECT_THAT(text, HasSubstr("\"spec\": \"nvptx:sm_70\""));
}

TEST_F(CApi, ListsWhatItCanReadOfADamagedBundle) {
  m_bytes[m_bytes.size() - 9] ^= std::byte{1}; // in the last payload, source or manifest
  std::string text;
  EXPECT_EQ(clbin_list_json(m_bundle, append_text, &text, &m_error), CLBIN_ERROR_DIGEST_MISMATCH);
  const std::string message = take_message(m_error);
  EXPECT_THAT(message, testing::StartsWith("memory: "));
  EXPECT_THAT(text, HasSubstr("\"code\": 35,\n          \"message\": \"" + message + "\""));
  EXPECT_THAT(text, HasSubstr("\"program\": \"saxpy\""));
  EXPECT_TRUE(base::parse_json(base::as_bytes(text), {}).has_value());
}

TEST_F(CApi, EndsTheListingThatCannotBeWritten) {
  int calls = 0;
  const auto refuse = [](const char*, size_t, void* user_data) {
    ++*static_cast<int*>(user_data);
    return 1;
  };
  EXPECT_EQ(clbin_list_json(m_bundle, refuse, &calls, &m_error), CLBIN_ERROR_FILE_WRITE);
  EXPECT_EQ(take_message(m_error), "memory: 'write' did not accept its listing");
  EXPECT_EQ(calls, 1);
}

TEST_F(CApi, KeepsToTheLimitsOfTheCallerInAListingAsJson) {
  clbin_open_options options{};
  options.struct_size = sizeof(options);
  options.max_memory_bytes = 100;
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &bundle, nullptr),
            CLBIN_SUCCESS);
  std::string text;
  EXPECT_EQ(clbin_list_json(bundle, append_text, &text, &m_error), CLBIN_ERROR_LIMIT_EXCEEDED);
  EXPECT_THAT(take_message(m_error), HasSubstr("the call needs more than its limit of 100 bytes of "
                                               "memory besides payloads"));
  EXPECT_THAT(text, HasSubstr("\"groups\": []"));
  clbin_close(bundle);
}

TEST(CApiListing, NamesTheExtensionsOfVariantsAndEntries) {
  format::BundleInput input{"test", {{"p", std::nullopt, {{"half", "-DHALF", {"b", "a"}}}, {}}}};
  format::EntryInput& entry = input.programs.front().entries.emplace_back();
  entry.variant = "half";
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = "nvptx:sm_70";
  entry.options = "-DHALF -cl-ext=+a,+cl_khr_fp16,-a -cl-ext=+b";
  entry.payload = base::Bytes{std::byte{1}};
  const auto bytes = format::write_bundle(input, {});
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  clbin_bundle* bundle = nullptr;
  clbin_listing* listing = nullptr;
  constexpr std::size_t first = 0;
  ASSERT_EQ(clbin_open_memory(bytes->data(), bytes->size(), nullptr, &bundle, nullptr),
            CLBIN_SUCCESS);
  ASSERT_EQ(clbin_list(bundle, &listing, nullptr), CLBIN_SUCCESS);
  EXPECT_STREQ(filled<clbin_group>(clbin_listing_group, listing, first).required, "a b");
  EXPECT_STREQ(filled<clbin_entry>(clbin_listing_entry, listing, first, first).extensions,
               "cl_khr_fp16 b");
  clbin_listing_free(listing);
  std::string json;
  const auto write = [](const char* text, std::size_t size, void* to) {
    static_cast<std::string*>(to)->append(text, size);
    return 0;
  };
  EXPECT_EQ(clbin_list_json(bundle, write, &json, nullptr), CLBIN_SUCCESS);
  std::erase_if(json, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_THAT(json, HasSubstr("\"extensions\":[\"cl_khr_fp16\",\"b\"]"));
  EXPECT_THAT(json, HasSubstr("\"requires\":[\"a\",\"b\"]"));
  clbin_close(bundle);
}

TEST_F(CApi, ListsWhatIsInside) {
  constexpr std::size_t first = 0;
  clbin_listing* listing = nullptr;
  ASSERT_EQ(clbin_list(m_bundle, &listing, &m_error), CLBIN_SUCCESS) << take_message(m_error);
  ASSERT_EQ(clbin_listing_group_count(listing), 2U);
  const auto group = filled<clbin_group>(clbin_listing_group, listing, first);
  EXPECT_STREQ(group.program, "saxpy");
  EXPECT_STREQ(group.variant, "default");
  EXPECT_EQ(group.has_source, 1);
  ASSERT_EQ(group.entry_count, 2U);
  const auto fast = filled<clbin_group>(clbin_listing_group, listing, std::size_t{1});
  EXPECT_STREQ(fast.variant, "fast");
  EXPECT_STREQ(fast.options, "-DV=1 -cl-fast-relaxed-math");
  EXPECT_EQ(fast.entry_count, 0U);
  const std::size_t own = entry_of_a_device(listing);
  const std::size_t ptx = 1 - own;
  auto entry = filled<clbin_entry>(clbin_listing_entry, listing, first, own);
  EXPECT_STREQ(entry.platform, "Platform of d");
  EXPECT_STREQ(entry.device, "d");
  EXPECT_STREQ(entry.driver_version, "1.0");
  EXPECT_STREQ(entry.options, "-DV=1");
  EXPECT_EQ(std::string(entry.raw_digest),
            base::to_hex(base::digest_of(base::as_bytes(test::k_sample_payload))));
  EXPECT_EQ(entry.raw_bytes, std::string(test::k_sample_payload).size());
  EXPECT_GT(entry.stored_bytes, 0U);
  ASSERT_EQ(entry.kernel_count, 1U);
  auto kernel = filled<clbin_kernel>(clbin_listing_kernel, listing, first, own, first);
  EXPECT_STREQ(kernel.name, "saxpy");
  ASSERT_EQ(kernel.argument_count, 2);
  EXPECT_THAT(kernel.required_work_group_size, ElementsAre(16, 4, 1));
  auto argument =
      filled<clbin_argument>(clbin_listing_argument, listing, first, own, first, std::size_t{1});
  EXPECT_STREQ(argument.name, "values");
  EXPECT_STREQ(argument.type, "float*");
  entry = filled<clbin_entry>(clbin_listing_entry, listing, first, ptx);
  EXPECT_STREQ(entry.target_spec, "nvptx:sm_70");
  EXPECT_STREQ(entry.format, "PTX 7.5 for sm_70");
  kernel = filled<clbin_kernel>(clbin_listing_kernel, listing, first, ptx, first);
  EXPECT_EQ(kernel.argument_count, -1);
  EXPECT_THAT(kernel.required_work_group_size, ElementsAre(0, 0, 0));
  clbin_listing_free(listing);
}

TEST_F(CApi, RefusesAnIndexOfTheListingThatIsTooLarge) {
  clbin_listing* listing = nullptr;
  ASSERT_EQ(clbin_list(m_bundle, &listing, &m_error), CLBIN_SUCCESS) << take_message(m_error);
  const std::size_t own = entry_of_a_device(listing);
  auto group = sized<clbin_group>();
  auto entry = sized<clbin_entry>();
  auto kernel = sized<clbin_kernel>();
  auto argument = sized<clbin_argument>();
  EXPECT_EQ(clbin_listing_group(listing, 2, &group), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(group.program, nullptr);
  EXPECT_EQ(clbin_listing_entry(listing, 0, 2, &entry), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_listing_entry(listing, 2, 0, &entry), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(entry.device, nullptr);
  EXPECT_EQ(clbin_listing_kernel(listing, 0, own, 1, &kernel), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_listing_kernel(listing, 0, 2, 0, &kernel), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(kernel.name, nullptr);
  EXPECT_EQ(clbin_listing_argument(listing, 0, own, 0, 2, &argument), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_listing_argument(listing, 0, own, 1, 0, &argument), CLBIN_ERROR_INVALID_ARGUMENT);
  // The arguments of the PTX's kernel are unknown.
  EXPECT_EQ(clbin_listing_argument(listing, 0, 1 - own, 0, 0, &argument),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(argument.name, nullptr);
  clbin_listing_free(listing);
}

TEST_F(CApi, FillsAListingOfOlderAndNewerVersions) {
  clbin_listing* listing = nullptr;
  ASSERT_EQ(clbin_list(m_bundle, &listing, &m_error), CLBIN_SUCCESS) << take_message(m_error);
  const std::size_t own = entry_of_a_device(listing);
  expect_fills_older_and_newer_versions<clbin_group>(
      offsetof(clbin_group, has_source),
      [&](clbin_group* group) { return clbin_listing_group(listing, 0, group); });
  expect_fills_older_and_newer_versions<clbin_entry>(
      offsetof(clbin_entry, kernel_count),
      [&](clbin_entry* entry) { return clbin_listing_entry(listing, 0, own, entry); });
  expect_fills_older_and_newer_versions<clbin_kernel>(
      offsetof(clbin_kernel, argument_count),
      [&](clbin_kernel* kernel) { return clbin_listing_kernel(listing, 0, own, 0, kernel); });
  expect_fills_older_and_newer_versions<clbin_argument>(
      offsetof(clbin_argument, type), [&](clbin_argument* argument) {
        return clbin_listing_argument(listing, 0, own, 0, 1, argument);
      });
  clbin_listing_free(listing);
}

// Reads from bytes like a caller's function, and counts its calls.
struct CallerFile {
  const base::Bytes& bytes;
  int calls = 0;
  int answer = 0;
  std::uint64_t fails_from = std::numeric_limits<std::uint64_t>::max();

  static int read(uint64_t offset, void* buffer, size_t size_bytes, void* user_data) {
    auto& file = *static_cast<CallerFile*>(user_data);
    ++file.calls;
    EXPECT_LE(offset, file.bytes.size());
    EXPECT_LE(size_bytes, file.bytes.size() - offset);
    if (offset + size_bytes > file.fails_from) {
      return file.answer;
    }
    std::copy_n(file.bytes.begin() + static_cast<std::ptrdiff_t>(offset), size_bytes,
                static_cast<std::byte*>(buffer));
    return 0;
  }
};

TEST_F(CApi, OpensABundleThatTheCallerReads) {
  CallerFile file{m_bytes};
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(
      clbin_open_callback(&CallerFile::read, &file, m_bytes.size(), nullptr, &bundle, &m_error),
      CLBIN_SUCCESS)
      << take_message(m_error);
  EXPECT_GT(file.calls, 0);
  EXPECT_EQ(clbin_verify(bundle, &m_error), CLBIN_SUCCESS) << take_message(m_error);
  clbin_close(bundle);
}

TEST_F(CApi, ReportsAReadThatTheCallerFails) {
  CallerFile file{m_bytes, 0, 5, 0};
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(
      clbin_open_callback(&CallerFile::read, &file, m_bytes.size(), nullptr, &bundle, &m_error),
      CLBIN_ERROR_FILE_READ);
  EXPECT_THAT(take_message(m_error), HasSubstr("at offset 0 failed with code 5"));
  EXPECT_EQ(bundle, nullptr);

  file.fails_from = m_bytes.size() - 1;
  ASSERT_EQ(
      clbin_open_callback(&CallerFile::read, &file, m_bytes.size(), nullptr, &bundle, nullptr),
      CLBIN_SUCCESS);
  EXPECT_EQ(clbin_verify(bundle, &m_error), CLBIN_ERROR_FILE_READ);
  EXPECT_THAT(take_message(m_error), HasSubstr("failed with code 5"));
  clbin_close(bundle);
}

TEST_F(CApi, RefusesAWrongSizeOfWhatTheCallerReads) {
  CallerFile file{m_bytes};
  clbin_bundle* bundle = nullptr;
  EXPECT_EQ(
      clbin_open_callback(&CallerFile::read, &file, m_bytes.size() - 1, nullptr, &bundle, nullptr),
      CLBIN_ERROR_TRUNCATED);
  m_bytes.push_back(std::byte{0});
  EXPECT_EQ(
      clbin_open_callback(&CallerFile::read, &file, m_bytes.size(), nullptr, &bundle, nullptr),
      CLBIN_ERROR_TRAILING_BYTES);
  EXPECT_EQ(clbin_open_callback(nullptr, &file, 1, nullptr, &bundle, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'read' is NULL");
  m_bytes.pop_back();
}

clbin_identity nvidia(const char* architecture) {
  clbin_identity identity{};
  identity.struct_size = sizeof(identity);
  identity.platform_name = "NVIDIA CUDA";
  identity.vendor = "NVIDIA Corporation";
  identity.vendor_id = 0x10de;
  identity.driver_version = "580.159.03";
  identity.device_version = "OpenCL 3.0 CUDA";
  identity.architecture = architecture;
  identity.address_bits = 64;
  return identity;
}

TEST_F(CApi, SelectsACompatibleEntryWithoutOpenCl) {
  const clbin_identity identity = nvidia("sm_80");
  clbin_selection* selection = nullptr;
  ASSERT_EQ(clbin_select(m_bundle, &identity, "saxpy", nullptr, &selection, &m_error),
            CLBIN_SUCCESS)
      << take_message(m_error);
  const auto info = filled<clbin_selection_info>(clbin_selection_get, selection);
  EXPECT_STREQ(info.rule, "compatible");
  EXPECT_EQ(info.rule_number, CLBIN_RULE_COMPATIBLE);
  EXPECT_STREQ(info.format, "PTX 7.5 for sm_70");
  EXPECT_STREQ(info.options, "-DV=1");
  ASSERT_EQ(info.kernel_count, 1U);
  EXPECT_STREQ(info.kernels[0], "saxpy");
  EXPECT_TRUE(std::string_view(static_cast<const char*>(info.data), info.size_bytes)
                  .starts_with("//\n.version 7.5\n"));
  expect_fills_older_and_newer_versions<clbin_selection_info>(
      offsetof(clbin_selection_info, kernel_count),
      [&](clbin_selection_info* filled) { return clbin_selection_get(selection, filled); });
  clbin_selection_free(selection);
}

TEST_F(CApi, SelectsTheEntryOfThisVeryDevice) {
  const format::DeviceIdentity d = test::unknown_identity("d");
  clbin_identity identity{};
  identity.struct_size = sizeof(identity);
  identity.platform_name = d.platform_name.c_str();
  identity.platform_version = d.platform_version.c_str();
  identity.vendor = d.vendor.c_str();
  identity.device_name = d.device_name.c_str();
  identity.vendor_id = d.vendor_id;
  identity.driver_version = d.driver_version.c_str();
  identity.device_version = d.device_version.c_str();
  identity.opencl_c_versions = "OpenCL C 1.2\n";
  identity.address_bits = d.address_bits;
  clbin_selection* selection = nullptr;
  ASSERT_EQ(clbin_select(m_bundle, &identity, "saxpy", "default", &selection, &m_error),
            CLBIN_SUCCESS)
      << take_message(m_error);
  const auto info = filled<clbin_selection_info>(clbin_selection_get, selection);
  EXPECT_STREQ(info.rule, "exact identity");
  EXPECT_EQ(std::string(static_cast<const char*>(info.data), info.size_bytes),
            test::k_sample_payload);
  clbin_selection_free(selection);
}

format::EntryInput ptx_entry(const std::string& architecture, const std::string& options,
                             const std::string& comment = "") {
  format::EntryInput entry;
  entry.variant = "default";
  entry.target.origin = format::TargetOrigin::offline;
  entry.target.spec = "nvptx:" + architecture;
  entry.target.identity.architecture = architecture;
  entry.target.identity.address_bits = 64;
  entry.options = options;
  const std::string ptx = "//" + comment + "\n.version 7.5\n.target " + architecture +
                          ", texmode_independent\n.address_size 64\n.visible .entry p()\n"
                          "{\n ret;\n}\n";
  const base::ByteView view = base::as_bytes(ptx);
  entry.payload = base::Bytes(view.begin(), view.end());
  entry.kernels.emplace_back().name = "p";
  return entry;
}

base::Bytes bundle_of(std::vector<format::EntryInput> entries,
                      std::vector<format::PackRecord> packs = {}) {
  format::ProgramInput program;
  program.name = "p";
  program.variants = {{"default", ""}};
  program.entries = std::move(entries);
  format::WriteOptions options;
  options.packs = std::move(packs);
  const auto written = format::write_bundle({"test", {program}}, options);
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return written.value_or(base::Bytes());
}

TEST(CApiSelect, RefusesRecordedOptionsThatALoadRefuses) {
  const clbin_identity identity = nvidia("sm_80");
  for (const bool has_older : {false, true}) {
    // The newer one records an option that makes the compiler read a file.
    std::vector<format::EntryInput> entries = {ptx_entry("sm_70", "-I/etc")};
    if (has_older) {
      entries.push_back(ptx_entry("sm_50", "-DOLDER"));
    }
    const base::Bytes bytes = bundle_of(std::move(entries));
    clbin_bundle* bundle = nullptr;
    ASSERT_EQ(clbin_open_memory(bytes.data(), bytes.size(), nullptr, &bundle, nullptr),
              CLBIN_SUCCESS);
    clbin_selection* selection = nullptr;
    clbin_error* error = nullptr;
    const clbin_status status = clbin_select(bundle, &identity, "p", nullptr, &selection, &error);
    if (has_older) {
      ASSERT_EQ(status, CLBIN_SUCCESS) << take_message(error);
      EXPECT_STREQ(filled<clbin_selection_info>(clbin_selection_get, selection).options, "-DOLDER");
    } else {
      EXPECT_EQ(status, CLBIN_ERROR_UNSAFE_OPTIONS);
      EXPECT_THAT(take_message(error), HasSubstr("'-I/etc'"));
    }
    clbin_selection_free(selection);
    clbin_close(bundle);
  }
}

// Writes a base and two packs; the text of the better entry is longer than the limit of a call.
TEST(CApiSelect, PassesOverAPackWhoseEntriesExceedTheLimits) {
  constexpr std::size_t k_limit = 4096;
  const base::TemporaryFolder folder = base::TemporaryFolder::create({}, "clbin-test").value();
  std::vector<format::PackRecord> records;
  for (const auto& [name, entry] :
       {std::pair("newer", ptx_entry("sm_70", "", std::string(k_limit, 'x'))),
        std::pair("older", ptx_entry("sm_50", "-DOLDER"))}) {
    base::Bytes bytes = bundle_of({entry});
    const auto path = format::pack_path(folder.path(), name);
    ASSERT_TRUE(base::write_output_file(path, bytes).has_value());
    const auto pack = format::BundleReader::open_file(path).value();
    const format::EntryView view = pack.entry(0).value();
    records.push_back({view.match_key, base::leading_u64(view.target.digest), pack.root_digest(),
                       std::string(name)});
  }
  ASSERT_TRUE(base::write_output_file(format::pack_path(folder.path(), format::k_base_name),
                                      bundle_of({}, records)));
  auto options = sized<clbin_open_options>();
  options.max_total_raw_bytes = k_limit;
  clbin_bundle* bundle = nullptr;
  clbin_error* error = nullptr;
  ASSERT_EQ(clbin_open_set(folder.path().c_str(), &options, &bundle, &error), CLBIN_SUCCESS)
      << take_message(error);
  const clbin_identity identity = nvidia("sm_80");
  clbin_selection* selection = nullptr;
  ASSERT_EQ(clbin_select(bundle, &identity, "p", nullptr, &selection, &error), CLBIN_SUCCESS)
      << take_message(error);
  EXPECT_STREQ(filled<clbin_selection_info>(clbin_selection_get, selection).options, "-DOLDER");
  clbin_selection_free(selection);
  clbin_close(bundle);
}

// An application that passes binaries to the driver has no quarantine for one that crashes it.
TEST(CApiSelect, LeavesOutEntriesForAWholeSeriesOfGpus) {
  for (const char* name : {"Adreno(TM) 740", "Adreno(TM) 7xx"}) {
    format::EntryInput entry;
    entry.variant = "default";
    entry.target.identity = matching::short_identity(name, "E031.45", 8 * sizeof(void*));
    entry.payload = base::Bytes(8, std::byte{1});
    const base::Bytes bytes = bundle_of({entry});
    clbin_bundle* bundle = nullptr;
    ASSERT_EQ(clbin_open_memory(bytes.data(), bytes.size(), nullptr, &bundle, nullptr),
              CLBIN_SUCCESS);
    clbin_identity identity{};
    identity.struct_size = sizeof(identity);
    identity.platform_name = "QUALCOMM Snapdragon(TM)";
    identity.device_name = "QUALCOMM Adreno(TM) 740";
    identity.device_version = "OpenCL 3.0 Adreno(TM) 740";
    identity.driver_version = "OpenCL 3.0 QUALCOMM build: commit unknown Compiler E031.45";
    clbin_selection* selection = nullptr;
    const bool is_series = std::string_view(name).ends_with("xx");
    EXPECT_EQ(clbin_select(bundle, &identity, "p", nullptr, &selection, nullptr),
              is_series ? CLBIN_ERROR_NO_MATCHING_ENTRY : CLBIN_SUCCESS);
    clbin_selection_free(selection);
    clbin_close(bundle);
  }
}

TEST_F(CApi, SaysWhatCannotBeSelected) {
  const clbin_identity identity = nvidia("sm_50");
  clbin_selection* selection = nullptr;
  EXPECT_EQ(clbin_select(m_bundle, &identity, "saxpy", "fast", &selection, nullptr),
            CLBIN_ERROR_NO_MATCHING_ENTRY);
  EXPECT_EQ(clbin_select(m_bundle, &identity, "saxpy", nullptr, &selection, &m_error),
            CLBIN_ERROR_NO_MATCHING_ENTRY);
  EXPECT_EQ(take_message(m_error), "no entry of program 'saxpy', variant 'default', matches ''");
  EXPECT_EQ(clbin_select(m_bundle, &identity, "daxpy", nullptr, &selection, nullptr),
            CLBIN_ERROR_NO_SUCH_PROGRAM);
  EXPECT_EQ(clbin_select(m_bundle, &identity, "saxpy", "slow", &selection, nullptr),
            CLBIN_ERROR_NO_SUCH_VARIANT);
  EXPECT_EQ(selection, nullptr);
}

class CApiLoad : public CApi {
protected:
  CApiLoad() {
    m_driver.script_binary(test::k_sample_payload,
                           {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
    m_driver.script_source({CL_SUCCESS, {"saxpy"}, ""});
    m_options.struct_size = sizeof(m_options);
    m_options.resolve = &test::FakeDriver::resolve;
    m_options.resolve_user_data = &m_driver;
  }

  ~CApiLoad() override {
    if (m_program != nullptr) {
      m_driver.functions().ReleaseProgram(m_program);
    }
    EXPECT_EQ(m_driver.live_programs(), 0);
    clbin_report_free(m_report);
  }

  // Frees the report of the call before.
  clbin_status load() {
    clbin_report_free(m_report);
    return clbin_load(m_bundle, m_context, &m_device, 1, "saxpy", &m_options, &m_program, &m_report,
                      &m_error);
  }

  [[nodiscard]] clbin_report_info info() const {
    return filled<clbin_report_info>(clbin_report_get, m_report);
  }

  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
  clbin_load_options m_options{};
  cl_program m_program = nullptr;
  clbin_report* m_report = nullptr;
};

TEST_F(CApiLoad, HandsOutAProgramAndAReport) {
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_NE(m_program, nullptr);
  const clbin_report_info report = info();
  EXPECT_EQ(report.origin, CLBIN_ORIGIN_ENTRY);
  ASSERT_EQ(report.attempt_count, 1U);
  clbin_attempt attempt{};
  attempt.struct_size = sizeof(attempt);
  ASSERT_EQ(clbin_report_attempt(m_report, 0, &attempt), CLBIN_SUCCESS);
  EXPECT_EQ(attempt.decision, CLBIN_DECISION_LOADED);
  EXPECT_EQ(attempt.origin, CLBIN_ORIGIN_ENTRY);
  EXPECT_STREQ(attempt.rule, "exact identity");
  EXPECT_EQ(attempt.rule_number, CLBIN_RULE_EXACT_IDENTITY);
  EXPECT_STREQ(attempt.target, "Platform of d / d / 1.0");
  EXPECT_STREQ(attempt.stage, "clBuildProgram");
  EXPECT_STREQ(attempt.driver_log, "");
  EXPECT_STREQ(attempt.cl_code_name, "CL_SUCCESS");
  EXPECT_EQ(attempt.entry, 0);
  EXPECT_STREQ(report.program, "saxpy");
  EXPECT_STREQ(report.variant, "default");
  EXPECT_STREQ(report.variant_reason, "");
  EXPECT_STREQ(report.extensions, "");
  ASSERT_EQ(report.device_count, 1U);
  EXPECT_STREQ(report.devices[0], "Platform of d / d / 1.0");
  EXPECT_EQ(report.warning_count, 0U);
  EXPECT_THAT(clbin_report_json(m_report), HasSubstr("\"origin\":\"entry\",\"program\":\"saxpy\""));
  EXPECT_EQ(clbin_report_json(m_report), clbin_report_json(m_report)); // built only once
  EXPECT_GE(report.microseconds, attempt.microseconds);
  EXPECT_THAT(clbin_report_text(m_report),
              HasSubstr("program 'saxpy', variant 'default': loaded from the bundle's binary"));
}

TEST_F(CApiLoad, FillsAReportOfOlderAndNewerVersions) {
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  expect_fills_older_and_newer_versions<clbin_attempt>(
      offsetof(clbin_attempt, origin),
      [&](clbin_attempt* attempt) { return clbin_report_attempt(m_report, 0, attempt); });
  expect_fills_older_and_newer_versions<clbin_report_info>(
      offsetof(clbin_report_info, attempt_count),
      [&](clbin_report_info* info) { return clbin_report_get(m_report, info); });
  auto attempt = sized<clbin_attempt>();
  EXPECT_EQ(clbin_report_attempt(m_report, 1, &attempt), CLBIN_ERROR_INVALID_ARGUMENT);
}

TEST_F(CApiLoad, TakesVariantOptionsAndFallback) {
  m_options.variant = "fast";
  m_options.build_options = "-DN=3";
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(m_driver.calls(),
              ElementsAre("create_source", "build -DV=1 -cl-fast-relaxed-math -DN=3"));
  EXPECT_EQ(info().origin, CLBIN_ORIGIN_SOURCE);
}

TEST_F(CApiLoad, KeepsBuildsInTheFolderThatTheBundleWasOpenedWith) {
  const base::TemporaryFolder scratch = base::TemporaryFolder::create({}, "clbin-test").value();
  const std::string folder = (scratch.path() / "cache").string();
  m_driver.script_source({CL_SUCCESS, {"saxpy"}, "", "BUILT"});
  m_driver.script_binary("BUILT", {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  m_options.variant = "fast";
  auto options = sized<clbin_open_options>();
  options.cache_dir = folder.c_str();
  for (const clbin_origin origin : {CLBIN_ORIGIN_SOURCE, CLBIN_ORIGIN_USER_CACHE}) {
    clbin_close(m_bundle); // writes what it stores
    ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &m_bundle, &m_error),
              CLBIN_SUCCESS)
        << take_message(m_error);
    ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
    EXPECT_EQ(info().origin, origin);
    m_driver.functions().ReleaseProgram(std::exchange(m_program, nullptr));
  }
  options.cache_dir = "relative";
  clbin_bundle* other = nullptr;
  EXPECT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &other, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'cache_dir' is 'relative', not an absolute path");
}

// clbin_warm, on the sample bundle with a user cache of its own.
class CApiWarm : public CApiLoad {
protected:
  CApiWarm() {
    m_driver.script_source({CL_SUCCESS, {"saxpy"}, "", "BUILT"});
    m_driver.script_binary("BUILT", {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
    reopen((m_scratch.path() / "cache").string());
  }

  void reopen(const std::string& cache) {
    auto options = sized<clbin_open_options>();
    options.cache_dir = cache.c_str();
    clbin_close(m_bundle);
    ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &options, &m_bundle, &m_error),
              CLBIN_SUCCESS)
        << take_message(m_error);
  }

  clbin_status warm(const char* program = nullptr, uint32_t limit_ms = 0) {
    return clbin_warm(m_bundle, m_context, m_device, program, &m_options, limit_ms, &m_warmed,
                      &m_error);
  }

  // from_entries, from_user_cache, built, failed, unsuitable, remaining
  [[nodiscard]] std::vector<size_t> counts() const {
    return {m_warmed.from_entries, m_warmed.from_user_cache, m_warmed.built,
            m_warmed.failed,       m_warmed.unsuitable,      m_warmed.remaining};
  }

  base::TemporaryFolder m_scratch = base::TemporaryFolder::create({}, "clbin-test").value();
  clbin_warmed m_warmed = sized<clbin_warmed>();
};

TEST_F(CApiWarm, StoresWhatTheNextLoadUses) {
  ASSERT_EQ(warm(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(counts(), ElementsAre(1U, 0U, 1U, 0U, 0U, 0U)); // "default" and "fast"
  EXPECT_EQ(m_warmed.struct_size, sizeof(m_warmed));
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "no compiler"});
  m_options.variant = "fast";
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error); // written, although nobody has closed
  EXPECT_EQ(info().origin, CLBIN_ORIGIN_USER_CACHE);
  ASSERT_EQ(warm("saxpy"), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(counts(), ElementsAre(0U, 1U, 0U, 0U, 0U, 0U));
}

TEST_F(CApiWarm, IgnoresOptionsThatAreNoStart) {
  m_options.fallback = CLBIN_FALLBACK_NEVER;
  m_options.store = CLBIN_SWITCH_OFF;
  std::size_t attempts = 0;
  m_options.callback = [](const clbin_attempt*, void* seen) { ++*static_cast<std::size_t*>(seen); };
  m_options.callback_user_data = &attempts;
  ASSERT_EQ(warm(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(counts(), ElementsAre(1U, 0U, 1U, 0U, 0U, 0U));
  EXPECT_GT(attempts, 1U);
  ASSERT_EQ(warm(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(counts(), ElementsAre(1U, 1U, 0U, 0U, 0U, 0U));
}

TEST_F(CApiWarm, GoesOnAfterAFailureAndReturnsIt) {
  m_driver.script_binary(test::k_sample_payload, {test::BinaryAnswer::refuse, {}, "", CL_SUCCESS});
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "saxpy.cl:1:1: error: no"});
  EXPECT_EQ(warm(), CLBIN_ERROR_BUILD_FAILED);
  EXPECT_STREQ(clbin_error_build_log(m_error), "saxpy.cl:1:1: error: no");
  EXPECT_THAT(take_message(m_error), HasSubstr("program 'saxpy', variant 'default': building"));
  EXPECT_THAT(counts(), ElementsAre(0U, 0U, 0U, 2U, 0U, 0U));
}

TEST_F(CApiWarm, BeginsNoVariantAfterItsTime) {
  m_options.callback = [](const clbin_attempt*, void*) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  };
  ASSERT_EQ(warm(nullptr, 1), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(counts(), ElementsAre(1U, 0U, 0U, 0U, 0U, 1U));
}

TEST_F(CApiWarm, FailsIfWhatWasBuiltCannotBeStored) {
  const auto file = (m_scratch.path() / "file").string();
  std::ofstream(file) << "not a folder";
  reopen(file + "/cache"); // cannot be created
  m_options.variant = "fast";
  EXPECT_EQ(warm(), CLBIN_ERROR_FILE_WRITE);
  EXPECT_THAT(
      take_message(m_error),
      HasSubstr("program 'saxpy', variant 'fast': what was built is not in the user cache: "));
  EXPECT_THAT(counts(), ElementsAre(0U, 0U, 0U, 1U, 0U, 0U));
}

TEST_F(CApiWarm, ChecksItsArguments) {
  const auto call = [&](const clbin_bundle* bundle, cl_context context, cl_device_id device,
                        clbin_warmed* warmed) {
    EXPECT_EQ(clbin_warm(bundle, context, device, nullptr, &m_options, 0, warmed, &m_error),
              CLBIN_ERROR_INVALID_ARGUMENT);
    return take_message(m_error);
  };
  EXPECT_EQ(call(nullptr, m_context, m_device, &m_warmed), "'bundle' is NULL");
  EXPECT_EQ(call(m_bundle, nullptr, m_device, &m_warmed), "'context' is NULL");
  EXPECT_EQ(call(m_bundle, m_context, nullptr, &m_warmed), "'device' is NULL");
  EXPECT_EQ(call(m_bundle, m_context, m_device, nullptr), "'warmed' is NULL");
  m_warmed.struct_size = 0;
  EXPECT_EQ(call(m_bundle, m_context, m_device, &m_warmed),
            "struct_size of clbin_warmed is 0; set it to sizeof(clbin_warmed)");
  m_warmed.struct_size = sizeof(m_warmed);
  EXPECT_EQ(warm("none"), CLBIN_ERROR_NO_SUCH_PROGRAM);
  EXPECT_THAT(take_message(m_error), HasSubstr("no program 'none'"));
  m_options.variant = "none";
  EXPECT_EQ(warm(), CLBIN_ERROR_NO_SUCH_VARIANT);
  EXPECT_EQ(take_message(m_error), "no program has a variant 'none'");
  m_options.variant = nullptr;
  expect_fills_older_and_newer_versions<clbin_warmed>(
      offsetof(clbin_warmed, remaining), [&](clbin_warmed* warmed) {
        return clbin_warm(m_bundle, m_context, m_device, nullptr, &m_options, 0, warmed, nullptr);
      });
}

TEST_F(CApiWarm, RequiresTheUserCache) {
  clbin_close(std::exchange(m_bundle, nullptr));
  ASSERT_EQ(setenv("CLBIN_CACHE", "0", 1), 0);
  const clbin_status status =
      clbin_open_memory(m_bytes.data(), m_bytes.size(), nullptr, &m_bundle, &m_error);
  ASSERT_EQ(unsetenv("CLBIN_CACHE"), 0);
  ASSERT_EQ(status, CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_EQ(warm(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error),
            "clbin_warm fills the user cache, which is off: CLBIN_CACHE is 0");
}

TEST_F(CApiLoad, TakesSpecialisationConstantsForIlOnly) {
  const uint32_t value = 7;
  clbin_specialization_constant constant = {1, sizeof(value), &value};
  m_options.constants = &constant;
  m_options.constant_count = 1;
  EXPECT_EQ(load(), CLBIN_ERROR_NO_MATCHING_ENTRY);
  EXPECT_THAT(take_message(m_error), HasSubstr("with specialisation constants needs IL"));
  constant.size_bytes = 17;
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "specialisation constant 1 of 17 bytes");
  constant.size_bytes = 0;
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "specialisation constant 1 of 0 bytes");
  constant = {1, 4, nullptr};
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'constants[i].value' is NULL");
  m_options.constants = nullptr;
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'constants' is NULL");
}

TEST_F(CApiLoad, TakesOptionsOfOlderAndNewerVersions) {
  struct Newer {
    clbin_load_options known;
    uint64_t added;
  } newer{m_options, 0};
  newer.known.struct_size = sizeof(newer);
  newer.known.variant = "fast";
  const auto load_with = [&](const clbin_load_options& options) {
    return clbin_load(m_bundle, m_context, &m_device, 1, "saxpy", &options, &m_program, nullptr,
                      &m_error);
  };
  newer.known.fallback = CLBIN_FALLBACK_NEVER;
  EXPECT_EQ(load_with(newer.known), CLBIN_ERROR_NO_MATCHING_ENTRY);
  EXPECT_THAT(take_message(m_error), HasSubstr("variant 'fast'"));
  newer.added = 1;
  EXPECT_EQ(load_with(newer.known), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(take_message(m_error), HasSubstr("clbin_load_options sets a member that version"));

  clbin_load_options older = m_options;
  older.callback = [](const clbin_attempt*, void*) { ADD_FAILURE(); };
  older.struct_size = offsetof(clbin_load_options, callback); // beyond the older struct: ignored
  EXPECT_EQ(load_with(older), CLBIN_SUCCESS) << take_message(m_error);
  older.struct_size = 0;
  clbin_identity* identity = nullptr;
  EXPECT_EQ(clbin_identity_query(m_device, &older, &identity, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "struct_size of clbin_load_options is 0; set it to "
                                   "sizeof(clbin_load_options)");
}

TEST_F(CApiLoad, ChecksKnownAnswersOnlyIfAsked) {
  EXPECT_EQ(clbin_check_answers(CLBIN_ANSWERS_NEVER), nullptr);
  // A load without checks does not ask for functions of launches.
  m_options.resolve = [](const char* name, void* driver) {
    return std::string_view(name) == "clSetKernelArg" ? nullptr
                                                      : test::FakeDriver::resolve(name, driver);
  };
  m_options.answers_ms = 1;
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  m_driver.functions().ReleaseProgram(std::exchange(m_program, nullptr));
  for (const clbin_answers when : {CLBIN_ANSWERS_ONCE, CLBIN_ANSWERS_ALWAYS}) {
    m_options.answers = clbin_check_answers(when);
    EXPECT_EQ(load(), CLBIN_ERROR_NO_OPENCL);
    EXPECT_EQ(take_message(m_error), "the caller's 'resolve' has no function 'clSetKernelArg'");
  }
  m_options.answers = clbin_check_answers(static_cast<clbin_answers>(3));
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(take_message(m_error), HasSubstr("'answers' is of a number that is no enumerator"));
}

TEST_F(CApiLoad, AcceptsAProblemSizeOfOneToThreeDimensions) {
  std::array<size_t, 4> size{1, SIZE_MAX, SIZE_MAX, 1};
  const auto load_near = [&](const size_t* given, size_t dimensions) {
    m_options.problem_size = given;
    m_options.problem_dimensions = dimensions;
    return load();
  };
  for (const size_t dimensions : {0U, 1U, 2U, 3U}) {
    ASSERT_EQ(load_near(size.data(), dimensions), CLBIN_SUCCESS) << take_message(m_error);
    EXPECT_STREQ(info().variant, "default");
    EXPECT_STREQ(info().variant_reason, ""); // nothing was measured
    EXPECT_EQ(info().warning_count, 0U);
    m_driver.functions().ReleaseProgram(std::exchange(m_program, nullptr));
  }
  ASSERT_EQ(load_near(nullptr, 0), CLBIN_SUCCESS) << take_message(m_error);
  m_driver.functions().ReleaseProgram(std::exchange(m_program, nullptr));
  EXPECT_EQ(load_near(nullptr, 1), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'problem_size' is NULL");
  const std::string message =
      "'problem_size' must have 1 to 3 dimensions, and at least one work-item in each";
  for (const size_t dimensions : {size_t{4}, SIZE_MAX}) {
    EXPECT_EQ(load_near(size.data(), dimensions), CLBIN_ERROR_INVALID_ARGUMENT);
    EXPECT_EQ(take_message(m_error), message);
  }
  size[1] = 0;
  EXPECT_EQ(load_near(size.data(), 2), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), message);
  // A program that was compiled with an older header has no such members.
  m_options.struct_size = offsetof(clbin_load_options, problem_size);
  EXPECT_EQ(load_near(size.data(), 2), CLBIN_SUCCESS) << take_message(m_error);
}

TEST_F(CApiLoad, RecommendsNoSizeWithoutMeasurements) {
  std::array<size_t, 2> global{64, 64};
  std::array<size_t, 2> local{1, 1};
  const auto recommend = [&](const char* program, size_t dimensions) {
    return clbin_recommended_size(m_bundle, m_device, program, nullptr, "saxpy", global.data(),
                                  dimensions, &m_options, local.data(), &m_error);
  };
  ASSERT_EQ(recommend("saxpy", 2), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(local, ElementsAre(0U, 0U));
  EXPECT_EQ(recommend("none", 2), CLBIN_ERROR_NO_SUCH_PROGRAM);
  EXPECT_THAT(take_message(m_error), HasSubstr("'none'"));
  EXPECT_EQ(recommend("saxpy", 4), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(take_message(m_error), HasSubstr("1 to 3 dimensions"));
  global[1] = 0;
  EXPECT_EQ(recommend("saxpy", 2), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(take_message(m_error), HasSubstr("at least one work-item"));
}

TEST_F(CApiLoad, LoadsTheVariantThatWasMadeWithTheCallersOptions) {
  m_options.build_options = " -cl-fast-relaxed-math ";
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_STREQ(info().variant, "fast");
}

TEST_F(CApiLoad, AsksADeviceForTheIdentityThatSelects) {
  clbin_identity* identity = nullptr;
  ASSERT_EQ(clbin_identity_query(m_device, &m_options, &identity, &m_error), CLBIN_SUCCESS)
      << take_message(m_error);
  EXPECT_EQ(identity->struct_size, sizeof(clbin_identity));
  EXPECT_STREQ(identity->device_name, "d");
  EXPECT_STREQ(identity->platform_name, "Platform of d");
  EXPECT_STREQ(identity->opencl_c_versions, "OpenCL C 1.2");
  clbin_selection* selection = nullptr;
  ASSERT_EQ(clbin_select(m_bundle, identity, "saxpy", nullptr, &selection, &m_error), CLBIN_SUCCESS)
      << take_message(m_error);
  EXPECT_EQ(filled<clbin_selection_info>(clbin_selection_get, selection).rule_number,
            CLBIN_RULE_EXACT_IDENTITY);
  clbin_selection_free(selection);
  clbin_identity_free(identity);
  clbin_identity_free(nullptr);

  EXPECT_EQ(clbin_identity_query(nullptr, &m_options, &identity, &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'device' is NULL");
  EXPECT_EQ(clbin_identity_query(m_device, &m_options, nullptr, nullptr),
            CLBIN_ERROR_INVALID_ARGUMENT);
  m_driver.script_device_failure(m_device, CL_DEVICE_NAME, CL_OUT_OF_HOST_MEMORY);
  EXPECT_EQ(clbin_identity_query(m_device, &m_options, &identity, &m_error),
            CLBIN_ERROR_OPENCL_CALL);
  EXPECT_THAT(take_message(m_error), HasSubstr("CL_OUT_OF_HOST_MEMORY"));
  EXPECT_EQ(identity, nullptr);
}

TEST_F(CApiLoad, MakesAReportOnFailureToo) {
  m_options.variant = "fast";
  m_options.fallback = CLBIN_FALLBACK_NEVER;
  EXPECT_EQ(load(), CLBIN_ERROR_NO_MATCHING_ENTRY);
  EXPECT_EQ(m_program, nullptr);
  ASSERT_NE(m_report, nullptr);
  EXPECT_THAT(clbin_report_text(m_report), HasSubstr("variant 'fast': not loaded"));
  EXPECT_THAT(take_message(m_error), HasSubstr("'Platform of d / d / 1.0'"));
}

TEST_F(CApiLoad, LeavesEntriesOutOfAReportWithoutRoom) {
  clbin_open_options limits{};
  limits.struct_size = sizeof(limits);
  limits.max_memory_bytes = 1;
  clbin_bundle* bundle = nullptr;
  ASSERT_EQ(clbin_open_memory(m_bytes.data(), m_bytes.size(), &limits, &bundle, nullptr),
            CLBIN_SUCCESS);
  m_options.fallback = CLBIN_FALLBACK_NEVER;
  const cl_device_id other = m_driver.add_device(test::unknown_identity("other"));
  EXPECT_EQ(clbin_load(bundle, m_driver.add_context({other}), &other, 1, "saxpy", &m_options,
                       &m_program, &m_report, nullptr),
            CLBIN_ERROR_NO_MATCHING_ENTRY);
  const clbin_report_info report = info();
  EXPECT_EQ(report.attempt_count, 0U);
  EXPECT_THAT(clbin_report_text(m_report),
              HasSubstr("the report omits some entries, because the bundle contains too many"));
  ASSERT_EQ(report.warning_count, 1U);
  EXPECT_THAT(report.warnings[0], HasSubstr("the report omits some entries"));
  clbin_close(bundle);
}

TEST_F(CApiLoad, RefusesAPolicyThatIsNone) {
  m_options.fallback = static_cast<clbin_fallback>(3);
  EXPECT_EQ(load(), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'fallback' is 3");
}

TEST_F(CApiLoad, SaysWhatIsMissingFromTheCallersFunctions) {
  m_options.resolve = [](const char*, void*) -> void* { return nullptr; };
  EXPECT_EQ(load(), CLBIN_ERROR_NO_OPENCL);
  EXPECT_EQ(take_message(m_error), "the caller's 'resolve' has no function 'clGetPlatformInfo'");
}

TEST_F(CApiLoad, CallsBackForEveryAttempt) {
  std::vector<std::string> seen;
  const auto remember = [](const clbin_attempt* attempt, void* user_data) {
    EXPECT_EQ(attempt->struct_size, sizeof(*attempt));
    static_cast<std::vector<std::string>*>(user_data)->emplace_back(attempt->rule);
  };
  m_options.callback = remember;
  m_options.callback_user_data = &seen;
  ASSERT_EQ(load(), CLBIN_SUCCESS) << take_message(m_error);
  EXPECT_THAT(seen, ElementsAre("exact identity"));
}

TEST_F(CApiLoad, LetsNoExceptionOfACallbackThrough) {
  const auto fail = [](const clbin_attempt*, void*) { throw 42; };
  m_options.callback = fail;
  EXPECT_EQ(load(), CLBIN_ERROR_INTERNAL);
  EXPECT_THAT(take_message(m_error), HasSubstr("a callback threw"));
  EXPECT_EQ(m_program, nullptr);
  const auto exhaust = [](const clbin_attempt*, void*) { throw std::bad_alloc(); };
  m_options.callback = exhaust;
  EXPECT_EQ(load(), CLBIN_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(take_message(m_error), "out of memory");
}

TEST_F(CApiLoad, RefusesNullArguments) {
  cl_device_id no_device = nullptr;
  EXPECT_EQ(clbin_load(nullptr, m_context, &m_device, 1, "saxpy", &m_options, &m_program, nullptr,
                       nullptr),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_load(m_bundle, nullptr, &m_device, 1, "saxpy", &m_options, &m_program, &m_report,
                       &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'context' is NULL");
  EXPECT_EQ(m_report, nullptr);
  EXPECT_EQ(clbin_load(m_bundle, m_context, &no_device, 1, "saxpy", &m_options, &m_program, nullptr,
                       &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "one of 'devices' is NULL");
  EXPECT_EQ(clbin_load(m_bundle, m_context, nullptr, 1, "saxpy", &m_options, &m_program, nullptr,
                       &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'devices' is NULL");
  EXPECT_EQ(clbin_load(m_bundle, m_context, &m_device, 1, nullptr, &m_options, &m_program, nullptr,
                       nullptr),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      clbin_load(m_bundle, m_context, &m_device, 1, "saxpy", &m_options, nullptr, nullptr, nullptr),
      CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_load(m_bundle, m_context, &m_device, 0, "saxpy", &m_options, &m_program, nullptr,
                       &m_error),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(take_message(m_error), "'device_count' is 0");
}

void select_and_verify(const clbin_bundle* bundle) {
  const clbin_identity identity = nvidia("sm_80");
  clbin_selection* selection = nullptr;
  EXPECT_EQ(clbin_select(bundle, &identity, "saxpy", nullptr, &selection, nullptr), CLBIN_SUCCESS);
  clbin_selection_free(selection);
  EXPECT_EQ(clbin_verify(bundle, nullptr), CLBIN_SUCCESS);
}

// Uses its own driver because the fake is not thread-safe.
void load_and_release(const clbin_bundle* bundle) {
  test::FakeDriver driver;
  driver.script_binary(test::k_sample_payload,
                       {test::BinaryAnswer::accept, {"saxpy"}, "", CL_SUCCESS});
  cl_device_id device = driver.add_device(test::unknown_identity("d"));
  cl_context context = driver.add_context({device});
  clbin_load_options options{};
  options.struct_size = sizeof(options);
  options.resolve = &test::FakeDriver::resolve;
  options.resolve_user_data = &driver;
  cl_program program = nullptr;
  ASSERT_EQ(clbin_load(bundle, context, &device, 1, "saxpy", &options, &program, nullptr, nullptr),
            CLBIN_SUCCESS);
  driver.functions().ReleaseProgram(program);
}

TEST_F(CApi, ServesManyThreadsWithOneBundle) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([this] {
      for (int round = 0; round < 20; ++round) {
        select_and_verify(m_bundle);
        load_and_release(m_bundle);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

} // namespace
} // namespace clbin
