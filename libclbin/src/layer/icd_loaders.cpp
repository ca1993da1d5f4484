#include "layer/icd_loaders.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string_view>

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

} // namespace

std::vector<std::string> loaded_icd_loaders() {
  std::vector<std::string> paths;
  (void)::dl_iterate_phdr(add_if_named_so, &paths);
  std::erase_if(paths, is_driver);
  return paths;
}

std::string library_of(const void* address) {
  Dl_info information{};
  return address != nullptr && ::dladdr(address, &information) != 0 &&
                 information.dli_fname != nullptr
             ? information.dli_fname
             : "";
}

} // namespace clbin::layer
