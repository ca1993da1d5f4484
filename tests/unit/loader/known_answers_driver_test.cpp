// Known answers at a load, on the machine's own drivers.

#include "driver_samples.hpp"
#include "format/bundle/known_answers.hpp"

#include <cstring>
#include <gmock/gmock.h>

namespace clbin::loader {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t k_items = 64;

format::LaunchArgument buffer_of(format::ElementType type, format::Fill fill) {
  format::LaunchArgument argument;
  argument.kind = format::ArgumentKind::buffer;
  argument.type = type;
  argument.fill = fill;
  argument.count = k_items;
  argument.seed = 1;
  return argument;
}

format::KnownAnswer answer_of(const std::string& kernel, format::LaunchArgument buffer) {
  format::KnownAnswer answer;
  answer.variant = "default";
  answer.kernel = kernel;
  answer.dimensions = 1;
  answer.global_size = {k_items, 1, 1};
  answer.device = "test";
  answer.arguments = {std::move(buffer)};
  return answer;
}

// What the kernels of sample_source() compute, with -DBASE=2.
format::KnownAnswer answer_of_scale() {
  auto answer = answer_of("scale", buffer_of(format::ElementType::f32, format::Fill::random));
  base::Bytes numbers = format::fill_buffer(answer.arguments[0]);
  for (std::size_t i = 0; i < k_items; ++i) {
    float number = 0;
    std::memcpy(&number, numbers.data() + i * sizeof number, sizeof number);
    number *= 2;
    std::memcpy(numbers.data() + i * sizeof number, &number, sizeof number);
  }
  answer.results = {format::expected_buffer(0, format::ElementType::f32, std::move(numbers))};
  return answer;
}

format::KnownAnswer answer_of_shift(std::int32_t by) {
  auto answer = answer_of("shift", buffer_of(format::ElementType::i32, format::Fill::iota));
  format::LaunchArgument& number = answer.arguments.emplace_back();
  number.number.resize(sizeof by);
  std::memcpy(number.number.data(), &by, sizeof by);
  base::Bytes numbers(k_items * sizeof by);
  for (std::size_t i = 0; i < k_items; ++i) {
    const std::int32_t result = static_cast<std::int32_t>(i) + by;
    std::memcpy(numbers.data() + i * sizeof by, &result, sizeof by);
  }
  answer.results = {format::expected_buffer(0, format::ElementType::i32, std::move(numbers))};
  return answer;
}

// A source like sample_source(), but one kernel adds one too many.
format::SourcePackage wrong_source() {
  auto source = test::sample_source();
  const std::string right = "+= by;";
  source.main.text.replace(source.main.text.find(right), right.size(), "+= by + 1;");
  return source;
}

base::Bytes bundle_bytes(std::vector<format::EntryInput> entries,
                         const std::vector<format::KnownAnswer>& answers,
                         format::SourcePackage source = test::sample_source(),
                         std::map<std::string, base::KeptBytes> data = {}) {
  format::BundleInput input;
  input.producer = "test";
  format::ProgramInput& program = input.programs.emplace_back();
  program.name = "sample";
  program.source = std::move(source);
  program.variants = {{"default", "-DBASE=2"}};
  program.entries = std::move(entries);
  program.answers = {answers.begin(), answers.end()};
  program.data = std::move(data);
  auto written = format::write_bundle(input, {});
  EXPECT_TRUE(written.has_value()) << written.error().message;
  return std::move(written).value_or(base::Bytes());
}

format::BundleReader open(base::Bytes bytes) {
  auto reader = format::BundleReader::open(base::owning_source(std::move(bytes), "test"));
  EXPECT_TRUE(reader.has_value()) << reader.error().message;
  return std::move(reader).value();
}

// The functions of a driver that count launches, or fail instead.
int launch_count = 0;
cl_int refusal = CL_INVALID_WORK_GROUP_SIZE;
decltype(opencl::Driver::EnqueueNDRangeKernel) real_launch = nullptr;
decltype(opencl::Driver::Finish) real_finish = nullptr;

cl_int CL_API_CALL count_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                const size_t* offset, const size_t* global, const size_t* local,
                                cl_uint count, const cl_event* waits, cl_event* event) {
  ++launch_count;
  return real_launch(queue, kernel, dimensions, offset, global, local, count, waits, event);
}

cl_int CL_API_CALL refuse_launch(cl_command_queue /*queue*/, cl_kernel /*kernel*/,
                                 cl_uint /*dimensions*/, const size_t* /*offset*/,
                                 const size_t* /*global*/, const size_t* /*local*/,
                                 cl_uint /*count*/, const cl_event* /*waits*/,
                                 cl_event* /*event*/) {
  return refusal;
}

cl_mem CL_API_CALL refuse_buffer(cl_context /*context*/, cl_mem_flags /*flags*/, size_t /*size*/,
                                 void* /*memory*/, cl_int* code) {
  *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}

// Waits, because drivers crash if a process ends while they compile for a launch (PoCL).
cl_int CL_API_CALL fail_to_finish(cl_command_queue queue) {
  (void)real_finish(queue);
  return CL_OUT_OF_RESOURCES;
}

// Loads on one device as a process of its own, with a user cache that the loads share.
class Loads {
public:
  explicit Loads(const test::InstalledDevice& installed)
      : driver(installed.driver), m_device(installed.device),
        m_context(test::make_context(installed)) {
    real_launch = driver.EnqueueNDRangeKernel;
    driver.EnqueueNDRangeKernel = count_launch;
    m_settings.use = cache::CacheUse::on;
    m_settings.folder = m_folder.path();
    m_settings.now = [] { return std::chrono::system_clock::now(); };
    m_settings.pause = [](std::chrono::milliseconds) {};
  }

  base::Result<opencl::Program> load(const format::BundleReader& bundle, AnswerCheck::When when,
                                     FallbackPolicy policy = FallbackPolicy::if_needed) {
    launch_count = 0;
    const AnswerCheck check{when, check_answers};
    LoadRequest request = test::request_for({m_device}, policy);
    request.answers = &check;
    request.answers_limit = limit;
    request.extra_options = extra_options;
    ProgramCache cache(m_settings);
    auto program = load_program(driver, bundle, cache, m_context.get(), request, report);
    (void)test::take_cache_misses(report);
    return program;
  }

  [[nodiscard]] const opencl::Context& context() const { return m_context; }

  opencl::Driver driver;
  LoadReport report;
  std::chrono::milliseconds limit{100'000}; // Oclgrind is slow
  std::string extra_options{};

private:
  base::TemporaryFolder m_folder = base::TemporaryFolder::create({}, "clbin-answers-test-").value();
  cl_device_id m_device;
  opencl::Context m_context;
  cache::CacheSettings m_settings;
};

constexpr auto k_once = AnswerCheck::When::once;
constexpr auto k_always = AnswerCheck::When::always;

TEST(KnownAnswersOnDrivers, OfARightBinaryAreCheckedOnce) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto entry =
        test::build_entry(installed, loads.context(), test::sample_source(), "-DBASE=2");
    const auto bundle = open(bundle_bytes({entry}, {answer_of_scale(), answer_of_shift(5)}));
    const auto expect_launches = [&](const format::BundleReader& loaded, AnswerCheck::When when,
                                     int launches) {
      const auto program = loads.load(loaded, when, FallbackPolicy::never);
      ASSERT_TRUE(program.has_value()) << program.error().message;
      EXPECT_EQ(launch_count, launches);
      EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("; it gives its known answers"));
    };
    expect_launches(bundle, k_once, 2);
    expect_launches(bundle, k_once, 0);
    expect_launches(bundle, k_always, 2);
    const auto other = open(bundle_bytes({entry}, {answer_of_scale(), answer_of_shift(6)}));
    expect_launches(other, k_once, 2); // the answers of another bundle
  }
}

TEST(KnownAnswersOnDrivers, ExcludeABinaryThatComputesSomethingElse) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto wrong = test::build_entry(installed, loads.context(), wrong_source(), "-DBASE=2");
    const auto bundle = open(bundle_bytes({wrong}, {answer_of_scale(), answer_of_shift(5)}));
    auto program = loads.load(bundle, k_once);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(loads.report);
    EXPECT_EQ(loads.report.origin, Origin::source) << describe(loads.report);
    EXPECT_EQ(loads.report.attempts.at(0).decision, Decision::wrong_answer);
    EXPECT_EQ(loads.report.attempts.at(0).reason,
              "kernel 'shift' with 64 work-items: a wrong result: argument 0, other integers");
    EXPECT_EQ(launch_count, 4); // and those of the program that is built from source
    test::expect_kernels(installed, *program);

    program = loads.load(bundle, k_once);
    ASSERT_TRUE(program.has_value()) << program.error().message << "\n" << describe(loads.report);
    EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("(found by an earlier load)"));
    // What the user cache took from the driver is another binary.
    EXPECT_EQ(launch_count, loads.report.origin == Origin::user_cache ? 2 : 0);

    program = loads.load(bundle, k_always, FallbackPolicy::never);
    ASSERT_FALSE(program.has_value());
    EXPECT_EQ(program.error().code, base::ErrorCode::binary_refused);
    EXPECT_THAT(
        program.error().message,
        HasSubstr("1 of the bundle's entries for program 'sample', variant 'default', for '"));
    EXPECT_THAT(program.error().message, HasSubstr("computes something wrong: kernel 'shift'"));
  }
}

TEST(KnownAnswersOnDrivers, ExcludeSourceThatIsBuiltWrong) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto bundle = open(bundle_bytes({}, {answer_of_shift(5)}, wrong_source()));
    for (const char* remembered : {"", " (found by an earlier load)"}) {
      const auto program = loads.load(bundle, k_once);
      ASSERT_FALSE(program.has_value());
      EXPECT_EQ(program.error().code, base::ErrorCode::build_failed);
      EXPECT_THAT(program.error().message,
                  HasSubstr("was built, and computes something wrong: kernel 'shift' with 64 "
                            "work-items: a wrong result: argument 0, other integers" +
                            std::string(remembered)));
      EXPECT_EQ(loads.report.attempts.back().decision, Decision::wrong_answer);
    }
  }
}

TEST(KnownAnswersOnDrivers, ThatTheKernelCannotHaveExcludeIt) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto entry =
        test::build_entry(installed, loads.context(), test::sample_source(), "-DBASE=2");
    format::KnownAnswer larger = answer_of_shift(5);
    larger.arguments.push_back(larger.arguments.back());
    (void)loads.load(open(bundle_bytes({entry}, {larger})), k_always, FallbackPolicy::never);
    EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("clSetKernelArg(2) failed"));
    EXPECT_EQ(loads.report.attempts.at(0).decision, Decision::wrong_answer);
  }
}

TEST(KnownAnswersOnDrivers, AreNotKnownForOptionsOfRunTime) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    loads.extra_options = "-DSEVEN=7";
    const auto bundle = open(bundle_bytes({}, {answer_of_shift(5)}, wrong_source()));
    const auto program = loads.load(bundle, k_once);
    ASSERT_TRUE(program.has_value()) << program.error().message;
    EXPECT_EQ(launch_count, 0);
  }
}

TEST(KnownAnswersOnDrivers, SayWhatCouldNotBeChecked) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto wrong = test::build_entry(installed, loads.context(), wrong_source(), "-DBASE=2");
    const auto bundle = open(bundle_bytes({wrong}, {answer_of_shift(5)}));
    const auto reason = [&] {
      const auto program = loads.load(bundle, k_once, FallbackPolicy::never);
      EXPECT_TRUE(program.has_value()) << program.error().message;
      return loads.report.attempts.at(0).reason;
    };
    format::KnownAnswer missing = answer_of_shift(5);
    missing.kernel = "of_double";
    (void)loads.load(open(bundle_bytes({wrong}, {missing})), k_once, FallbackPolicy::never);
    EXPECT_THAT(loads.report.attempts.at(0).reason,
                HasSubstr("kernel 'of_double' with 64 work-items: clCreateKernel failed"));
    const opencl::Driver whole = loads.driver;
    loads.limit = std::chrono::milliseconds(0);
    EXPECT_THAT(reason(), HasSubstr("; known answers were not checked: the limit of 0 ms was"));
    loads.limit = std::chrono::milliseconds(100'000);
    loads.driver.CreateBuffer = refuse_buffer;
    EXPECT_THAT(reason(), HasSubstr("clCreateBuffer failed: CL_MEM_OBJECT_ALLOCATION_FAILURE"));
    loads.driver = whole;
    loads.driver.EnqueueNDRangeKernel = refuse_launch;
    EXPECT_THAT(reason(), HasSubstr("kernel 'shift' with 64 work-items: clEnqueueNDRangeKernel "
                                    "failed: CL_INVALID_WORK_GROUP_SIZE"));
    // The device does not grow: only this is remembered.
    loads.driver = whole;
    EXPECT_THAT(reason(), HasSubstr("CL_INVALID_WORK_GROUP_SIZE"));
    EXPECT_EQ(launch_count, 0);
  }
}

TEST(KnownAnswersOnDrivers, AreCheckedAgainIfOneOfThemCouldNotBeForAWhile) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto wrong = test::build_entry(installed, loads.context(), wrong_source(), "-DBASE=2");
    format::KnownAnswer missing = answer_of_scale();
    missing.kernel = "missing"; // before "scale" and "shift" in the manifest, and lasting
    const auto bundle = open(bundle_bytes({wrong}, {missing, answer_of_shift(5)}));
    const opencl::Driver whole = loads.driver;
    loads.driver.CreateBuffer = refuse_buffer;
    ASSERT_TRUE(loads.load(bundle, k_once, FallbackPolicy::never).has_value());
    EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("kernel 'missing' with 64"));
    loads.driver = whole; // the memory is back
    EXPECT_FALSE(loads.load(bundle, k_once, FallbackPolicy::never).has_value());
    EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("kernel 'shift' with 64"));
  }
}

// Of a kernel that copies the four numbers of one pixel.
format::KnownAnswer answer_with_an_image(const std::string& digest) {
  constexpr auto k_type = format::ElementType::i32;
  format::KnownAnswer answer = answer_of("copy", {});
  answer.global_size = {1, 1, 1};
  answer.arguments[0].kind = format::ArgumentKind::image;
  answer.arguments[0].type = k_type;
  answer.arguments[0].fill = format::Fill::stored;
  answer.arguments[0].count = 4;
  answer.arguments[0].is_constant = true;
  answer.arguments[0].digest = digest;
  answer.arguments[0].properties = {CL_MEM_OBJECT_IMAGE2D, CL_RGBA, CL_SIGNED_INT32, 1, 1, 0, 0};
  answer.arguments.push_back(buffer_of(k_type, format::Fill::zero));
  answer.arguments[1].count = 4;
  return answer;
}

TEST(KnownAnswersOnDrivers, WithImagesAreChecked) {
  const base::Bytes pixel =
      format::fill_buffer(buffer_of(format::ElementType::i32, format::Fill::iota));
  const base::Bytes four(pixel.begin(), pixel.begin() + 16);
  const std::string digest = base::to_hex(base::digest_of(four));
  format::KnownAnswer answer = answer_with_an_image(digest);
  answer.results = {format::expected_buffer(1, format::ElementType::i32, four)};
  const auto source_of = [](const std::string& component) {
    format::SourcePackage source;
    source.main.include_name = source.main.display_name = "copy.cl";
    source.main.text = "kernel void copy(read_only image2d_t from, global int4* to) {\n"
                       "  *to = read_imagei(from, (int2)(0))." +
                       component + ";\n}\n";
    return source;
  };
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto bundle = [&](const std::string& component) {
      return open(bundle_bytes({}, {answer}, source_of(component), {{digest, four}}));
    };
    const auto right = loads.load(bundle("xyzw"), k_once);
    if (loads.report.attempts.back().reason.find("clCreateImage") != std::string::npos) {
      continue; // a device without images
    }
    ASSERT_TRUE(right.has_value()) << right.error().message;
    EXPECT_EQ(launch_count, 1) << loads.report.attempts.back().reason;
    const auto wrong = loads.load(bundle("xyzz"), k_once);
    ASSERT_FALSE(wrong.has_value());
    EXPECT_THAT(wrong.error().message, HasSubstr("a wrong result: argument 1, other integers"));
  }
}

TEST(KnownAnswersOnDrivers, CountALaunchThatDoesNotFitTheKernelAsWrong) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto entry =
        test::build_entry(installed, loads.context(), test::sample_source(), "-DBASE=2");
    loads.driver.EnqueueNDRangeKernel = refuse_launch;
    refusal = CL_INVALID_KERNEL_ARGS;
    (void)loads.load(open(bundle_bytes({entry}, {answer_of_shift(5)})), k_once);
    EXPECT_EQ(loads.report.attempts.at(0).decision, Decision::wrong_answer);
    refusal = CL_INVALID_WORK_GROUP_SIZE;
  }
}

TEST(KnownAnswersOnDrivers, CountALaunchThatFailsAsWrong) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto entry =
        test::build_entry(installed, loads.context(), test::sample_source(), "-DBASE=2");
    const auto bundle = open(bundle_bytes({entry}, {answer_of_shift(5)}));
    real_finish = loads.driver.Finish;
    loads.driver.Finish = fail_to_finish;
    EXPECT_FALSE(loads.load(bundle, k_once, FallbackPolicy::never).has_value());
    EXPECT_THAT(loads.report.attempts.at(0).reason, HasSubstr("clFinish failed"));
  }
}

TEST(KnownAnswersOnDrivers, ThatCannotBeReadExcludeEveryProgram) {
  CLBIN_FOR_EACH_DEVICE(installed) {
    SCOPED_TRACE(installed.name);
    Loads loads(installed);
    const auto entry =
        test::build_entry(installed, loads.context(), test::sample_source(), "-DBASE=2");
    base::Bytes bytes = bundle_bytes({entry}, {answer_of_shift(5)});
    {
      const auto whole = format::BundleReader::open(base::memory_source(bytes));
      ASSERT_TRUE(whole.has_value());
      const auto frame = whole->read_frame(whole->group(0)->manifest_blob);
      ASSERT_TRUE(frame.has_value());
      bytes[static_cast<std::size_t>(frame->view().data() - bytes.data()) + 20] ^= std::byte{1};
    }
    const auto program = loads.load(open(std::move(bytes)), k_once);
    ASSERT_FALSE(program.has_value());
    EXPECT_THAT(program.error().message, HasSubstr("its known answers cannot be read"));
    EXPECT_EQ(launch_count, 0);
  }
}

} // namespace
} // namespace clbin::loader
