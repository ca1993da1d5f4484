// Calls that create, build and release programs.
#include "faults/intercepted_call.hpp"

namespace clbin::faults {

namespace {

std::string joined(cl_uint count, const char** texts, const std::size_t* lengths) {
  std::string all;
  for (cl_uint i = 0; i < count; ++i) {
    const std::size_t length = lengths == nullptr ? 0 : lengths[i];
    all += length == 0 ? std::string_view(texts[i]) : std::string_view(texts[i], length);
  }
  return all;
}

cl_program CL_API_CALL create_program_with_source(cl_context context, cl_uint count,
                                                  const char** texts, const std::size_t* lengths,
                                                  cl_int* code_ret) {
  Subject subject = subject_of_context(context, ProgramOrigin::source);
  subject.source = joined(count, texts, lengths);
  if (const auto rule = before(Call::create_program_with_source, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program =
      next().clCreateProgramWithSource(context, count, texts, lengths, &code);
  layer().state.remember_origin(program, ProgramOrigin::source);
  log_call(Call::create_program_with_source, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void* il,
                                              std::size_t length, cl_int* code_ret) {
  const Subject subject = subject_of_context(context, ProgramOrigin::il);
  if (const auto rule = before(Call::create_program_with_il, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = next().clCreateProgramWithIL(context, il, length, &code);
  layer().state.remember_origin(program, ProgramOrigin::il);
  log_call(Call::create_program_with_il, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

struct BinaryRequest {
  cl_context context;
  cl_uint count;
  const cl_device_id* devices;
  const std::size_t* lengths;
  const unsigned char** binaries;
  cl_int* statuses;
};

cl_program create_for_real(const BinaryRequest& request, cl_int& code) {
  const cl_program program =
      next().clCreateProgramWithBinary(request.context, request.count, request.devices,
                                       request.lengths, request.binaries, request.statuses, &code);
  layer().state.remember_origin(program, ProgramOrigin::binary);
  return program;
}

void set_statuses(const BinaryRequest& request, cl_int status) {
  if (request.statuses != nullptr) {
    std::fill_n(request.statuses, request.count, status);
  }
}

cl_program refuse(const BinaryRequest& request, RefusalStyle style, cl_int refusal, cl_int& code) {
  code = refusal;
  switch (style) {
  case RefusalStyle::honest:
    set_statuses(request, refusal);
    return nullptr;
  case RefusalStyle::null_success:
    set_statuses(request, CL_SUCCESS);
    code = CL_SUCCESS;
    return nullptr;
  case RefusalStyle::status_success:
    set_statuses(request, CL_SUCCESS);
    return nullptr;
  case RefusalStyle::unwritten_status:
    return nullptr;
  case RefusalStyle::program_with_error:
  case RefusalStyle::last_status:
    break;
  }
  const cl_program program = create_for_real(request, code);
  if (program == nullptr) {
    return nullptr; // the driver itself rejected it
  }
  if (style == RefusalStyle::program_with_error) {
    set_statuses(request, refusal);
    code = refusal;
    return program;
  }
  set_statuses(request, CL_SUCCESS);
  if (request.statuses != nullptr) {
    request.statuses[0] = refusal;
  }
  code = request.count == 1 ? refusal : CL_SUCCESS;
  return program;
}

cl_program CL_API_CALL create_program_with_binary(cl_context context, cl_uint count,
                                                  const cl_device_id* devices,
                                                  const std::size_t* lengths,
                                                  const unsigned char** binaries, cl_int* statuses,
                                                  cl_int* code_ret) {
  const Subject subject =
      subject_of({devices, devices + (devices == nullptr ? 0 : count)}, ProgramOrigin::binary);
  if (const auto rule = before(Call::create_program_with_binary, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  const BinaryRequest request{context, count, devices, lengths, binaries, statuses};
  const auto rule = layer().state.match(Fault::refuse, Call::create_program_with_binary, subject);
  cl_int code = CL_SUCCESS;
  const cl_program program = rule.has_value() ? refuse(request, *rule->style, *rule->code, code)
                                              : create_for_real(request, code);
  const std::string outcome =
      rule.has_value() ? fmt::format("refuse:{}", to_string(*rule->style)) : "passed";
  log_call(Call::create_program_with_binary, subject, outcome, code);
  set_code(code_ret, code);
  return program;
}

cl_int CL_API_CALL release_program(cl_program program) {
  const Subject subject = subject_of_program(program);
  (void)before(Call::release_program, subject);
  const cl_int code = next().clReleaseProgram(program);
  log_call(Call::release_program, subject, "passed", code);
  return code;
}

using ProgramCallback = void(CL_CALLBACK*)(cl_program, void*);

// Remembers a build that the driver carries out.
void note_build(Call call, const Subject& subject, cl_program program) {
  const auto log = layer().state.match(Fault::build_log, call, subject);
  layer().state.remember_build(program, std::nullopt, log.has_value() ? log->text : std::nullopt);
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, ProgramCallback callback, void* user_data) {
  const Subject subject = subject_of_build(program, count, devices);
  if (const auto rule = before(Call::build_program, subject)) {
    layer().state.remember_build(program, rule->code, rule->text.value_or(std::string()));
    return *rule->code;
  }
  const cl_int code = next().clBuildProgram(program, count, devices, options, callback, user_data);
  note_build(Call::build_program, subject, program);
  log_call(Call::build_program, subject, "passed", code);
  return code;
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** header_names,
                                   ProgramCallback callback, void* user_data) {
  const Subject subject = subject_of_build(program, count, devices);
  if (const auto rule = before(Call::compile_program, subject)) {
    layer().state.remember_build(program, rule->code, rule->text.value_or(std::string()));
    return *rule->code;
  }
  const cl_int code = next().clCompileProgram(program, count, devices, options, header_count,
                                              headers, header_names, callback, user_data);
  note_build(Call::compile_program, subject, program);
  log_call(Call::compile_program, subject, "passed", code);
  return code;
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint input_count,
                                    const cl_program* inputs, ProgramCallback callback,
                                    void* user_data, cl_int* code_ret) {
  const ProgramOrigin origin = input_count == 0 || inputs == nullptr
                                   ? ProgramOrigin::unknown
                                   : layer().state.origin_of(inputs[0]);
  const Subject subject = count == 0 || devices == nullptr
                              ? subject_of_context(context, origin)
                              : subject_of({devices, devices + count}, origin);
  if (const auto rule = before(Call::link_program, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_program program = next().clLinkProgram(context, count, devices, options, input_count,
                                                  inputs, callback, user_data, &code);
  layer().state.remember_origin(program, origin);
  if (program != nullptr) {
    note_build(Call::link_program, subject, program);
  }
  log_call(Call::link_program, subject, "passed", code);
  set_code(code_ret, code);
  return program;
}

} // namespace

void add_program_calls(cl_icd_dispatch& table) {
  table.clCreateProgramWithSource = create_program_with_source;
  table.clCreateProgramWithBinary = create_program_with_binary;
  table.clCreateProgramWithIL = create_program_with_il;
  table.clBuildProgram = build_program;
  table.clCompileProgram = compile_program;
  table.clLinkProgram = link_program;
  table.clReleaseProgram = release_program;
}

} // namespace clbin::faults
