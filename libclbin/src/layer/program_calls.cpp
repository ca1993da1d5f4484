// Functions that create, change and release programs.
#include "layer/layer.hpp"

#include <cstring>

namespace clbin::layer {
namespace {

std::string joined(cl_uint count, const char** strings, const std::size_t* lengths) {
  std::string text;
  for (cl_uint i = 0; i < count; ++i) {
    const std::size_t length = lengths == nullptr ? 0 : lengths[i];
    text += length == 0 ? std::string_view(strings[i]) : std::string_view(strings[i], length);
  }
  return text;
}

cl_program CL_API_CALL create_program_with_source(cl_context context, cl_uint count,
                                                  const char** strings, const std::size_t* lengths,
                                                  cl_int* code) {
  const cl_program program =
      active_layer().next().clCreateProgramWithSource(context, count, strings, lengths, code);
  if (program != nullptr) {
    without_exceptions([&] {
      active_layer().programs().add({program, context, joined(count, strings, lengths), {}});
    });
  }
  return program;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void* il,
                                              std::size_t length, cl_int* code) {
  const cl_program program = active_layer().next().clCreateProgramWithIL(context, il, length, code);
  track_il(program, context, il, length);
  return program;
}

cl_int CL_API_CALL retain_program(cl_program program) {
  Layer& layer = active_layer();
  const cl_int code = layer.next().clRetainProgram(program);
  if (code == CL_SUCCESS) {
    layer.programs().retain(program);
  }
  return code;
}

cl_int CL_API_CALL release_program(cl_program program) {
  Layer& layer = active_layer();
  const Released released = layer.programs().release(program);
  if (released.kind == Released::Kind::over_released) {
    return CL_INVALID_PROGRAM;
  }
  layer.builds().keep(released.ended.due);
  const cl_int code = layer.next().clReleaseProgram(program);
  layer.builds().release(released.ended);
  return code;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, ProgramCallback callback, void* user_data) {
  Layer& layer = active_layer();
  layer.report_second_loader({});
  const ProgramView view = layer.programs().find(program);
  return view.program != nullptr
             ? layer.builds().build(view, {program, count, devices, options, callback, user_data})
             : layer.next().clBuildProgram(program, count, devices, options, callback, user_data);
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** names,
                                   ProgramCallback callback, void* user_data) {
  Layer& layer = active_layer();
  if (layer.programs().build_turn(program) == BuildTurn::has_substitute_kernels) {
    return CL_INVALID_OPERATION; // as for a program with kernels of its own
  }
  const ProgramView view = layer.programs().find(program);
  if (view.program != nullptr && layer.settings().mode == Mode::strict) {
    return layer.builds().refuse_compile(view,
                                         {program, count, devices, options, callback, user_data});
  }
  const cl_int code = layer.next().clCompileProgram(program, count, devices, options, header_count,
                                                    headers, names, callback, user_data);
  if (view.program != nullptr && !is_argument_error(code)) {
    layer.builds().drop_substitute(view);
  }
  return code;
}

cl_program CL_API_CALL link_program(cl_context context, cl_uint count, const cl_device_id* devices,
                                    const char* options, cl_uint input_count,
                                    const cl_program* inputs, ProgramCallback callback,
                                    void* user_data, cl_int* code) {
  Layer& layer = active_layer();
  bool is_refused = false;
  without_exceptions([&] {
    for (cl_uint i = 0; inputs != nullptr && i < input_count; ++i) {
      const ProgramView view = layer.programs().find(inputs[i]);
      // In mode `strict`, the driver has built none of these. Oclgrind crashes when it links one.
      if (view.program != nullptr && !is_refused && layer.settings().mode == Mode::strict) {
        is_refused = true;
        layer.builds().report_refused_link(view, CL_INVALID_OPERATION);
      }
      if (view.has_program() && !is_refused) {
        layer.builds().build_natively(view);
      }
    }
  });
  if (is_refused) {
    if (code != nullptr) {
      *code = CL_INVALID_OPERATION;
    }
    return nullptr;
  }
  return layer.next().clLinkProgram(context, count, devices, options, input_count, inputs, callback,
                                    user_data, code);
}

cl_int CL_API_CALL set_specialization_constant(cl_program program, cl_uint id, std::size_t size,
                                               const void* value) {
  Layer& layer = active_layer();
  const cl_int code = layer.next().clSetProgramSpecializationConstant(program, id, size, value);
  if (code == CL_SUCCESS && value != nullptr) {
    without_exceptions([&] {
      const auto* const bytes = static_cast<const std::byte*>(value);
      layer.programs().set_constant(program, id, base::Bytes(bytes, bytes + size));
    });
  }
  return code;
}

} // namespace

void track_il(cl_program program, cl_context context, const void* il, std::size_t length) noexcept {
  if (program == nullptr || il == nullptr) {
    return;
  }
  without_exceptions([&] {
    const auto* const bytes = static_cast<const std::byte*>(il);
    active_layer().programs().add({program, context, {}, base::Bytes(bytes, bytes + length)});
  });
}

void add_program_calls(cl_icd_dispatch& table) {
  intercept(table.clCreateProgramWithSource, create_program_with_source);
  intercept(table.clCreateProgramWithIL, create_program_with_il);
  intercept(table.clRetainProgram, retain_program);
  intercept(table.clReleaseProgram, release_program);
  intercept(table.clBuildProgram, build_program);
  intercept(table.clCompileProgram, compile_program);
  intercept(table.clLinkProgram, link_program);
  intercept(table.clSetProgramSpecializationConstant, set_specialization_constant);
}

} // namespace clbin::layer
