// What programs answer. A program with a substitute answers as if the driver had built its source.
#include "layer/layer.hpp"

namespace clbin::layer {
namespace {

cl_int ask(const Layer& layer, cl_program program, cl_program_info name, const Answer& answer) {
  return layer.next().clGetProgramInfo(program, name, answer.size, answer.value, answer.size_ret);
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

// For each device of the application's program, the place of its binary in the substitute's lists.
std::vector<std::size_t> places_in_substitute(const std::vector<cl_device_id>& wanted,
                                              const std::vector<cl_device_id>& present) {
  std::vector<std::size_t> places;
  places.reserve(wanted.size());
  for (const cl_device_id device : wanted) {
    places.push_back(static_cast<std::size_t>(std::find(present.begin(), present.end(), device) -
                                              present.begin()));
  }
  return places;
}

cl_int answer_binary_sizes(const Layer& layer, cl_program substitute,
                           const std::vector<std::size_t>& places, const Answer& answer) {
  const auto sizes =
      list_of<std::size_t>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return ask(layer, substitute, CL_PROGRAM_BINARY_SIZES, {size, value, size_ret});
      });
  std::vector<std::size_t> wanted;
  wanted.reserve(places.size());
  for (const std::size_t place : places) {
    wanted.push_back(place < sizes.size() ? sizes[place] : 0);
  }
  return answer.bytes(std::as_bytes(std::span(wanted)));
}

cl_int answer_binaries(const Layer& layer, cl_program substitute,
                       const std::vector<std::size_t>& places, std::size_t count,
                       const Answer& answer) {
  const std::size_t needed = places.size() * sizeof(unsigned char*);
  if (answer.size_ret != nullptr) {
    *answer.size_ret = needed;
  }
  if (answer.value == nullptr) {
    return CL_SUCCESS;
  }
  if (answer.size < needed) {
    return CL_INVALID_VALUE;
  }
  std::vector<unsigned char*> outputs(count);
  auto* const wanted = static_cast<unsigned char**>(answer.value);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < outputs.size()) {
      outputs[places[i]] = wanted[i];
    }
  }
  return ask(
      layer, substitute, CL_PROGRAM_BINARIES,
      {outputs.size() * sizeof(unsigned char*), static_cast<void*>(outputs.data()), nullptr});
}

cl_int answer_from_substitute(const Layer& layer, const ProgramView& view, cl_program_info name,
                              const Answer& answer) {
  const cl_program substitute = view.substitute->program();
  if (name == CL_PROGRAM_BINARY_SIZES || name == CL_PROGRAM_BINARIES) {
    const auto wanted = program_devices(layer.next(), view.program->handle);
    const auto present = program_devices(layer.next(), substitute);
    const std::vector<std::size_t> places = places_in_substitute(wanted, present);
    if (wanted != present) {
      return name == CL_PROGRAM_BINARIES
                 ? answer_binaries(layer, substitute, places, present.size(), answer)
                 : answer_binary_sizes(layer, substitute, places, answer);
    }
  }
  return ask(layer, substitute, name, answer);
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
    const ProgramView view = layer.programs().find(program);
    if (name == CL_PROGRAM_REFERENCE_COUNT && (view.has_program() || view.holds != 0)) {
      return answer_reference_count(layer, view, answer);
    }
    return view.has_program() && depends_on_build(name)
               ? answer_from_substitute(layer, view, name, answer)
               : ask(layer, program, name, answer);
  });
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info name, std::size_t size, void* value,
                                          std::size_t* size_ret) {
  return guarded([&](Layer& layer) {
    const Answer answer{size, value, size_ret};
    const auto ask_build = [&](cl_program asked) {
      return layer.next().clGetProgramBuildInfo(asked, device, name, size, value, size_ret);
    };
    const ProgramView view = layer.programs().find(program);
    const Substitute* const build = view.substitute.get();
    if (build == nullptr ||
        std::count(build->devices().begin(), build->devices().end(), device) == 0) {
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

void add_program_answers(cl_icd_dispatch& table) {
  intercept(table.clGetProgramInfo, get_program_info);
  intercept(table.clGetProgramBuildInfo, get_program_build_info);
}

} // namespace clbin::layer
