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

cache::CacheSettings user_cache_settings(cache::CacheSettings cache,
                                         const LayerSettings& settings) {
  cache.on_pocl = settings.caches_pocl ? cache::CacheOnPocl::yes //
                                       : cache::CacheOnPocl::no;
  if (settings.signatures == SignatureUse::required && !settings.has_unsigned_cache) {
    cache.use = cache::CacheUse::off;
    cache.why_off = "a signature is required, and nobody signs its entries";
  }
  return cache;
}

base::Result<std::shared_ptr<const format::BundleReader>>
open_bundle(const std::filesystem::path& path, const LayerSettings& settings) {
  CLBIN_TRY_ASSIGN(auto source, base::open_file_source(path));
  constexpr auto k_refuse = format::TrailingBytes::refuse;
  std::optional<format::SignaturePolicy> required;
  if (settings.signatures == SignatureUse::required) {
    required = format::SignaturePolicy{settings.public_keys, settings.least_counter};
  }
  CLBIN_TRY_ASSIGN(auto reader,
                   format::BundleReader::open(std::move(source), {}, k_refuse, required));
  if (reader.is_encrypted()) {
    return base::fail(base::ErrorCode::encrypted, "it is encrypted, and the layer has no key");
  }
  return std::make_shared<const format::BundleReader>(std::move(reader));
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
  if (settings.mode == Mode::record && settings.recorded_data_bytes != 0) {
    add_argument_calls(table);
  }
  if (stores_pocl) {
    add_wait_calls(table);
  }
  return table;
}

} // namespace

// NOLINTBEGIN(clang-analyzer-cplusplus.NewDeleteLeaks): a layer is never destroyed
Layer::Layer(const cl_icd_dispatch& next_functions, LayerSettings given_settings,
             const cache::CacheSettings& cache, std::string loader_file)
    : next(next_functions), table(intercepting(next, given_settings)),
      settings(std::move(given_settings)), log(settings.log), driver(driver_of(next).value()),
      builder(user_cache_settings(cache, settings), cache, loader::UnsignedSource::built),
      recorder(settings.mode == Mode::record
                   ? std::make_unique<Recorder>(settings.record_folder, log)
                   : nullptr),
      data(recorder != nullptr && settings.recorded_data_bytes != 0
               ? std::make_unique<DataRecorder>(next, driver, *recorder,
                                                settings.recorded_data_bytes)
               : nullptr),
      launches(next), loader(std::move(loader_file)) {
  for (const std::filesystem::path& path : settings.bundles) {
    auto bundle = open_bundle(path, settings);
    if (bundle.has_value()) {
      builder.add_bundle(*std::move(bundle));
    } else {
      report_problem(
          fmt::format("{} is not used: {}", base::in_quotes(path), bundle.error().message));
    }
  }
  if (recorder != nullptr) {
    recorder->record_loader(loader.empty() ? "an unknown loader" : loader);
  }
}
// NOLINTEND(clang-analyzer-cplusplus.NewDeleteLeaks)

void report_second_loader(Layer& layer, std::string other) noexcept {
  without_exceptions([&] {
    if (layer.has_reported_loader) {
      return;
    }
    const std::vector<std::string> loaders = loaded_icd_loaders();
    const bool is_one_ours = std::ranges::count(loaders, layer.loader) != 0;
    for (const std::string& path : loaders) {
      const bool is_other = is_one_ours ? path != layer.loader : loaders.size() > 1;
      if (other.empty() && is_other) {
        other = path;
      }
    }
    if (other.empty() || layer.has_reported_loader.exchange(true)) {
      return;
    }
    const std::string text =
        fmt::format("the process has a second OpenCL ICD loader, {}: the layer "
                    "does not see what is built through it",
                    base::in_quotes(other));
    report_problem(text);
    layer.log.write(text);
    if (layer.recorder != nullptr) {
      layer.recorder->record_loader(other);
    }
  });
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

const cl_icd_dispatch& passive_table(const cl_icd_dispatch& next) {
  auto& tables = this_process().passive;
  tables.push_back(std::make_unique<cl_icd_dispatch>(next));
  return *tables.back();
}

const cl_icd_dispatch& table_for(const cl_icd_dispatch& next, const cl_icd_dispatch* target,
                                 const cache::ProcessEnvironment& environment) {
  Process& process = this_process();
  if (environment.rights == cache::Rights::elevated || !driver_of(next).has_value()) {
    return passive_table(next);
  }
  // Empty if the ICD loader that initialised the layer has left the process.
  const std::string loader = library_of(process.target);
  if (process.layer.load() != nullptr && !loader.empty()) {
    if (library_of(target) != loader) {
      report_second_loader(*process.layer, library_of(target));
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
    // A loader may also be loaded that never asks for layers.
    (void)std::atexit([] { report_second_loader(active_layer(), {}); });
  }
  return process.layers.back()->table;
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
    // The functions that both sides know.
    cl_icd_dispatch known{};
    const std::size_t count = std::min<std::size_t>(entry_count, sizeof(known) / sizeof(void*));
    std::memcpy(static_cast<void*>(&known), static_cast<const void*>(target),
                count * sizeof(void*));
    *table_ret = &table_for(known, target, environment);
    *entry_count_ret = static_cast<cl_uint>(count);
    code = CL_SUCCESS;
  });
  return code;
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
  clbin::layer::without_exceptions([] {
    auto& process = clbin::layer::this_process();
    const std::scoped_lock lock(process.mutex);
    process.target = nullptr;
  });
  return CL_SUCCESS;
}
