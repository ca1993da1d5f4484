#include "bundle_programs.hpp"

#include <chrono>
#include <fmt/format.h>

namespace runtime_demo {

namespace {

using ErrorHandle = std::unique_ptr<clbin_error, decltype(&clbin_error_free)>;
using ReportHandle = std::unique_ptr<clbin_report, decltype(&clbin_report_free)>;

std::string message_of(clbin_status status, const clbin_error* error) {
  return error != nullptr ? clbin_error_message(error) : clbin_status_name(status);
}

ExitCode exit_code_of(clbin_status status) {
  return status >= CLBIN_ERROR_FILE_NOT_FOUND && status <= CLBIN_ERROR_FILE_WRITE
             ? ExitCode::file
             : ExitCode::bundle;
}

// libclbin's message names a file that cannot be read, but not one that is not a bundle.
std::string name_file(const std::filesystem::path& path, clbin_status status,
                      const clbin_error* error) {
  return exit_code_of(status) == ExitCode::file
             ? message_of(status, error)
             : fmt::format("{}: {}", path.string(), message_of(status, error));
}

std::string origin_name(clbin_origin origin) {
  switch (origin) {
  case CLBIN_ORIGIN_ENTRY:
    return "entry";
  case CLBIN_ORIGIN_USER_CACHE:
    return "user cache";
  case CLBIN_ORIGIN_IL:
    return "IL";
  case CLBIN_ORIGIN_SOURCE:
    return "source";
  case CLBIN_ORIGIN_NONE:
    break;
  }
  return "-";
}

void* resolve_in_library(const char* name, void* library) {
  return static_cast<const OpenclLibrary*>(library)->resolve(name);
}

// Borrows from the library and the kernel.
clbin_load_options options_of(const OpenclLibrary& library, const KernelCase& kernel,
                              LoadFrom from) {
  clbin_load_options options{};
  options.struct_size = sizeof(options);
  options.variant = kernel.variant.c_str();
  options.fallback = from == LoadFrom::source ? CLBIN_FALLBACK_ALWAYS : CLBIN_FALLBACK_IF_NEEDED;
  options.resolve = resolve_in_library;
  // The callback's void* cannot be const; it is only read.
  options.resolve_user_data = const_cast<OpenclLibrary*>(&library);
  return options;
}

} // namespace

Result<BundlePrograms::OpenBundle> BundlePrograms::open_one(const std::filesystem::path& path) {
  OpenBundle opened;
  opened.path = path;
  clbin_bundle* bundle = nullptr;
  clbin_error* error = nullptr;
  clbin_status status = clbin_open(path.c_str(), nullptr, &bundle, &error);
  const ErrorHandle open_error(error, clbin_error_free);
  if (status != CLBIN_SUCCESS) {
    return failure(exit_code_of(status), name_file(path, status, error));
  }
  opened.bundle.reset(bundle);
  clbin_listing* listing = nullptr;
  clbin_error* list_failure = nullptr;
  status = clbin_list(bundle, &listing, &list_failure);
  const ErrorHandle list_error(list_failure, clbin_error_free);
  if (status != CLBIN_SUCCESS) {
    return failure(exit_code_of(status), name_file(path, status, list_failure));
  }
  opened.listing.reset(listing);
  return opened;
}

Result<BundlePrograms> BundlePrograms::open(const std::vector<std::filesystem::path>& paths) {
  BundlePrograms programs;
  for (const std::filesystem::path& path : paths) {
    Result<OpenBundle> opened = open_one(path);
    if (!opened) {
      return tl::unexpected<Error>(opened.error());
    }
    programs.m_bundles.push_back(std::move(*opened));
  }
  return programs;
}

const BundlePrograms::OpenBundle* BundlePrograms::holder_of(const KernelCase& kernel) const {
  for (const OpenBundle& opened : m_bundles) {
    const clbin_listing* const listing = opened.listing.get();
    for (std::size_t group = 0; group < clbin_listing_group_count(listing); ++group) {
      clbin_group found{};
      found.struct_size = sizeof(found);
      if (clbin_listing_group(listing, group, &found) == CLBIN_SUCCESS &&
          kernel.program == found.program && kernel.variant == found.variant) {
        return &opened;
      }
    }
  }
  return nullptr;
}

bool BundlePrograms::has(const KernelCase& kernel) const {
  return holder_of(kernel) != nullptr;
}

std::string BundlePrograms::names() const {
  std::string names;
  for (const OpenBundle& opened : m_bundles) {
    names += fmt::format("{}'{}'", names.empty() ? "" : ", ", opened.path.string());
  }
  return names;
}

std::string BundlePrograms::describe_missing(const KernelCase& kernel) const {
  return fmt::format("{} has no kernel '{}' (program '{}', variant '{}')", names(), kernel.name,
                     kernel.program, kernel.variant);
}

Result<LoadedProgram> BundlePrograms::load(const OpenclLibrary& library, cl_context context,
                                           cl_device_id device, const KernelCase& kernel,
                                           LoadFrom from, std::string& report) const {
  const OpenBundle* const holder = holder_of(kernel);
  if (holder == nullptr) {
    return failure(ExitCode::bundle, describe_missing(kernel));
  }
  const clbin_load_options options = options_of(library, kernel, from);
  cl_program program = nullptr;
  clbin_report* made_report = nullptr;
  clbin_error* error = nullptr;
  const auto start = std::chrono::steady_clock::now();
  const clbin_status status =
      clbin_load(holder->bundle.get(), context, &device, 1, kernel.program.c_str(), &options,
                 &program, &made_report, &error);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  const ReportHandle report_handle(made_report, clbin_report_free);
  const ErrorHandle error_handle(error, clbin_error_free);
  report = made_report != nullptr ? clbin_report_text(made_report) : "";
  if (status != CLBIN_SUCCESS) {
    return failure(ExitCode::kernel_failed, message_of(status, error));
  }
  LoadedProgram loaded;
  loaded.program = Owned<cl_program>(program, library.functions().release_program);
  clbin_report_info info{};
  info.struct_size = sizeof(info);
  clbin_report_get(made_report, &info);
  loaded.origin = origin_name(info.origin);
  loaded.milliseconds = elapsed.count();
  return loaded;
}

} // namespace runtime_demo
