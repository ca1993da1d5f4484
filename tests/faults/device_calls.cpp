// Platforms, devices and contexts.
#include "faults/intercepted_call.hpp"

namespace clbin::faults {

namespace {

// Returns all items in reverse order, limited by `room`.
template <typename Item, typename Query>
cl_int reversed(cl_uint room, Item* items, cl_uint* count_ret, const Query& query) {
  cl_uint count = 0;
  if (const cl_int code = query(0, nullptr, &count); code != CL_SUCCESS) {
    return code;
  }
  std::vector<Item> all(count);
  if (const cl_int code = query(count, all.data(), nullptr); code != CL_SUCCESS) {
    return code;
  }
  std::reverse(all.begin(), all.end());
  if (items != nullptr) {
    std::copy_n(all.begin(), std::min<std::size_t>(room, all.size()), items);
  }
  if (count_ret != nullptr) {
    *count_ret = count;
  }
  return CL_SUCCESS;
}

cl_int CL_API_CALL get_platform_ids(cl_uint room, cl_platform_id* platforms, cl_uint* count) {
  const Subject subject;
  if (const auto rule = before(Call::get_platform_ids, subject)) {
    return *rule->code;
  }
  const bool is_other_way = is_reversed(Call::get_platform_ids, subject);
  const cl_int code = is_other_way ? reversed(room, platforms, count, next().clGetPlatformIDs)
                                   : next().clGetPlatformIDs(room, platforms, count);
  log_call(Call::get_platform_ids, subject, is_other_way ? "reverse" : "passed", code);
  return code;
}

cl_int CL_API_CALL get_device_ids(cl_platform_id platform, cl_device_type type, cl_uint room,
                                  cl_device_id* devices, cl_uint* count) {
  const Subject subject = subject_of_platform(platform);
  if (const auto rule = before(Call::get_device_ids, subject)) {
    return *rule->code;
  }
  const bool is_other_way = is_reversed(Call::get_device_ids, subject);
  const auto query = [&](cl_uint query_room, cl_device_id* query_devices, cl_uint* query_count) {
    return next().clGetDeviceIDs(platform, type, query_room, query_devices, query_count);
  };
  const cl_int code =
      is_other_way ? reversed(room, devices, count, query) : query(room, devices, count);
  log_call(Call::get_device_ids, subject, is_other_way ? "reverse" : "passed", code);
  return code;
}

std::optional<Rule> answer_for(Call call, const Subject& subject, cl_uint name) {
  for (auto& rule : layer().state.match_all(Fault::answer, call, subject)) {
    if (rule.info_name == name) {
      return std::move(rule);
    }
  }
  return std::nullopt;
}

cl_int CL_API_CALL get_platform_info(cl_platform_id platform, cl_platform_info name,
                                     std::size_t size, void* value, std::size_t* size_ret) {
  const Subject subject = subject_of_platform(platform);
  if (const auto rule = before(Call::get_platform_info, subject)) {
    return *rule->code;
  }
  const auto answer = answer_for(Call::get_platform_info, subject, name);
  const cl_int code = answer.has_value()
                          ? give_text(*answer->text, size, value, size_ret)
                          : next().clGetPlatformInfo(platform, name, size, value, size_ret);
  log_call(Call::get_platform_info, subject,
           fmt::format("{} name={:#x}", answer.has_value() ? "answer" : "passed", name), code);
  return code;
}

cl_int CL_API_CALL get_device_info(cl_device_id device, cl_device_info name, std::size_t size,
                                   void* value, std::size_t* size_ret) {
  const Subject subject = subject_of({device}, ProgramOrigin::unknown);
  if (const auto rule = before(Call::get_device_info, subject)) {
    return *rule->code;
  }
  const auto answer = answer_for(Call::get_device_info, subject, name);
  const cl_int code = answer.has_value()
                          ? give_text(*answer->text, size, value, size_ret)
                          : next().clGetDeviceInfo(device, name, size, value, size_ret);
  log_call(Call::get_device_info, subject,
           fmt::format("{} name={:#x}", answer.has_value() ? "answer" : "passed", name), code);
  return code;
}

using ContextCallback = void(CL_CALLBACK*)(const char*, const void*, std::size_t, void*);

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices, ContextCallback callback,
                                      void* user_data, cl_int* code_ret) {
  const Subject subject =
      subject_of({devices, devices + (devices == nullptr ? 0 : count)}, ProgramOrigin::unknown);
  if (const auto rule = before(Call::create_context, subject)) {
    set_code(code_ret, *rule->code);
    return nullptr;
  }
  cl_int code = CL_SUCCESS;
  const cl_context context =
      next().clCreateContext(properties, count, devices, callback, user_data, &code);
  log_call(Call::create_context, subject, "passed", code);
  set_code(code_ret, code);
  return context;
}

cl_int CL_API_CALL get_context_info(cl_context context, cl_context_info name, std::size_t size,
                                    void* value, std::size_t* size_ret) {
  const Subject subject = subject_of_context(context, ProgramOrigin::unknown);
  if (const auto rule = before(Call::get_context_info, subject)) {
    return *rule->code;
  }
  if (name != CL_CONTEXT_DEVICES || !is_reversed(Call::get_context_info, subject)) {
    return next().clGetContextInfo(context, name, size, value, size_ret);
  }
  auto devices = list_of<cl_device_id>([&](std::size_t room, void* place, std::size_t* size_place) {
    return next().clGetContextInfo(context, name, room, place, size_place);
  });
  std::reverse(devices.begin(), devices.end());
  const cl_int code = give_bytes(static_cast<const void*>(devices.data()),
                                 devices.size() * sizeof(cl_device_id), size, value, size_ret);
  log_call(Call::get_context_info, subject, "reverse", code);
  return code;
}

} // namespace

void add_device_calls(cl_icd_dispatch& table) {
  table.clGetPlatformIDs = get_platform_ids;
  table.clGetPlatformInfo = get_platform_info;
  table.clGetDeviceIDs = get_device_ids;
  table.clGetDeviceInfo = get_device_info;
  table.clCreateContext = create_context;
  table.clGetContextInfo = get_context_info;
}

} // namespace clbin::faults
