#include "c_api.hpp"

#include "opencl/device_query.hpp"

using namespace clbin;
using base::Result;

namespace {

// The object that clbin_identity_query returns. Its public members point into its other members.
struct QueriedIdentity : clbin_identity {
  format::DeviceIdentity device;
  std::string opencl_c_version_lines;
  std::string il_version_lines;
};

std::string lines(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    text += text.empty() ? "" : "\n";
    text += word;
  }
  return text;
}

void fill_view(QueriedIdentity& queried) {
  const format::DeviceIdentity& identity = queried.device;
  queried.opencl_c_version_lines = lines(identity.opencl_c_versions);
  queried.il_version_lines = lines(identity.il_versions);
  clbin_identity& view = queried;
  view.struct_size = sizeof(view);
  view.platform_name = identity.platform_name.c_str();
  view.platform_version = identity.platform_version.c_str();
  view.vendor = identity.vendor.c_str();
  view.device_name = identity.device_name.c_str();
  view.driver_version = identity.driver_version.c_str();
  view.device_version = identity.device_version.c_str();
  view.opencl_c_versions = queried.opencl_c_version_lines.c_str();
  view.il_versions = queried.il_version_lines.c_str();
  view.architecture = identity.architecture.c_str();
  view.vendor_id = identity.vendor_id;
  view.address_bits = identity.address_bits;
}

} // namespace

clbin_status clbin_identity_query(struct _cl_device_id* device, const clbin_load_options* options,
                                  clbin_identity** identity, clbin_error** error) {
  return c_api::guarded(error, [&]() -> Result<void> {
    CLBIN_TRY(c_api::require(identity, "identity"));
    *identity = nullptr;
    CLBIN_TRY(c_api::require(device, "device"));
    CLBIN_TRY_ASSIGN(const c_api::LoadOptions chosen, c_api::load_options_of(options));
    CLBIN_TRY_ASSIGN(const opencl::Driver driver, c_api::IcdDriver().functions(chosen));
    auto queried = std::make_unique<QueriedIdentity>();
    CLBIN_TRY_ASSIGN(queried->device, opencl::query_identity(driver, device));
    fill_view(*queried);
    *identity = queried.release();
    return {};
  });
}

void clbin_identity_free(clbin_identity* identity) {
  delete static_cast<QueriedIdentity*>(identity);
}
