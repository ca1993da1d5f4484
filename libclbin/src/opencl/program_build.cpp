#include "opencl/program_build.hpp"

#include "base/text.hpp"
#include "format/bundle/shared_text.hpp"
#include "opencl/device_query.hpp"

namespace clbin::opencl {
namespace {

// The options that clLinkProgram accepts for an executable (OpenCL 3.0, section 5.8.7). All others
// belong to clCompileProgram.
constexpr std::string_view k_link_options[] = {
    "-cl-denorms-are-zero", "-cl-no-signed-zeros",   "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only", "-cl-fast-relaxed-math", "-cl-no-subgroup-ifp",
};

constexpr std::string_view k_argument_info = "-cl-kernel-arg-info";

// Returns the words that are options: neither within quotes nor the name of a macro. None if a
// quote does not end.
std::vector<std::string_view> option_names(std::string_view options) {
  std::vector<std::string_view> names;
  bool is_macro = false;
  const auto words = base::split_option_words(options);
  for (const base::OptionWord& word : words.value_or(std::vector<base::OptionWord>())) {
    if (!is_macro) {
      names.push_back(word.text);
    }
    is_macro = !is_macro && base::awaits_macro(word.text);
  }
  return names;
}

std::string link_options_of(std::string_view options) {
  std::string result;
  for (const std::string_view name : option_names(options)) {
    if (std::find(std::begin(k_link_options), std::end(k_link_options), name) !=
        std::end(k_link_options)) {
      result += result.empty() ? "" : " ";
      result += name;
    }
  }
  return result;
}

// Returns what a function of the driver created; `if_null` is the code of a success without it.
BuildOutcome outcome_of(const Driver& driver, cl_program program, cl_int code, cl_int if_null,
                        const char* stage) {
  Program owned(program, driver.ReleaseProgram);
  if (code == CL_SUCCESS) {
    return {std::move(owned), program == nullptr ? if_null : code, stage, {}};
  }
  return {{}, code, stage, {}};
}

// What the layer is told of a program.
BuildOutcome announced(const Driver& driver, BuildOutcome outcome) {
  if (driver.LabelProgram != nullptr && outcome.program) {
    driver.LabelProgram(outcome.program.get(), driver.label);
  }
  if (driver.KeepNothingOf != nullptr && outcome.program) {
    driver.KeepNothingOf(outcome.program.get());
  }
  return outcome;
}

BuildOutcome create_from_strings(const Driver& driver, cl_context context,
                                 const std::vector<std::string_view>& strings) {
  std::vector<const char*> pointers;
  std::vector<std::size_t> lengths;
  for (const std::string_view text : strings) {
    // A length of 0 means that the string is null-terminated.
    pointers.push_back(text.empty() ? "" : text.data());
    lengths.push_back(text.size());
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = driver.CreateProgramWithSource(
      context, static_cast<cl_uint>(pointers.size()), pointers.data(), lengths.data(), &code);
  return announced(driver, outcome_of(driver, program, code, CL_OUT_OF_HOST_MEMORY,
                                      "clCreateProgramWithSource"));
}

std::string join_logs(const std::string& first, const std::string& second) {
  if (first.empty() || second.empty() || first == second) {
    return first.empty() ? second : first;
  }
  return first + "\n" + second;
}

// Returns the link options to try, best first. Drivers return different error codes for an option
// that they reject. At the link, PoCL 3.1 rejects options that the specification allows
// (CL_INVALID_LINKER_OPTIONS); the compile step has already applied them. It keeps argument
// information only if the option is also passed to the link, although the specification does not
// list it there.
std::vector<std::string> link_options_to_try(std::string_view options) {
  const std::string allowed = link_options_of(options);
  const auto names = option_names(options);
  const bool has_information = std::ranges::find(names, k_argument_info) != names.end();
  const std::string information(has_information ? k_argument_info : "");
  std::vector<std::string> tries;
  for (const std::string& text :
       {joined_options(allowed, information), information, allowed, std::string()}) {
    if (std::ranges::find(tries, text) == tries.end()) {
      tries.push_back(text);
    }
  }
  return tries;
}

// A program that failed to link contains the log.
BuildOutcome link_program(const Driver& driver, cl_context context,
                          const std::vector<cl_device_id>& devices, cl_program compiled,
                          const std::string& options) {
  BuildOutcome linked;
  for (const std::string& text : link_options_to_try(options)) {
    cl_int code = CL_SUCCESS;
    Program program(driver.LinkProgram(context, static_cast<cl_uint>(devices.size()),
                                       devices.data(), text.c_str(), 1, &compiled, nullptr, nullptr,
                                       &code),
                    driver.ReleaseProgram);
    const bool is_missing = code == CL_SUCCESS && !program;
    linked = {std::move(program), is_missing ? CL_LINK_PROGRAM_FAILURE : code, "clLinkProgram", {}};
    if (linked.code == CL_SUCCESS) {
      break;
    }
  }
  return linked;
}

BuildOutcome compile_and_link(const Driver& driver, cl_context context,
                              const std::vector<cl_device_id>& devices,
                              const format::SourcePackage& source, const std::string& options) {
  BuildOutcome created = create_from_strings(driver, context, {source.main.text});
  if (created.code != CL_SUCCESS) {
    return created;
  }
  if (driver.CompileProgram == nullptr || driver.LinkProgram == nullptr) {
    return {{},
            CL_INVALID_OPERATION,
            "clCompileProgram",
            "embedded headers require clCompileProgram, which the OpenCL library does not have"};
  }
  std::vector<Program> owned;
  std::vector<cl_program> headers;
  std::vector<const char*> names;
  for (const format::SourceFile& header : source.headers) {
    BuildOutcome outcome = create_from_strings(driver, context, {header.text});
    if (outcome.code != CL_SUCCESS) {
      return outcome;
    }
    headers.push_back(outcome.program.get());
    names.push_back(header.include_name.c_str());
    owned.push_back(std::move(outcome.program));
  }
  const cl_program main_program = created.program.get();
  const cl_int code = driver.CompileProgram(
      main_program, static_cast<cl_uint>(devices.size()), devices.data(), options.c_str(),
      static_cast<cl_uint>(headers.size()), headers.data(), names.data(), nullptr, nullptr);
  std::string log = build_log(driver, main_program, devices);
  if (code != CL_SUCCESS) {
    return {{}, code, "clCompileProgram", std::move(log)};
  }
  BuildOutcome linked = link_program(driver, context, devices, main_program, options);
  linked.log =
      linked.program ? join_logs(log, build_log(driver, linked.program.get(), devices)) : log;
  if (linked.code != CL_SUCCESS) {
    linked.program = Program();
  }
  return linked;
}

BuildOutcome check_kernels(const Driver& driver, cl_program program,
                           const std::vector<std::string>& kernels) {
  if (kernels.empty()) {
    return {};
  }
  const Result<std::vector<std::string>> found = program_kernel_names(driver, program);
  if (!found) {
    auto created = create_kernels(driver, program, kernels);
    return created ? BuildOutcome{} : std::move(created.error());
  }
  const auto missing = std::ranges::find_if(kernels, [&](const std::string& name) {
    return std::ranges::find(*found, name) == found->end();
  });
  return missing == kernels.end()
             ? BuildOutcome{}
             : BuildOutcome{{},
                            CL_INVALID_KERNEL_NAME,
                            "clGetProgramInfo",
                            fmt::format("the program has no kernel '{}'", format::told(*missing))};
}

// Returns `created` if it is a failure.
BuildOutcome build_created(const Driver& driver, BuildOutcome created,
                           const std::vector<cl_device_id>& devices, const std::string& options,
                           const std::vector<std::string>& kernels) {
  if (created.code != CL_SUCCESS) {
    return created;
  }
  cl_program program = created.program.get();
  const cl_int code = driver.BuildProgram(program, static_cast<cl_uint>(devices.size()),
                                          devices.data(), options.c_str(), nullptr, nullptr);
  // Read after a success, too: only the log shows that Intel's driver built the IR instead.
  std::string log = build_log(driver, program, devices);
  if (code != CL_SUCCESS) {
    return {{}, code, "clBuildProgram", std::move(log)};
  }
  BuildOutcome check = check_kernels(driver, program, kernels);
  if (check.code != CL_SUCCESS) {
    return check;
  }
  return {std::move(created.program), CL_SUCCESS, "clBuildProgram", std::move(log)};
}

} // namespace

tl::expected<std::vector<Kernel>, BuildOutcome>
create_kernels(const Driver& driver, cl_program program, const std::vector<std::string>& names) {
  std::vector<Kernel> kernels;
  for (const std::string& name : names) {
    cl_int code = CL_SUCCESS;
    Kernel kernel(driver.CreateKernel(program, name.c_str(), &code), driver.ReleaseKernel);
    if (code != CL_SUCCESS || !kernel) {
      return tl::unexpected(
          BuildOutcome{{},
                       code == CL_SUCCESS ? CL_INVALID_KERNEL_NAME : code,
                       "clCreateKernel",
                       fmt::format("kernel '{}' cannot be created", format::told(name))});
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string joined_options(std::string_view first, std::string_view second) {
  return fmt::format("{}{}{}", first, first.empty() || second.empty() ? "" : " ", second);
}

bool reports_recompiling(std::string_view log) noexcept {
  return log.find("-Wrecompiled-from-ir") != std::string_view::npos;
}

BuildOutcome build_from_source(const Driver& driver, cl_context context,
                               const std::vector<cl_device_id>& devices,
                               const format::SourcePackage& source, const std::string& options) {
  return source.headers.empty()
             ? build_from_strings(driver, context, devices, {source.main.text}, options)
             : compile_and_link(driver, context, devices, source, options);
}

BuildOutcome build_from_strings(const Driver& driver, cl_context context,
                                const std::vector<cl_device_id>& devices,
                                const std::vector<std::string_view>& strings,
                                const std::string& options) {
  return build_created(driver, create_from_strings(driver, context, strings), devices, options, {});
}

namespace {

// Returns why a device must not see the module, as a sentence; empty if each may. A module that
// requires what a driver lacks ends the process on some (doc/drivers.md, "Intel's CPU runtime").
std::string unaccepted_by(const Driver& driver, const std::vector<cl_device_id>& devices,
                          base::ByteView il) {
  const auto required = format::read_spirv_features(il);
  if (!required || *required == format::SpirvFeatures()) {
    return {}; // the driver judges other languages
  }
  for (cl_device_id device : devices) {
    const auto accepted = query_spirv_features(driver, device);
    const std::string missing =
        accepted ? format::missing_spirv_feature(*required, *accepted) : std::string();
    if (!missing.empty()) {
      return fmt::format("the module requires {} of SPIR-V, which the device '{}' does not accept",
                         missing, device_text(driver, device, CL_DEVICE_NAME).value_or(""));
    }
  }
  return {};
}

} // namespace

BuildOutcome build_from_il(const Driver& driver, cl_context context,
                           const std::vector<cl_device_id>& devices, base::ByteView il,
                           const std::vector<SpecializationConstant>& constants,
                           const std::string& options, const std::vector<std::string>& kernels) {
  if (driver.CreateProgramWithIL == nullptr) {
    return {{},
            CL_INVALID_OPERATION,
            "clCreateProgramWithIL",
            "the OpenCL library has no such function"};
  }
  if (std::string reason = unaccepted_by(driver, devices, il); !reason.empty()) {
    return {{}, CL_INVALID_VALUE, "clCreateProgramWithIL", std::move(reason)};
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = driver.CreateProgramWithIL(context, il.data(), il.size(), &code);
  BuildOutcome outcome = announced(
      driver, outcome_of(driver, program, code, CL_INVALID_VALUE, "clCreateProgramWithIL"));
  if (outcome.code != CL_SUCCESS) {
    return outcome;
  }
  for (const SpecializationConstant& constant : constants) {
    code = driver.SetProgramSpecializationConstant == nullptr
               ? CL_INVALID_OPERATION
               : driver.SetProgramSpecializationConstant(
                     program, constant.id, constant.value.size(), constant.value.data());
    if (code != CL_SUCCESS) {
      return {{},
              code,
              "clSetProgramSpecializationConstant",
              fmt::format("specialisation constant {} of {} bytes", constant.id,
                          constant.value.size())};
    }
  }
  return build_created(driver, std::move(outcome), devices, options, kernels);
}

BuildOutcome build_from_binary(const Driver& driver, cl_context context, cl_device_id device,
                               base::ByteView binary, const std::string& options,
                               const std::vector<std::string>& kernels) {
  return build_from_binaries(driver, context, {device}, {binary}, options, kernels);
}

BuildOutcome build_from_binaries(const Driver& driver, cl_context context,
                                 const std::vector<cl_device_id>& devices,
                                 const std::vector<base::ByteView>& binaries,
                                 const std::string& options,
                                 const std::vector<std::string>& kernels) {
  std::vector<const unsigned char*> pointers;
  std::vector<std::size_t> lengths;
  for (const base::ByteView binary : binaries) {
    pointers.push_back(reinterpret_cast<const unsigned char*>(binary.data()));
    lengths.push_back(binary.size());
  }
  std::vector<cl_int> statuses(devices.size(), CL_SUCCESS); // some drivers do not write them
  cl_int code = CL_SUCCESS;
  const cl_program program =
      driver.CreateProgramWithBinary(context, static_cast<cl_uint>(devices.size()), devices.data(),
                                     lengths.data(), pointers.data(), statuses.data(), &code);
  const auto bad =
      std::ranges::find_if(statuses, [](cl_int status) { return status != CL_SUCCESS; });
  code = code == CL_SUCCESS && bad != statuses.end() ? *bad : code;
  return build_created(
      driver, outcome_of(driver, program, code, CL_INVALID_BINARY, "clCreateProgramWithBinary"),
      devices, options, kernels);
}

} // namespace clbin::opencl
