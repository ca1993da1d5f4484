// Functions that create, change and release programs, and what programs answer. A program with a
// substitute answers as if the driver had built its source.
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
      active_layer().next.clCreateProgramWithSource(context, count, strings, lengths, code);
  if (program != nullptr) {
    without_exceptions([&] {
      active_layer().programs.add({program, context, joined(count, strings, lengths), {}});
    });
  }
  return program;
}

cl_program CL_API_CALL create_program_with_il(cl_context context, const void* il,
                                              std::size_t length, cl_int* code) {
  const cl_program program = active_layer().next.clCreateProgramWithIL(context, il, length, code);
  track_il(program, context, il, length);
  return program;
}

cl_int CL_API_CALL retain_program(cl_program program) {
  Layer& layer = active_layer();
  const cl_int code = layer.next.clRetainProgram(program);
  if (code == CL_SUCCESS) {
    layer.programs.change(program, [](TrackedProgram& known) { ++known.references; });
  }
  return code;
}

cl_int CL_API_CALL release_program(cl_program program) {
  Layer& layer = active_layer();
  const std::optional<Ended> ended = layer.programs.release(program);
  if (!ended.has_value()) {
    return CL_INVALID_PROGRAM;
  }
  keep(layer, ended->due);
  const cl_int code = layer.next.clReleaseProgram(program);
  release(layer, *ended);
  return code;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                 const char* options, ProgramCallback callback, void* user_data) {
  Layer& layer = active_layer();
  report_second_loader(layer, {});
  const ProgramView view = layer.programs.find(program);
  return view.program != nullptr
             ? build(layer, view, {program, count, devices, options, callback, user_data})
             : layer.next.clBuildProgram(program, count, devices, options, callback, user_data);
}

cl_int CL_API_CALL compile_program(cl_program program, cl_uint count, const cl_device_id* devices,
                                   const char* options, cl_uint header_count,
                                   const cl_program* headers, const char** names,
                                   ProgramCallback callback, void* user_data) {
  Layer& layer = active_layer();
  if (layer.programs.build_turn(program) == BuildTurn::has_substitute_kernels) {
    return CL_INVALID_OPERATION; // as for a program with kernels of its own
  }
  const ProgramView view = layer.programs.find(program);
  if (view.program != nullptr && layer.settings.mode == Mode::strict) {
    return refuse_compile(layer, view, {program, count, devices, options, callback, user_data});
  }
  const cl_int code = layer.next.clCompileProgram(program, count, devices, options, header_count,
                                                  headers, names, callback, user_data);
  if (view.program != nullptr && !is_argument_error(code)) {
    drop_substitute(layer, view);
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
    if (layer.recorder != nullptr) {
      layer.recorder->record_link();
    }
    for (cl_uint i = 0; inputs != nullptr && i < input_count; ++i) {
      const ProgramView view = layer.programs.find(inputs[i]);
      // In mode `strict`, the driver has built none of these. Oclgrind crashes when it links one.
      if (view.program != nullptr && !is_refused && layer.settings.mode == Mode::strict) {
        is_refused = true;
        report_refused_link(layer, view, CL_INVALID_OPERATION);
      }
      if (view.has_program() && !is_refused) {
        build_natively(layer, view);
      }
    }
  });
  if (is_refused) {
    if (code != nullptr) {
      *code = CL_INVALID_OPERATION;
    }
    return nullptr;
  }
  return layer.next.clLinkProgram(context, count, devices, options, input_count, inputs, callback,
                                  user_data, code);
}

cl_int CL_API_CALL set_specialization_constant(cl_program program, cl_uint id, std::size_t size,
                                               const void* value) {
  Layer& layer = active_layer();
  const cl_int code = layer.next.clSetProgramSpecializationConstant(program, id, size, value);
  if (code == CL_SUCCESS && value != nullptr) {
    without_exceptions([&] {
      const auto* const bytes = static_cast<const std::byte*>(value);
      layer.programs.change(program, [&](TrackedProgram& known) {
        known.constants.insert_or_assign(id, base::Bytes(bytes, bytes + size));
      });
    });
  }
  return code;
}

cl_int ask(const Layer& layer, cl_program program, cl_program_info name, const Answer& answer) {
  return layer.next.clGetProgramInfo(program, name, answer.size, answer.value, answer.size_ret);
}

cl_int ask_reference_count(const Layer& layer, cl_program program, cl_uint& count) {
  return ask(layer, program, CL_PROGRAM_REFERENCE_COUNT, {sizeof(count), &count, nullptr});
}

// Some drivers count the kernels of a program among its references. The kernels of the substitute
// are counted there.
cl_int answer_reference_count(const Layer& layer, const ProgramView& view, const Answer& answer) {
  cl_uint count = 0;
  cl_int code = ask_reference_count(layer, view.program->handle, count);
  cl_uint of_substitute = 1; // the layer's
  if (code == CL_SUCCESS && view.has_program()) {
    code = ask_reference_count(layer, view.substitute->program(), of_substitute);
  }
  if (code != CL_SUCCESS) {
    return code;
  }
  count = count - std::min(view.holds, count) + (of_substitute - std::min(1U, of_substitute));
  return answer.number(count);
}

// The lists of the substitute have an item for each of its devices, which can be others than those
// of the application's program. A device without a binary in the substitute has the item after
// them.
cl_int answer_binaries(const Layer& layer, const ProgramView& view, cl_program_info name,
                       const Answer& answer) {
  const cl_program substitute = view.substitute->program();
  const auto wanted = program_devices(layer.next, view.program->handle);
  const auto present = program_devices(layer.next, substitute);
  if (wanted == present) {
    return ask(layer, substitute, name, answer);
  }
  const auto place_of = [&](cl_device_id device) {
    return static_cast<std::size_t>(std::ranges::find(present, device) - present.begin());
  };
  if (name == CL_PROGRAM_BINARY_SIZES) {
    auto sizes = list_of<std::size_t>([&](std::size_t size, void* value, std::size_t* size_ret) {
      return ask(layer, substitute, name, {size, value, size_ret});
    });
    sizes.resize(present.size() + 1);
    std::vector<std::size_t> of_wanted;
    of_wanted.reserve(wanted.size());
    for (const cl_device_id device : wanted) {
      of_wanted.push_back(sizes[place_of(device)]);
    }
    return answer.bytes(std::as_bytes(std::span(of_wanted)));
  }
  const std::size_t needed = wanted.size() * sizeof(unsigned char*);
  if (answer.size_ret != nullptr) {
    *answer.size_ret = needed;
  }
  if (answer.value == nullptr || answer.size < needed) {
    return answer.value == nullptr ? CL_SUCCESS : CL_INVALID_VALUE;
  }
  std::vector<unsigned char*> outputs(present.size() + 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    outputs[place_of(wanted[i])] = static_cast<unsigned char**>(answer.value)[i];
  }
  return ask(
      layer, substitute, name,
      {present.size() * sizeof(unsigned char*), static_cast<void*>(outputs.data()), nullptr});
}

// Whether the answer depends on the build. All other answers are those of the driver's program.
bool depends_on_build(cl_program_info name) {
  switch (name) {
  case CL_PROGRAM_BINARY_SIZES:
  case CL_PROGRAM_BINARIES:
  case CL_PROGRAM_NUM_KERNELS:
  case CL_PROGRAM_KERNEL_NAMES:
  case CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT:
  case CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT:
    return true;
  default:
    return false;
  }
}

cl_int CL_API_CALL get_program_info(cl_program program, cl_program_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  return guarded([&](Layer& layer) {
    const Answer answer{size, value, size_ret};
    const ProgramView view = layer.programs.find(program);
    if (name == CL_PROGRAM_REFERENCE_COUNT && (view.has_program() || view.holds != 0)) {
      return answer_reference_count(layer, view, answer);
    }
    if (!view.has_program() || !depends_on_build(name)) {
      return ask(layer, program, name, answer);
    }
    return name == CL_PROGRAM_BINARY_SIZES || name == CL_PROGRAM_BINARIES
               ? answer_binaries(layer, view, name, answer)
               : ask(layer, view.substitute->program(), name, answer);
  });
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info name, std::size_t size, void* value,
                                          std::size_t* size_ret) {
  return guarded([&](Layer& layer) {
    const Answer answer{size, value, size_ret};
    const auto ask_build = [&](cl_program asked) {
      return layer.next.clGetProgramBuildInfo(asked, device, name, size, value, size_ret);
    };
    const ProgramView view = layer.programs.find(program);
    const Substitute* const build = view.substitute.get();
    if (build == nullptr || std::ranges::count(build->devices(), device) == 0) {
      return name == CL_PROGRAM_BUILD_OPTIONS && view.own_options.has_value()
                 ? answer.text(*view.own_options)
                 : ask_build(program);
    }
    const bool is_refused = build->program() == nullptr;
    switch (name) {
    case CL_PROGRAM_BUILD_STATUS:
      return answer.number<cl_build_status>(is_refused ? CL_BUILD_ERROR : CL_BUILD_SUCCESS);
    case CL_PROGRAM_BUILD_OPTIONS:
      return answer.text(build->options());
    case CL_PROGRAM_BUILD_LOG:
      return answer.text(build->log(device));
    case CL_PROGRAM_BINARY_TYPE:
      return answer.number<cl_program_binary_type>(is_refused ? CL_PROGRAM_BINARY_TYPE_NONE
                                                              : CL_PROGRAM_BINARY_TYPE_EXECUTABLE);
    default:
      return ask_build(is_refused ? program : build->program());
    }
  });
}

} // namespace

void track_il(cl_program program, cl_context context, const void* il, std::size_t length) noexcept {
  if (program == nullptr || il == nullptr) {
    return;
  }
  without_exceptions([&] {
    const auto* const bytes = static_cast<const std::byte*>(il);
    active_layer().programs.add({program, context, {}, base::Bytes(bytes, bytes + length)});
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
  intercept(table.clGetProgramInfo, get_program_info);
  intercept(table.clGetProgramBuildInfo, get_program_build_info);
}

} // namespace clbin::layer
