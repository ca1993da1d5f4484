// clbin_build and clbin::Builder, with a scripted driver.
#include "clbin/clbin.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_identities.hpp"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <thread>

namespace clbin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* k_text = "kernel void a() {}\n";

class CApiBuild : public ::testing::Test {
protected:
  CApiBuild() {
    m_driver.script_source({CL_SUCCESS, {"a"}, "", "BUILT"});
    m_driver.script_binary("BUILT", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
    m_options.resolver(&test::FakeDriver::resolve, &m_driver);
    m_settings.struct_size = sizeof(m_settings);
    m_settings.cache_dir = m_cache.c_str();
  }

  [[nodiscard]] std::string message_of(const Source& source) {
    try {
      release(Builder(&m_settings).build(m_context, m_device, source, m_options));
    } catch (const Error& error) {
      return std::string(error.status_name()) + ": " + error.what();
    }
    return "built";
  }

  void release(cl_program program) { m_driver.functions().ReleaseProgram(program); }

  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "c-api-build-").value();
  std::string m_cache = (m_folder.path() / "clbin").string();
  clbin_builder_options m_settings{};
  test::FakeDriver m_driver;
  cl_device_id m_device = m_driver.add_device(test::unknown_identity("d"));
  cl_context m_context = m_driver.add_context({m_device});
  LoadOptions m_options;
};

TEST_F(CApiBuild, SecondBuilderServesWhatTheFirstStored) {
  Report report;
  release(Builder(&m_settings).build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_THAT(report.text(), HasSubstr("program 'run-time source', variant 'default': built from "
                                       "source"));
  release(Builder(&m_settings).build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::user_cache);
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(CApiBuild, CallWithoutABuilderWritesBeforeItReturns) {
  ASSERT_EQ(::setenv("CLBIN_CACHE_DIR", m_cache.c_str(), 1), 0);
  Report report;
  release(build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::source);
  release(build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::user_cache);
}

TEST_F(CApiBuild, DriverReceivesTheStringsAndOptionsOfTheCaller) {
  const char* const strings[] = {"kernel ", "void a() {}...", ""};
  const std::size_t lengths[] = {0, 11, 0};
  clbin_source source{};
  source.struct_size = sizeof(source);
  source.strings = strings;
  source.lengths = lengths;
  source.string_count = 3;
  source.options = " -I/x";
  m_options.build_options("-DA");
  cl_program program = nullptr;
  ASSERT_EQ(clbin_build(nullptr, m_context, &m_device, 1, &source, m_options.get(), &program,
                        nullptr, nullptr),
            CLBIN_SUCCESS);
  release(program);
  EXPECT_THAT(m_driver.calls(), Contains("build  -I/x -DA"));
  EXPECT_THAT(m_driver.sources(), ElementsAre("kernel void a() {}"));
}

TEST_F(CApiBuild, LastOfSeveralConstantsWithOneIdCounts) {
  m_driver.script_binary("IL", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
  Source source;
  source.il = base::as_bytes("IL");
  m_options.specialization_constant(3, std::uint8_t{1}).specialization_constant(3, std::uint8_t{2});
  release(build(m_context, m_device, source, m_options));
  EXPECT_THAT(m_driver.calls(), Contains("set_constant 3 02"));
  EXPECT_THAT(m_driver.calls(), ::testing::Not(Contains("set_constant 3 01")));
}

TEST_F(CApiBuild, EntryOfABundleServesTheSameSource) {
  format::ProgramInput program;
  program.name = "p";
  program.variants = {{"default", "-DA=1"}};
  program.source = format::SourcePackage{{"p.cl", "p.cl", k_text}, {}};
  format::EntryInput entry;
  entry.variant = "default";
  entry.options = "-DA=1";
  entry.target.identity = test::unknown_identity("d");
  entry.payload = base::Bytes{std::byte{'E'}};
  entry.kernels.emplace_back().name = "a";
  program.entries = {entry};
  const auto bytes = format::write_bundle({"test", {program}}, {});
  ASSERT_TRUE(bytes.has_value()) << bytes.error().message;
  m_driver.script_binary("E", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
  const Bundle bundle = Bundle::from_memory(*bytes);
  const Builder builder(&m_settings);
  builder.add_bundle(bundle);
  Report report;
  m_options.fallback(Fallback::never);
  release(builder.build(m_context, m_device, {k_text, "-DA=1 -I/x"}, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::entry);
  EXPECT_EQ(report.attempts().at(0).entry, 0U);
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_binary E", "build -DA=1"));
  EXPECT_THROW((void)builder.build(m_context, m_device, k_text, m_options), Error);
}

TEST_F(CApiBuild, WithoutFallbackAMissIsAnError) {
  m_options.fallback(Fallback::never);
  EXPECT_EQ(message_of(k_text),
            "CLBIN_ERROR_NO_MATCHING_ENTRY: no entry of the builder's bundles serves this source "
            "and these options, and the program may not be built");
  EXPECT_THAT(m_driver.calls(), IsEmpty());
}

TEST_F(CApiBuild, FailedBuildReturnsItsLog) {
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "source:1: error", ""});
  EXPECT_EQ(message_of(k_text), "CLBIN_ERROR_BUILD_FAILED: building 'run-time source' failed: "
                                "clBuildProgram: CL_BUILD_PROGRAM_FAILURE (-11)\nsource:1: error");
}

TEST_F(CApiBuild, NamedHeadersReachTheDriver) {
  Source source("#include \"a.h\"\n");
  source.headers = {{"a.h", "int a;\n"}};
  EXPECT_EQ(message_of(source), "built");
  EXPECT_THAT(m_driver.calls(), Contains("compile  with a.h"));
}

TEST_F(CApiBuild, CallbackSeesEveryAttempt) {
  std::vector<std::string> seen;
  m_options.on_attempt([&](const Attempt& attempt) { seen.push_back(attempt.rule); });
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_THAT(seen, ElementsAre("user cache", "source"));
}

TEST_F(CApiBuild, CacheCanBeSwitchedOff) {
  m_settings.cache = CLBIN_SWITCH_OFF;
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_FALSE(std::filesystem::exists(m_cache));
  ASSERT_EQ(::setenv("CLBIN_CACHE", "0", 1), 0);
  m_settings.cache = CLBIN_SWITCH_DEFAULT;
  m_settings.cache_dir = nullptr;
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_THAT(m_driver.calls(), testing::Not(Contains("get_binary")));
  m_settings.cache = CLBIN_SWITCH_ON;
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_THAT(m_driver.calls(), Contains("get_binary"));
  ASSERT_EQ(::unsetenv("CLBIN_CACHE"), 0);
}

TEST_F(CApiBuild, BinaryOfPoclIsStoredWhenTheCallerAsksForIt) {
  format::DeviceIdentity pocl = test::unknown_identity("cpu");
  pocl.platform_name = "Portable Computing Language";
  cl_device_id device = m_driver.add_device(pocl);
  cl_context context = m_driver.add_context({device});
  m_settings.cache_on_pocl = CLBIN_SWITCH_ON;
  {
    const Builder builder(&m_settings);
    cl_program program = builder.build(context, device, k_text, m_options);
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
    builder.keep(context, View<cl_device_id>(&device, 1), k_text, program, m_options);
    EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build ", "get_binary"));
    release(program);
  }
  Report report;
  release(Builder(&m_settings).build(context, device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::user_cache);
}

TEST_F(CApiBuild, ArgumentsAreChecked) {
  clbin_source source{};
  clbin_error* error = nullptr;
  cl_program program = nullptr;
  const auto call = [&](const clbin_source* given) {
    const clbin_status status = clbin_build(nullptr, m_context, &m_device, 1, given,
                                            m_options.get(), &program, nullptr, &error);
    std::string message = std::string(clbin_status_name(status)) + ": ";
    message += error == nullptr ? "" : clbin_error_message(error);
    clbin_error_free(error);
    return message;
  };
  EXPECT_EQ(call(nullptr), "CLBIN_ERROR_INVALID_ARGUMENT: 'source' is NULL");
  EXPECT_EQ(call(&source), "CLBIN_ERROR_INVALID_ARGUMENT: struct_size of clbin_source is 0; set it "
                           "to sizeof(clbin_source)");
  source.struct_size = sizeof(source);
  EXPECT_EQ(call(&source), "CLBIN_ERROR_INVALID_ARGUMENT: a program needs either source or IL");
  source.string_count = 1;
  EXPECT_EQ(call(&source), "CLBIN_ERROR_INVALID_ARGUMENT: 'strings' is NULL");
  const char* strings[] = {nullptr};
  source.strings = strings;
  EXPECT_EQ(call(&source), "CLBIN_ERROR_INVALID_ARGUMENT: 'strings[i]' is NULL");
  strings[0] = k_text;
  source.header_count = 1;
  EXPECT_EQ(call(&source), "CLBIN_ERROR_INVALID_ARGUMENT: 'header_names' is NULL");
  EXPECT_EQ(
      clbin_build(nullptr, m_context, &m_device, 1, &source, nullptr, nullptr, nullptr, nullptr),
      CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(
      clbin_build(nullptr, m_context, &m_device, 0, &source, nullptr, &program, nullptr, nullptr),
      CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_builder_keep(nullptr, m_context, &m_device, 1, &source, nullptr, nullptr, nullptr,
                               nullptr),
            CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_builder_add_bundle(nullptr, nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(clbin_builder_create(nullptr, nullptr, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  clbin_builder_free(nullptr);
}

TEST_F(CApiBuild, BuilderOptionsAreChecked) {
  clbin_builder* builder = nullptr;
  m_settings.cache_dir = "relative";
  EXPECT_EQ(clbin_builder_create(&m_settings, &builder, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  m_settings.cache_dir = nullptr;
  m_settings.cache = static_cast<clbin_switch>(3);
  EXPECT_EQ(clbin_builder_create(&m_settings, &builder, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  m_settings.cache = CLBIN_SWITCH_DEFAULT;
  m_settings.struct_size = 0;
  EXPECT_EQ(clbin_builder_create(&m_settings, &builder, nullptr), CLBIN_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(builder, nullptr);
}

TEST_F(CApiBuild, ManyThreadsShareOneBuilder) {
  const Builder builder(&m_settings);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (int round = 0; round < 4; ++round) {
        const std::string text = "kernel void a() {} // " + std::to_string((thread + round) % 5);
        release(builder.build(m_context, m_device, text, m_options));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(m_driver.live_programs(), 0);
  Report report;
  release(builder.build(m_context, m_device, "kernel void a() {} // 3", m_options, &report));
  EXPECT_EQ(report.origin(), Origin::user_cache);
}

} // namespace
} // namespace clbin
