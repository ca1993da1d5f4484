// What programs answer. A program with a substitute answers as if the driver had built its source.
#include "layer/layer.hpp"

#include <algorithm>
#include <cstring>

namespace clbin::layer {
namespace {

struct InfoQuery {
  cl_program program;
  cl_program_info name;
  std::size_t size;
  void* value;
  std::size_t* size_ret;
};

cl_int ask(const Layer& layer, cl_program program, const InfoQuery& query) {
  return layer.next().clGetProgramInfo(program, query.name, query.size, query.value,
                                       query.size_ret);
}

// Some drivers count the kernels of a program among its references. The kernels of the substitute
// are counted there.
cl_int answer_reference_count(const Layer& layer, const ProgramView& view, const InfoQuery& query) {
  cl_uint count = 0;
  cl_int code = layer.next().clGetProgramInfo(query.program, CL_PROGRAM_REFERENCE_COUNT,
                                              sizeof(count), &count, nullptr);
  cl_uint of_substitute = 1; // the layer's
  if (code == CL_SUCCESS && view.has_program()) {
    code = layer.next().clGetProgramInfo(view.substitute->program(), CL_PROGRAM_REFERENCE_COUNT,
                                         sizeof(of_substitute), &of_substitute, nullptr);
  }
  if (code != CL_SUCCESS) {
    return code;
  }
  count = count - std::min(view.holds, count) + (of_substitute - std::min(1U, of_substitute));
  return answer_value(count, query.size, query.value, query.size_ret);
}

// For each device of the application's program, the place of its binary in the substitute's lists.
std::vector<std::size_t> places_in_substitute(const Layer& layer, const ProgramView& view) {
  const auto wanted = program_devices(layer.next(), view.program->handle);
  const auto present = program_devices(layer.next(), view.substitute->program());
  std::vector<std::size_t> places;
  places.reserve(wanted.size());
  for (const cl_device_id device : wanted) {
    places.push_back(static_cast<std::size_t>(std::find(present.begin(), present.end(), device) -
                                              present.begin()));
  }
  return places;
}

cl_int answer_binary_sizes(const Layer& layer, const ProgramView& view, const InfoQuery& query) {
  const auto sizes =
      list_of<std::size_t>([&](std::size_t size, void* value, std::size_t* size_ret) {
        return layer.next().clGetProgramInfo(view.substitute->program(), CL_PROGRAM_BINARY_SIZES,
                                             size, value, size_ret);
      });
  std::vector<std::size_t> answer;
  for (const std::size_t place : places_in_substitute(layer, view)) {
    answer.push_back(place < sizes.size() ? sizes[place] : 0);
  }
  return answer_bytes(std::as_bytes(std::span(answer)), query.size, query.value, query.size_ret);
}

cl_int answer_binaries(const Layer& layer, const ProgramView& view, const InfoQuery& query) {
  const std::vector<std::size_t> places = places_in_substitute(layer, view);
  const std::size_t needed = places.size() * sizeof(unsigned char*);
  if (query.size_ret != nullptr) {
    *query.size_ret = needed;
  }
  if (query.value == nullptr) {
    return CL_SUCCESS;
  }
  if (query.size < needed) {
    return CL_INVALID_VALUE;
  }
  const cl_program substitute = view.substitute->program();
  std::vector<unsigned char*> outputs(program_devices(layer.next(), substitute).size());
  auto* const wanted = static_cast<unsigned char**>(query.value);
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] < outputs.size()) {
      outputs[places[i]] = wanted[i];
    }
  }
  return layer.next().clGetProgramInfo(substitute, CL_PROGRAM_BINARIES,
                                       outputs.size() * sizeof(unsigned char*),
                                       static_cast<void*>(outputs.data()), nullptr);
}

cl_int answer_from_substitute(const Layer& layer, const ProgramView& view, const InfoQuery& query) {
  const cl_program substitute = view.substitute->program();
  const bool lists_binaries =
      query.name == CL_PROGRAM_BINARY_SIZES || query.name == CL_PROGRAM_BINARIES;
  if (lists_binaries &&
      program_devices(layer.next(), query.program) != program_devices(layer.next(), substitute)) {
    return query.name == CL_PROGRAM_BINARIES ? answer_binaries(layer, view, query)
                                             : answer_binary_sizes(layer, view, query);
  }
  return ask(layer, substitute, query);
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
  Layer& layer = active_layer();
  const InfoQuery query{program, name, size, value, size_ret};
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const ProgramView view = layer.programs().find(program);
    const bool has_program = view.has_program();
    if (name == CL_PROGRAM_REFERENCE_COUNT && (has_program || view.holds != 0)) {
      code = answer_reference_count(layer, view, query);
    } else if (has_program && depends_on_build(name)) {
      code = answer_from_substitute(layer, view, query);
    } else {
      code = ask(layer, program, query);
    }
  });
  return code;
}

struct BuildQuery {
  cl_program program;
  cl_device_id device;
  cl_program_build_info name;
  std::size_t size;
  void* value;
  std::size_t* size_ret;
};

cl_int ask_build(const Layer& layer, cl_program program, const BuildQuery& query) {
  return layer.next().clGetProgramBuildInfo(program, query.device, query.name, query.size,
                                            query.value, query.size_ret);
}

cl_int answer_build_query(const Layer& layer, const Substitute& build, const BuildQuery& query) {
  const bool is_refused = build.program() == nullptr;
  switch (query.name) {
  case CL_PROGRAM_BUILD_STATUS: {
    const cl_build_status status = is_refused ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    return answer_value(status, query.size, query.value, query.size_ret);
  }
  case CL_PROGRAM_BUILD_OPTIONS:
    return answer_text(build.options(), query.size, query.value, query.size_ret);
  case CL_PROGRAM_BUILD_LOG:
    return answer_text(build.log(query.device), query.size, query.value, query.size_ret);
  case CL_PROGRAM_BINARY_TYPE: {
    const cl_program_binary_type type =
        is_refused ? CL_PROGRAM_BINARY_TYPE_NONE : CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    return answer_value(type, query.size, query.value, query.size_ret);
  }
  default:
    return ask_build(layer, is_refused ? query.program : build.program(), query);
  }
}

cl_int CL_API_CALL get_program_build_info(cl_program program, cl_device_id device,
                                          cl_program_build_info name, std::size_t size, void* value,
                                          std::size_t* size_ret) {
  Layer& layer = active_layer();
  const BuildQuery query{program, device, name, size, value, size_ret};
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const ProgramView view = layer.programs().find(program);
    const Substitute* const build = view.substitute.get();
    if (build != nullptr &&
        std::count(build->devices().begin(), build->devices().end(), device) != 0) {
      code = answer_build_query(layer, *build, query);
    } else if (name == CL_PROGRAM_BUILD_OPTIONS && view.own_options.has_value()) {
      code = answer_text(*view.own_options, size, value, size_ret);
    } else {
      code = ask_build(layer, program, query);
    }
  });
  return code;
}

} // namespace

void add_program_answers(cl_icd_dispatch& table) {
  intercept(table.clGetProgramInfo, get_program_info);
  intercept(table.clGetProgramBuildInfo, get_program_build_info);
}

} // namespace clbin::layer
