// The check of known answers at a load: launches what the bundle knows of the variant with a
// program that the driver has accepted, and compares what the launches compute. Of all loads, only
// those that check read manifests and launch kernels.
#include "format/bundle/known_answers.hpp"

#include "loader/load_session.hpp"
#include "opencl/kernel_launch.hpp"

#include <fmt/format.h>

namespace clbin::loader {

namespace {

using Verdict = AnswersFound::Verdict;

// Whether the failure says nothing about what the kernel computes: memory is short, its work-groups
// are too large for the device, or the program has no such kernel there (of those of double in
// #ifdef cl_khr_fp64). After a launch, CL_OUT_OF_RESOURCES is what NVIDIA's driver reports of one
// that faults.
bool is_no_verdict(const base::FailedCall& call) {
  constexpr std::string_view k_of_memory[]{"clCreateCommandQueue", "clCreateBuffer",
                                           "clEnqueueWriteBuffer", "clCreateImage",
                                           "clCreateSampler",      "clEnqueueWriteImage"};
  const bool is_launch = call.function == "clEnqueueNDRangeKernel";
  switch (call.code) {
  case CL_MEM_OBJECT_ALLOCATION_FAILURE:
  case CL_OUT_OF_HOST_MEMORY:
    return true;
  case CL_OUT_OF_RESOURCES:
    return is_launch || call.function == "clCreateKernel" || call.function == "clSetKernelArg" ||
           std::ranges::find(k_of_memory, call.function) != std::end(k_of_memory);
  case CL_INVALID_KERNEL_NAME:
    return true;
  case CL_INVALID_WORK_GROUP_SIZE:
  case CL_INVALID_WORK_ITEM_SIZE:
    return is_launch;
  default:
    return std::ranges::find(k_of_memory, call.function) != std::end(k_of_memory);
  }
}

// Whether the next check would fail in the same way.
bool is_lasting(cl_int code, bool is_wrong) {
  return is_wrong || code == CL_INVALID_KERNEL_NAME || code == CL_INVALID_WORK_GROUP_SIZE ||
         code == CL_INVALID_WORK_ITEM_SIZE;
}

AnswersFound found_of(const base::Error& error) {
  const bool is_wrong = error.call != nullptr && !is_no_verdict(*error.call);
  return {is_wrong ? Verdict::wrong : Verdict::unchecked, error.message,
          error.call != nullptr && is_lasting(error.call->code, is_wrong)};
}

// Returns where the results of the launch differ; std::nullopt if they do not. opencl_call.
Result<std::optional<std::string>> difference_of(const opencl::Driver& driver, cl_program program,
                                                 opencl::KernelLauncher& launcher,
                                                 const format::KnownAnswer& answer,
                                                 std::vector<base::Bytes> data) {
  cl_int code = CL_SUCCESS;
  const opencl::Kernel kernel(driver.CreateKernel(program, answer.kernel.c_str(), &code),
                              driver.ReleaseKernel);
  if (code != CL_SUCCESS) {
    return opencl::call_failed("clCreateKernel", {}, code);
  }
  CLBIN_TRY(launcher.set_buffers(answer.arguments, std::move(data)));
  CLBIN_TRY(launcher.set_arguments(kernel.get()));
  CLBIN_TRY(
      launcher.launch(kernel.get(), {answer.dimensions, answer.global_size, answer.local_size}));
  CLBIN_TRY_ASSIGN(auto contents, launcher.read_results());
  std::vector<format::ExpectedBuffer> results;
  for (std::size_t i = 0; i < answer.arguments.size(); ++i) {
    if (format::is_result(answer.arguments[i])) {
      results.push_back(format::expected_buffer(i, answer.arguments[i].type,
                                                std::move(contents[results.size()])));
    }
  }
  return format::difference_of_answer(answer, results);
}

// Returns the bytes of all buffers and images. No known answer has more than k_max_recorded_bytes.
std::uint64_t buffer_bytes(const format::KnownAnswer& answer) {
  std::uint64_t bytes = 0;
  for (const format::LaunchArgument& argument : answer.arguments) {
    bytes += format::is_memory(argument) ? argument.count * element_bytes(argument.type) : 0;
  }
  return bytes;
}

AnswersFound check_launch(const opencl::Driver& driver, cl_program program,
                          opencl::KernelLauncher& launcher, const format::KnownAnswer& answer,
                          std::vector<base::Bytes> data) {
  const auto difference = difference_of(driver, program, launcher, answer, std::move(data));
  AnswersFound found = !difference ? found_of(difference.error())
                       : *difference
                           ? AnswersFound{Verdict::wrong, "a wrong result: " + **difference}
                           : AnswersFound{Verdict::right};
  if (!found.reason.empty()) {
    const std::span sizes(answer.global_size.data(), answer.dimensions);
    found.reason = fmt::format("kernel '{}' with {} work-items: {}", answer.kernel,
                               fmt::join(sizes, "x"), found.reason);
  }
  return found;
}

} // namespace

AnswersFound check_answers(const LoadSession& session, std::uint32_t device, cl_program program) {
  const Stopwatch stopwatch;
  auto manifest = session.bundle->read_manifest(session.group, &session.budget);
  if (!manifest) { // what cannot be checked because it is damaged must not pass as right
    return {Verdict::wrong, "its known answers cannot be read: " + manifest.error().message, false};
  }
  std::erase_if(manifest->answers, [&](const format::KnownAnswer& answer) {
    return answer.variant != std::string_view(session.group.variant);
  });
  if (manifest->answers.empty()) {
    return {};
  }
  auto launcher = opencl::KernelLauncher::create(session.driver, session.context,
                                                 session.request.devices[device]);
  if (!launcher) {
    return found_of(launcher.error());
  }
  const auto limit =
      static_cast<std::uint64_t>(std::chrono::microseconds(session.request.answers_limit).count());
  AnswersFound all{Verdict::right};
  for (format::KnownAnswer& answer : manifest->answers) {
    if (stopwatch.microseconds() > limit) {
      return {Verdict::unchecked,
              fmt::format("the limit of {} ms was exceeded", session.request.answers_limit.count()),
              false};
    }
    if (buffer_bytes(answer) > session.budget.memory_limit()) {
      return {Verdict::unchecked,
              fmt::format("the buffers of kernel '{}' exceed the limit of {} bytes", answer.kernel,
                          session.budget.memory_limit()),
              false};
    }
    format::ReadBudget budget = session.bundle->budget(); // not that of the program
    auto data = session.bundle->read_data(answer, budget);
    if (!data) { // as for a manifest that is damaged
      return {Verdict::wrong, "its known answers cannot be read: " + data.error().message, false};
    }
    AnswersFound one = check_launch(session.driver, program, *launcher, answer, *std::move(data));
    if (one.verdict == Verdict::wrong) {
      return one;
    }
    if (one.verdict == Verdict::unchecked) {
      all.verdict = one.verdict;
      all.reason += all.reason.empty() ? one.reason : "";
      all.is_lasting = all.is_lasting && one.is_lasting;
    }
  }
  return all;
}

} // namespace clbin::loader
