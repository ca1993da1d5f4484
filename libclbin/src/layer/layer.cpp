#include "layer/layer.hpp"

#include "base/text.hpp"

#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <link.h>

namespace clbin::layer {
namespace {

constexpr std::string_view k_loader_name = "libOpenCL";

// NOLINTBEGIN(performance-no-int-to-ptr): the dynamic section contains addresses as numbers
std::string_view so_name(const dl_phdr_info& library) {
  const char* strings = nullptr;
  const ElfW(Dyn)* name = nullptr;
  for (int i = 0; i < library.dlpi_phnum; ++i) {
    if (library.dlpi_phdr[i].p_type != PT_DYNAMIC) {
      continue;
    }
    const auto* entry =
        reinterpret_cast<const ElfW(Dyn)*>(library.dlpi_addr + library.dlpi_phdr[i].p_vaddr);
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) { // glibc has added the address of the library
        strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      }
      name = entry->d_tag == DT_SONAME ? entry : name;
    }
  }
  const bool is_relocated =
      reinterpret_cast<ElfW(Addr)>(strings) >= library.dlpi_addr && strings != nullptr;
  return is_relocated && name != nullptr ? strings + name->d_un.d_val : std::string_view();
}
// NOLINTEND(performance-no-int-to-ptr)

int add_if_named_so(dl_phdr_info* library, std::size_t /*size*/, void* result) {
  const std::string_view path = library->dlpi_name == nullptr ? "" : library->dlpi_name;
  const std::string_view file = path.substr(path.find_last_of('/') + 1);
  if (!path.empty() &&
      (file.starts_with(k_loader_name) || so_name(*library).starts_with(k_loader_name))) {
    static_cast<std::vector<std::string>*>(result)->emplace_back(path);
  }
  return 0;
}

// clvk is a driver named libOpenCL.so.
bool is_driver(const std::string& path) {
  void* const library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library == nullptr) {
    return false;
  }
  const bool is_found = ::dlsym(library, "clIcdGetPlatformIDsKHR") != nullptr;
  (void)::dlclose(library);
  return is_found;
}

// Returns the files of the ICD loaders of this process, in the order in which they were loaded:
// libraries whose file or DT_SONAME is named libOpenCL*, and that are no drivers. Thread-safe.
std::vector<std::string> loaded_icd_loaders() {
  std::vector<std::string> paths;
  (void)::dl_iterate_phdr(add_if_named_so, &paths);
  std::erase_if(paths, is_driver);
  return paths;
}

// Returns the file of the library that contains the address; empty if there is none.
std::string library_of(const void* address) {
  Dl_info information{};
  return address != nullptr && ::dladdr(address, &information) != 0 &&
                 information.dli_fname != nullptr
             ? information.dli_fname
             : "";
}

std::unique_ptr<Recorder> make_recorder(const LayerSettings& settings, const LayerLog& log) {
  return settings.mode == Mode::record ? std::make_unique<Recorder>(settings.record_folder, log)
                                       : nullptr;
}

cl_icd_dispatch intercepting(cl_icd_dispatch table, const LayerSettings& settings) {
  add_program_calls(table);
  add_kernel_calls(table);
  add_extension_calls(table);
  const bool has_events = table.clGetEventInfo != nullptr && table.clRetainEvent != nullptr &&
                          table.clReleaseEvent != nullptr;
  const bool stores_pocl = settings.mode == Mode::cache && settings.caches_pocl && has_events;
  if (settings.mode == Mode::record || stores_pocl) {
    add_launch_calls(table);
  }
  if (stores_pocl) {
    add_wait_calls(table);
  }
  return table;
}

} // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): a layer is never destroyed
Layer::Layer(const cl_icd_dispatch& next, LayerSettings settings, const cache::CacheSettings& cache,
             std::string loader)
    : m_next(next), m_table(intercepting(next, settings)), m_settings(std::move(settings)),
      m_log(m_settings.log), m_recorder(make_recorder(m_settings, m_log)),
      m_builds(m_next, m_settings, m_log, cache, m_programs, m_recorder.get()),
      m_loader(std::move(loader)) {
  if (m_recorder != nullptr) {
    m_recorder->record_loader(m_loader.empty() ? "an unknown loader" : m_loader);
  }
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

void Layer::report_second_loader(std::string other) noexcept {
  without_exceptions([&] {
    if (m_has_reported_loader) {
      return;
    }
    const std::vector<std::string> loaders = loaded_icd_loaders();
    const bool is_one_ours = std::find(loaders.begin(), loaders.end(), m_loader) != loaders.end();
    for (const std::string& path : loaders) {
      const bool is_other = is_one_ours ? path != m_loader : loaders.size() > 1;
      if (other.empty() && is_other) {
        other = path;
      }
    }
    if (other.empty() || m_has_reported_loader.exchange(true)) {
      return;
    }
    const std::string text =
        fmt::format("the process has a second OpenCL ICD loader, {}: the layer "
                    "does not see what is built through it",
                    base::in_quotes(other));
    report_problem(text);
    m_log.write(text);
    if (m_recorder != nullptr) {
      m_recorder->record_loader(other);
    }
  });
}

void Layer::set_extension(cl_platform_id platform, const std::string& name, void* function) {
  const std::scoped_lock lock(m_extensions_mutex);
  m_extensions.insert_or_assign({platform, name}, function);
}

void* Layer::extension(cl_platform_id platform, const std::string& name) const {
  const std::scoped_lock lock(m_extensions_mutex);
  const auto found = m_extensions.find({platform, name});
  return found == m_extensions.end() ? nullptr : found->second;
}

namespace {

// The functions of a dispatch table have no parameter through which a layer could find its state:
// the interface forces one global object. It is never destroyed, because drivers and threads of the
// application may still run when the process exits.
struct Process {
  std::mutex mutex;
  std::vector<std::unique_ptr<Layer>> layers; // one for each loader that has used the library
  std::atomic<Layer*> layer{nullptr};         // what intercepted functions use
  const cl_icd_dispatch* target = nullptr;
  std::vector<std::unique_ptr<cl_icd_dispatch>> passive; // tables that pass everything on
};

Process& this_process() {
  // NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): see above
  static auto* const process = new Process;
  return *process;
}

constexpr std::size_t k_known_functions = sizeof(cl_icd_dispatch) / sizeof(void*);

// Copies the functions that both sides know.
cl_icd_dispatch known_functions(const cl_icd_dispatch& target, std::size_t count) {
  cl_icd_dispatch table{};
  std::memcpy(static_cast<void*>(&table), static_cast<const void*>(&target), count * sizeof(void*));
  return table;
}

const cl_icd_dispatch& passive_table(const cl_icd_dispatch& next) {
  auto& tables = this_process().passive;
  tables.push_back(std::make_unique<cl_icd_dispatch>(next));
  return *tables.back();
}

// A loader may also be loaded that never asks for layers.
void look_for_a_second_loader() noexcept {
  active_layer().report_second_loader({});
}

// Returns whether the table has the functions without which the layer passes everything on.
bool is_usable(const cl_icd_dispatch& table) {
  return table.clRetainProgram != nullptr && driver_of(table).has_value();
}

const cl_icd_dispatch& table_for(const cl_icd_dispatch& next, const cl_icd_dispatch* target,
                                 const cache::ProcessEnvironment& environment) {
  Process& process = this_process();
  if (environment.rights == cache::Rights::elevated || !is_usable(next)) {
    return passive_table(next);
  }
  // Empty if the ICD loader that initialised the layer has left the process.
  const std::string loader = library_of(process.target);
  if (process.layer.load() != nullptr && !loader.empty()) {
    if (library_of(target) != loader) {
      process.layer.load()->report_second_loader(library_of(target));
    }
    return passive_table(next);
  }
  SettingsRead read = read_settings(environment);
  for (const std::string& problem : read.problems) {
    report_problem(problem);
  }
  // A layer whose loader is gone is not destroyed, for the same reason as `Process`.
  process.layers.push_back(std::make_unique<Layer>(
      next, std::move(read.settings), cache::CacheSettings::from_environment(environment),
      library_of(target)));
  process.layer.store(process.layers.back().get());
  process.target = target;
  if (process.layers.size() == 1) {
    (void)std::atexit(look_for_a_second_loader);
  }
  return process.layers.back()->table();
}

} // namespace

Layer& active_layer() noexcept {
  return *this_process().layer.load(std::memory_order_acquire);
}

cl_int init_layer(cl_uint entry_count, const cl_icd_dispatch* target, cl_uint* entry_count_ret,
                  const cl_icd_dispatch** table_ret,
                  const cache::ProcessEnvironment& environment) noexcept {
  if (target == nullptr || entry_count_ret == nullptr || table_ret == nullptr) {
    return CL_INVALID_VALUE;
  }
  cl_int code = CL_OUT_OF_HOST_MEMORY;
  without_exceptions([&] {
    const std::scoped_lock lock(this_process().mutex);
    const std::size_t count = std::min<std::size_t>(entry_count, k_known_functions);
    *table_ret = &table_for(known_functions(*target, count), target, environment);
    *entry_count_ret = static_cast<cl_uint>(count);
    code = CL_SUCCESS;
  });
  return code;
}

void deinit_layer() noexcept {
  without_exceptions([] {
    const std::scoped_lock lock(this_process().mutex);
    this_process().target = nullptr;
  });
}

} // namespace clbin::layer

CLBIN_LAYER_EXPORT cl_int CL_API_CALL clGetLayerInfo(cl_layer_info name, std::size_t size,
                                                     void* value, std::size_t* size_ret) {
  static constexpr char k_name[] = "libclbin_layer";
  if (name == CL_LAYER_API_VERSION) {
    const cl_layer_api_version version = CL_LAYER_API_VERSION_100;
    return clbin::layer::Answer{size, value, size_ret}.number(version);
  }
  if (name == CL_LAYER_NAME) {
    return clbin::layer::Answer{size, value, size_ret}.bytes(std::as_bytes(std::span(k_name)));
  }
  return CL_INVALID_VALUE;
}

CLBIN_LAYER_EXPORT cl_int CL_API_CALL clInitLayer(cl_uint entry_count,
                                                  const cl_icd_dispatch* target,
                                                  cl_uint* entry_count_ret,
                                                  const cl_icd_dispatch** table_ret) {
  return clbin::layer::init_layer(entry_count, target, entry_count_ret, table_ret,
                                  clbin::cache::this_process());
}

cl_int CL_API_CALL clInitLayerWithProperties(cl_uint entry_count, const cl_icd_dispatch* target,
                                             cl_uint* entry_count_ret,
                                             const cl_icd_dispatch** table_ret,
                                             const cl_layer_properties* properties) {
  if (properties != nullptr && *properties != CL_LAYER_PROPERTIES_LIST_END) {
    return CL_INVALID_PROPERTY;
  }
  return clInitLayer(entry_count, target, entry_count_ret, table_ret);
}

cl_int CL_API_CALL clDeinitLayer() {
  clbin::layer::deinit_layer();
  return CL_SUCCESS;
}
