// clbin_build and clbin::Builder, with a scripted driver.
#include "clbin/clbin.hpp"

#include "base/file_io.hpp"
#include "format/bundle/bundle_writer.hpp"
#include "support/fake_driver.hpp"
#include "support/sample_identities.hpp"

#include <array>
#include <cstdlib>
#include <dlfcn.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <memory>
#include <set>
#include <span>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace clbin {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

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

  // How many descriptors of this process are of the file.
  [[nodiscard]] static std::ptrdiff_t open_files_of(const std::string& path) {
    std::error_code error;
    const std::filesystem::directory_iterator all("/proc/self/fd");
    return std::count_if(begin(all), end(all), [&](const auto& entry) {
      return std::filesystem::read_symlink(entry.path(), error) == path;
    });
  }

  static void write(const std::string& path, const base::Bytes& bytes) {
    std::ofstream file(path, std::ios::binary);
    file << base::as_text(bytes);
    ASSERT_TRUE(file.flush());
  }

  // Returns whether there was one: a thread may still be writing it under another name.
  [[nodiscard]] bool remove_stored_program() const {
    std::error_code error;
    const std::filesystem::recursive_directory_iterator files(m_cache + "/programs", error);
    for (const auto& file : files) {
      if (file.path().extension() == ".clbin") {
        return std::filesystem::remove(file.path());
      }
    }
    return false;
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

TEST_F(CApiBuild, ShowsTheDriverNoIlThatRequiresWhatTheDeviceLacks) {
  // SPIR-V 1.0, OpCapability Kernel, OpCapability Float64, OpMemoryModel Physical64 OpenCL
  const std::array<std::uint32_t, 12> words{
      0x07230203U, 0x00010000U, 0, 10, 0, 0x00020011U, 6, 0x00020011U, 10, 0x0003000eU, 2, 2};
  Source source;
  source.il = std::as_bytes(std::span(words));
  EXPECT_THAT(
      message_of(source),
      HasSubstr("the module requires the capability Float64 of SPIR-V, which the device 'd' "
                "does not accept"));
  EXPECT_THAT(m_driver.calls(), IsEmpty());
  m_driver.script_device_value(m_device, CL_DEVICE_EXTENSIONS, "cl_khr_fp64");
  (void)message_of(source);
  EXPECT_THAT(m_driver.calls(), Not(IsEmpty()));
}

// A bundle whose entry serves k_text with the option -DA=1.
base::Bytes bundle_of_text() {
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
  return format::write_bundle({"test", {program}}, {}).value();
}

TEST_F(CApiBuild, EntryOfABundleServesTheSameSource) {
  const base::Bytes bytes = bundle_of_text();
  m_driver.script_binary("E", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
  const Bundle bundle = Bundle::from_memory(bytes);
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

TEST_F(CApiBuild, BuilderOpensAndClosesTheFilesOfBundles) {
  m_driver.script_binary("E", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
  const std::string path = (m_folder.path() / "a.clbin").string();
  write(path, bundle_of_text());
  Report report;
  {
    const Builder builder(&m_settings);
    builder.add_file(path);
    release(builder.build(m_context, m_device, {k_text, "-DA=1"}, m_options, &report));
    EXPECT_EQ(report.origin(), Origin::entry);
    EXPECT_THAT(report.warnings(), IsEmpty());
    EXPECT_EQ(open_files_of(path), 1);
  }
  EXPECT_EQ(open_files_of(path), 0);
}

TEST_F(CApiBuild, MissingFileIsAnErrorUnlessItIsOptional) {
  const std::string path = (m_folder.path() / "none.clbin").string();
  const Builder builder(&m_settings);
  try {
    builder.add_file(path);
    FAIL() << "there is no such file";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_FILE_NOT_FOUND);
  }
  builder.add_file(path, Presence::optional);
  Report report;
  release(builder.build(m_context, m_device, k_text, m_options, &report));
  EXPECT_THAT(report.warnings(), ElementsAre("there is no optional bundle '" + path + "'"));
  write(path, {std::byte{1}});
  EXPECT_THROW(builder.add_file(path, Presence::optional), Error) << "it is damaged";
}

TEST_F(CApiBuild, VariableOfTheEnvironmentAddsBundles) {
  m_driver.script_binary("E", {test::BinaryAnswer::accept, {"a"}, "", CL_SUCCESS});
  const std::string path = (m_folder.path() / "a.clbin").string();
  write(path, bundle_of_text());
  const Builder builder(&m_settings);
  builder.add_files_of("CLBIN_TEST_BUNDLES"); // which is not set
  ASSERT_EQ(::setenv("CLBIN_TEST_BUNDLES", ("/none.clbin::" + path).c_str(), 1), 0);
  builder.add_files_of("CLBIN_TEST_BUNDLES");
  ASSERT_EQ(::unsetenv("CLBIN_TEST_BUNDLES"), 0);
  Report report;
  release(builder.build(m_context, m_device, {k_text, "-DA=1"}, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::entry);
  EXPECT_THAT(report.warnings(), ElementsAre("CLBIN_TEST_BUNDLES: cannot open '/none.clbin': No "
                                             "such file or directory"));
}

TEST_F(CApiBuild, VariableNamesAtMost64BundlesAndEachOnce) {
  const std::string path = (m_folder.path() / "a.clbin").string();
  write(path, bundle_of_text());
  const Builder builder(&m_settings);
  std::string paths = path + ":" + path + ":";
  for (int i = 0; i < 100; ++i) {
    paths += "/none" + std::to_string(i) + ":";
  }
  ASSERT_EQ(::setenv("CLBIN_TEST_BUNDLES", paths.c_str(), 1), 0);
  builder.add_files_of("CLBIN_TEST_BUNDLES");
  ASSERT_EQ(::unsetenv("CLBIN_TEST_BUNDLES"), 0);
  EXPECT_EQ(open_files_of(path), 1);
  Report report;
  release(builder.build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.warnings().size(), 64U) << "63 files, and that there are more";
  const clbin_open_options wrong{};
  EXPECT_THROW(builder.add_files_of("CLBIN_TEST_BUNDLES", &wrong), Error)
      << "the mistake is the caller's, whether or not the variable is set";
}

TEST_F(CApiBuild, ErrorOfAFileNamesIt) {
  const std::string path = (m_folder.path() / "junk.clbin").string();
  write(path, base::Bytes{std::byte{'j'}});
  try {
    Builder(&m_settings).add_file(path);
    FAIL() << "it is no bundle";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("'" + path + "': not a bundle"));
  }
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(m_folder.path());
  write("b", base::Bytes{std::byte{'j'}}); // a letter of the message
  try {
    Builder(&m_settings).add_file("b");
    FAIL() << "it is no bundle";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), ::testing::StartsWith("'b': not a bundle"));
  }
  std::filesystem::current_path(before);
}

TEST_F(CApiBuild, BuilderThatRequiresSignaturesRequiresThemOfFiles) {
  const std::string path = (m_folder.path() / "a.clbin").string();
  write(path, bundle_of_text());
  m_settings.signature_policy = CLBIN_SIGNATURES_REQUIRED;
  m_settings.unsigned_builds = CLBIN_SWITCH_ON;
  const Builder builder(&m_settings);
  EXPECT_THROW(builder.add_file(path), Error);
  EXPECT_THROW(builder.add_file(path, Presence::optional, SignedOptions(PublicKey{1})), Error);
  ASSERT_EQ(::setenv("CLBIN_TEST_BUNDLES", path.c_str(), 1), 0);
  builder.add_files_of("CLBIN_TEST_BUNDLES");
  ASSERT_EQ(::unsetenv("CLBIN_TEST_BUNDLES"), 0);
  Report report;
  release(builder.build(m_context, m_device, {k_text, "-DA=1"}, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_THAT(report.warnings(),
              ElementsAre(HasSubstr("was opened without requiring a signature")));
}

TEST_F(CApiBuild, CallerDecidesThatAResultIsNotStored) {
  m_options.do_not_store();
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_THAT(m_driver.calls(), testing::Not(Contains("get_binary")));
  EXPECT_EQ(message_of(k_text), "built");
  EXPECT_EQ(m_driver.sources().size(), 2U);
  release(Builder(&m_settings)
              .build(m_context, m_device, k_text,
                     LoadOptions().resolver(&test::FakeDriver::resolve, &m_driver)));
  Report report;
  release(Builder(&m_settings).build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::user_cache);
}

TEST_F(CApiBuild, UserCacheCanBeEmptied) {
  EXPECT_EQ(message_of(k_text), "built");
  ASSERT_EQ(::setenv("CLBIN_CACHE", "0", 1), 0); // which says nothing of what is stored
  clear_cache(m_cache);
  ASSERT_EQ(::unsetenv("CLBIN_CACHE"), 0);
  Report report;
  release(Builder(&m_settings).build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.origin(), Origin::source);
  EXPECT_THROW(clear_cache("relative"), Error);
}

TEST_F(CApiBuild, ResolverIsAskedOnlyForWhatTheCallNeeds) {
  struct Asked {
    test::FakeDriver& driver;
    std::set<std::string> names{};
    std::string missing{};
  } asked{m_driver};
  m_options.resolver(
      [](const char* name, void* data) -> void* {
        auto& all = *static_cast<Asked*>(data);
        all.names.insert(name);
        return name == all.missing ? nullptr : test::FakeDriver::resolve(name, &all.driver);
      },
      &asked);
  (void)query_identity(m_device, m_options);
  EXPECT_THAT(asked.names, ElementsAre("clGetDeviceInfo", "clGetPlatformInfo"));
  EXPECT_EQ(message_of(k_text), "built");
  for (const char* name :
       {"clCreateContext", "clReleaseContext", "clGetPlatformIDs", "clGetDeviceIDs"}) {
    EXPECT_FALSE(asked.names.contains(name)) << name;
  }
  asked.missing = "clBuildProgram";
  EXPECT_EQ(message_of(k_text),
            "CLBIN_ERROR_NO_OPENCL: the caller's 'resolve' has no function 'clBuildProgram'");
}

TEST_F(CApiBuild, LibraryOfTheCallerIsUsed) {
  void* const program = ::dlopen(nullptr, RTLD_NOW);
  ASSERT_NE(program, nullptr);
  LoadOptions options;
  options.library(program);
  try {
    release(Builder(&m_settings).build(m_context, m_device, k_text, options));
    FAIL() << "this program exports no OpenCL function";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "the OpenCL library has no function 'clGetPlatformInfo'");
  }
  options.resolver(&test::FakeDriver::resolve, &m_driver);
  try {
    release(Builder(&m_settings).build(m_context, m_device, k_text, options));
    FAIL() << "it cannot be both";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "'library' and 'resolve' are both set");
  }
  (void)::dlclose(program);
}

// Strings of C++ that end with the statement would dangle in a Source that a variable holds.
static_assert(!std::is_constructible_v<Source, std::string>);
static_assert(std::is_constructible_v<Source, const std::string&>);

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

TEST_F(CApiBuild, ErrorCarriesTheCallThatFailed) {
  m_driver.script_source({CL_BUILD_PROGRAM_FAILURE, {}, "source:1: error", ""});
  try {
    release(Builder(&m_settings).build(m_context, m_device, k_text, m_options));
    FAIL() << "it was built";
  } catch (const Error& error) {
    EXPECT_EQ(error.opencl_code(), CL_BUILD_PROGRAM_FAILURE);
    EXPECT_EQ(error.stage(), "clBuildProgram");
    EXPECT_EQ(error.build_log(), "source:1: error");
  }
  const base::Bytes bytes = bundle_of_text(); // whose binary the driver refuses
  m_options.fallback(Fallback::never);
  try {
    release(Bundle::from_memory(bytes).load(m_context, m_device, "p", m_options));
    FAIL() << "the driver refuses";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), CLBIN_ERROR_BINARY_REFUSED);
    EXPECT_EQ(error.opencl_code(), CL_INVALID_BINARY);
    EXPECT_EQ(error.stage(), "clCreateProgramWithBinary");
  }
  for (const cl_device_info query :
       std::initializer_list<cl_device_info>{CL_DEVICE_NAME, CL_DEVICE_PLATFORM}) {
    cl_device_id device = m_driver.add_device(test::unknown_identity("e"));
    cl_context context = m_driver.add_context({device});
    m_driver.script_device_failure(device, query, CL_OUT_OF_RESOURCES);
    try {
      release(Builder(&m_settings).build(context, device, k_text, m_options));
      FAIL() << "the driver refuses";
    } catch (const Error& error) {
      EXPECT_EQ(error.status(), CLBIN_ERROR_OPENCL_CALL);
      EXPECT_EQ(error.opencl_code(), CL_OUT_OF_RESOURCES);
      EXPECT_EQ(error.stage(), "clGetDeviceInfo");
      EXPECT_EQ(error.build_log(), "");
    }
  }
  EXPECT_EQ(clbin_error_opencl_code(nullptr), 0);
  EXPECT_STREQ(clbin_error_stage(nullptr), "");
  EXPECT_STREQ(clbin_error_build_log(nullptr), "");
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

TEST_F(CApiBuild, CallbackTellsOfAMissBeforeTheBuildBegins) {
  for (const clbin_switch cache : {CLBIN_SWITCH_ON, CLBIN_SWITCH_OFF}) {
    m_settings.cache = cache;
    m_driver.forget_calls();
    std::vector<std::string> calls_at_miss{"not called"};
    m_options.on_attempt([&](const Attempt& attempt) {
      if (attempt.rule_number == Rule::user_cache && attempt.decision != Decision::loaded) {
        calls_at_miss = m_driver.calls();
      }
    });
    EXPECT_EQ(message_of(k_text), "built");
    EXPECT_THAT(calls_at_miss, IsEmpty());
    EXPECT_THAT(m_driver.calls(), Contains("build "));
  }
}

TEST_F(CApiBuild, BinaryOfPoclIsThatOfACopyUnlessItsOwnCacheIsOff) {
  format::DeviceIdentity pocl = test::unknown_identity("cpu");
  pocl.platform_name = "Portable Computing Language";
  pocl.driver_version = "6.0+debian"; // of older versions, kernels are asked for their sizes
  cl_device_id device = m_driver.add_device(pocl);
  cl_context context = m_driver.add_context({device});
  const auto calls_of = [&](const char* text) {
    m_driver.forget_calls();
    release(Builder(&m_settings).build(context, device, text, m_options));
    return m_driver.calls();
  };
  m_settings.cache_on_pocl = CLBIN_SWITCH_ON;
  EXPECT_THAT(calls_of(k_text),
              ElementsAre("create_source", "build ", "create_source", "build ", "get_binary"));
  EXPECT_THAT(calls_of(k_text), ElementsAre("create_binary BUILT", "build "));
  ASSERT_EQ(::setenv("POCL_KERNEL_CACHE", "0", 1), 0);
  EXPECT_THAT(calls_of("kernel void a() {}"), ElementsAre("create_source", "build ", "get_binary"));
  ASSERT_EQ(::unsetenv("POCL_KERNEL_CACHE"), 0);
  m_settings.cache_on_pocl = CLBIN_SWITCH_OFF;
  EXPECT_THAT(calls_of("kernel void b() {}"), ElementsAre("create_source", "build "));
}

TEST_F(CApiBuild, ClosedBuilderBeginsNoBinaryThatWouldTakePoclLong) {
  format::DeviceIdentity pocl = test::unknown_identity("cpu");
  pocl.platform_name = "Portable Computing Language";
  pocl.driver_version = "6.0+debian";
  cl_device_id device = m_driver.add_device(pocl);
  cl_context context = m_driver.add_context({device});
  std::vector<std::string> kernels;
  for (int i = 0; i < 17; ++i) { // of 0.3 seconds
    kernels.push_back("k" + std::to_string(i));
  }
  m_driver.script_source({CL_SUCCESS, kernels, "", "BUILT"});
  release(Builder(&m_settings).build(context, device, k_text, m_options));
  EXPECT_THAT(m_driver.calls(), ElementsAre("create_source", "build "));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(CApiBuild, NoMoreThanAFixedNumberOfProgramsOfPoclWait) {
  format::DeviceIdentity pocl = test::unknown_identity("cpu");
  pocl.platform_name = "Portable Computing Language";
  pocl.driver_version = "6.0+debian";
  cl_device_id device = m_driver.add_device(pocl);
  cl_context context = m_driver.add_context({device});
  m_settings.reuse = CLBIN_SWITCH_OFF;
  Report report;
  {
    const Builder builder(&m_settings);
    for (int i = 0; i <= 256; ++i) {
      EXPECT_THAT(report.warnings(), IsEmpty()) << i;
      const std::string text = k_text + std::string("// ") + std::to_string(i);
      release(builder.build(context, device, text, m_options, &report));
    }
  }
  EXPECT_THAT(report.warnings(),
              ElementsAre("the user cache does not store the program: too many programs of PoCL "
                          "wait for that"));
  EXPECT_EQ(m_driver.live_programs(), 0);
}

// Else PoCL before 6 could end the process: kernels of the first program may run.
TEST_F(CApiBuild, BinaryOfARequiredSizeIsTakenFromTheFirstProgramOfASourceOnly) {
  format::DeviceIdentity pocl = test::unknown_identity("cpu");
  pocl.platform_name = "Portable Computing Language";
  pocl.driver_version = "3.1+debian";
  cl_device_id device = m_driver.add_device(pocl);
  m_driver.script_source({CL_SUCCESS, {"sized"}, "", "BUILT"});
  m_settings.cache_on_pocl = CLBIN_SWITCH_ON;
  const Builder builder(&m_settings);
  const auto calls_of = [&](const char* text) {
    m_driver.forget_calls();
    release(builder.build(m_driver.add_context({device}), device, text, m_options));
    return m_driver.calls();
  };
  EXPECT_THAT(calls_of(k_text),
              ElementsAre("create_source", "build ", "create_kernel sized", "get_binary"));
  while (!remove_stored_program()) { // as if the cache were full
    std::this_thread::yield();
  }
  EXPECT_THAT(calls_of(k_text), ElementsAre("create_source", "build ", "create_kernel sized"));
  m_options.do_not_store();
  EXPECT_THAT(calls_of("kernel void b() {}"),
              ElementsAre("create_source", "build ", "create_kernel sized"));
  m_options = LoadOptions();
  m_options.resolver(&test::FakeDriver::resolve, &m_driver);
  EXPECT_THAT(calls_of("kernel void b() {}"),
              ElementsAre("create_source", "build ", "create_kernel sized"));
}

TEST_F(CApiBuild, FreeFunctionBuildsForOneAndForSeveralDevices) {
  const cl_device_id other = m_driver.add_device(test::unknown_identity("other"));
  const cl_device_id devices[] = {m_device, other};
  const cl_context context = m_driver.add_context({m_device, other});
  Report report;
  release(clbin::build(context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.devices().size(), 1U);
  release(clbin::build(context, View<cl_device_id>(devices, 2), k_text, m_options, &report));
  EXPECT_EQ(report.devices().size(), 2U);
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

TEST_F(CApiBuild, SecondBuildOfAProcessReturnsTheProgramOfTheFirst) {
  Report report;
  {
    const Builder builder(&m_settings);
    Source source("kernel void a() {} // concludes", "-DA"); // and includes nothing
    cl_program first = builder.build(m_context, m_device, source, m_options);
    m_driver.forget_calls();
    source.strings = {"kernel void", " a() {} // concludes"};
    source.label = "again";
    cl_program second = builder.build(m_context, m_device, source, m_options, &report);
    EXPECT_EQ(second, first);
    EXPECT_THAT(m_driver.calls(), IsEmpty());
    EXPECT_EQ(report.origin(), Origin::source);
    EXPECT_EQ(report.program(), "again");
    EXPECT_EQ(report.attempts().size(), 1U);
    EXPECT_EQ(report.attempts()[0].rule_number, Rule::same_process);
    EXPECT_EQ(report.attempts()[0].rule, "same process");
    EXPECT_EQ(report.devices().size(), 1U);
    release(first);
    release(second);
    EXPECT_EQ(m_driver.live_programs(), 1) << "the builder's";
  }
  EXPECT_EQ(m_driver.live_programs(), 0);
}

TEST_F(CApiBuild, ReportOfAProgramThatIsReturnedAgainHasTheWarningsOfItsTime) {
  const Builder builder(&m_settings);
  release(builder.build(m_context, m_device, k_text, m_options));
  builder.add_file("/none.clbin", Presence::optional);
  Report report;
  release(builder.build(m_context, m_device, k_text, m_options, &report));
  EXPECT_EQ(report.attempts().at(0).rule_number, Rule::same_process);
  EXPECT_THAT(report.warnings(), ElementsAre("there is no optional bundle '/none.clbin'"));
}

TEST_F(CApiBuild, ProgramThatTheApplicationHasBuiltOnceMoreIsNotReturnedAgain) {
  const Builder builder(&m_settings);
  cl_program first = builder.build(m_context, m_device, k_text, m_options);
  ASSERT_EQ(m_driver.functions().BuildProgram(first, 1, &m_device, "-DN=7", nullptr, nullptr),
            CL_SUCCESS);
  cl_program second = builder.build(m_context, m_device, k_text, m_options);
  EXPECT_NE(second, first);
  cl_program third = builder.build(m_context, m_device, k_text, m_options);
  EXPECT_EQ(third, second);
  for (cl_program program : {first, second, third}) {
    release(program);
  }
}

TEST_F(CApiBuild, CallbackOfAProgramThatIsReturnedAgainMayBuild) {
  const Builder builder(&m_settings);
  release(builder.build(m_context, m_device, k_text, m_options));
  LoadOptions inner;
  inner.resolver(&test::FakeDriver::resolve, &m_driver);
  int calls = 0;
  m_options.on_attempt([&](const Attempt&) {
    ++calls;
    release(builder.build(m_context, m_device, k_text, inner));
  });
  release(builder.build(m_context, m_device, k_text, m_options));
  EXPECT_EQ(calls, 1);
}

TEST_F(CApiBuild, OtherRequestsGetProgramsOfTheirOwn) {
  const Builder builder(&m_settings);
  std::vector<cl_program> programs;
  const auto build = [&](cl_context context, cl_device_id device, const Source& source) {
    programs.push_back(builder.build(context, device, source, m_options));
  };
  cl_device_id other = m_driver.add_device(test::unknown_identity("e"));
  cl_context of_both = m_driver.add_context({m_device, other});
  build(m_context, m_device, k_text);
  build(of_both, m_device, k_text);
  build(of_both, other, k_text);
  build(m_context, m_device, {k_text, "-DA"});
  build(m_context, m_device, "kernel void a() {} ");
  EXPECT_THAT(programs, ::testing::Each(::testing::Ne(nullptr)));
  EXPECT_EQ(std::set<cl_program>(programs.begin(), programs.end()).size(), programs.size());
  for (cl_program program : programs) {
    release(program);
  }
}

TEST_F(CApiBuild, TextThatReadsFilesIsLookedUpEachTime) {
  const Builder builder(&m_settings);
  const std::string header = (m_folder.path() / "n.h").string();
  const std::string text = "#include \"" + header + "\"\nkernel void a() {}\n";
  for (const char* number : {"int a;", "int b;"}) {
    write(header, base::Bytes(std::strlen(number), std::byte{' '}));
    Report report;
    release(builder.build(m_context, m_device, text, m_options, &report));
    EXPECT_NE(report.attempts().back().rule_number, Rule::same_process);
  }
}

TEST_F(CApiBuild, ProgramThatWasNotCheckedDoesNotServeARequestThatChecks) {
  const Builder builder(&m_settings);
  release(builder.build(m_context, m_device, k_text, m_options));
  m_options.check_answers(Answers::once);
  Report report;
  release(builder.build(m_context, m_device, k_text, m_options, &report));
  EXPECT_NE(report.attempts().back().rule_number, Rule::same_process);
}

TEST_F(CApiBuild, ProgramsAreNotReusedIfTheCallerSaysSo) {
  m_settings.reuse = CLBIN_SWITCH_OFF;
  const Builder builder(&m_settings);
  cl_program first = builder.build(m_context, m_device, k_text, m_options);
  cl_program second = builder.build(m_context, m_device, k_text, m_options);
  EXPECT_NE(first, second);
  release(first);
  release(second);
  EXPECT_EQ(m_driver.live_programs(), 0);
  m_options.fallback(Fallback::always);
  m_settings.reuse = CLBIN_SWITCH_ON;
  const Builder reusing(&m_settings);
  first = reusing.build(m_context, m_device, k_text, m_options);
  second = reusing.build(m_context, m_device, k_text, m_options);
  EXPECT_NE(first, second) << "the caller asks for a build";
  release(first);
  release(second);
}

TEST_F(CApiBuild, BuilderHoldsAtMostAThousandPrograms) {
  m_settings.cache = CLBIN_SWITCH_OFF;
  const Builder builder(&m_settings);
  for (int i = 0; i < 1100; ++i) {
    release(builder.build(m_context, m_device, {k_text, "-DN=" + std::to_string(i)}, m_options));
  }
  EXPECT_EQ(m_driver.live_programs(), 1024);
}

// Drivers do not work in a forked child, and have destroyed what they had when the process ends.
TEST_F(CApiBuild, BuilderCallsNoDriverInAForkedChildOrInAnExitHandler) {
  m_settings.cache = CLBIN_SWITCH_OFF; // no writing thread in a forked child
  // Returns how many programs are alive when everything of a child has been destroyed.
  const auto left_by = [&](const std::function<void(Builder&)>& use) {
    const pid_t child = ::fork();
    if (child == 0) {
      static test::FakeDriver* const driver = &m_driver;
      (void)std::atexit([] { ::_exit(driver->live_programs()); });
      static std::optional<Builder> builder(std::in_place, &m_settings);
      release(builder->build(m_context, m_device, k_text, m_options));
      use(*builder);
      std::exit(0);
    }
    int status = 0;
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  EXPECT_EQ(left_by([](Builder&) {}), 1) << "exit() destroys the builder after the drivers";
  EXPECT_EQ(left_by([](Builder& builder) { Builder(std::move(builder)); }), 0);
  EXPECT_EQ(left_by([this](Builder& builder) {
              const pid_t child = ::fork();
              if (child == 0) {
                Builder(std::move(builder));
                ::_exit(m_driver.live_programs());
              }
              int status = 0;
              (void)::waitpid(child, &status, 0);
              ::_exit(WEXITSTATUS(status));
            }),
            1)
      << "a forked child leaves the programs of its parent alone";
}

TEST_F(CApiBuild, ManyThreadsShareOneBuilder) {
  m_settings.reuse = CLBIN_SWITCH_OFF;
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
