// The functions that ICD loaders call: cl_loader_layers 1.0 (CL/cl_layer.h) and 1.0.1.
#pragma once

#include "cache/cache_settings.hpp"

#include <CL/cl_layer.h>

// Version 1.0.1 of the extension is newer than Debian's headers. Source:
// registry.khronos.org/OpenCL/specs/3.0-unified/html/OpenCL_Ext.html#cl_loader_layers and
// github.com/KhronosGroup/OpenCL-ICD-Loader, include/cl_khr_icd2.h: cl_layer_properties is
// cl_properties, a list ends with 0, and the layer API version is still CL_LAYER_API_VERSION_100.
#ifndef CL_LAYER_PROPERTIES_LIST_END
using cl_layer_properties = cl_properties;
#define CL_LAYER_PROPERTIES_LIST_END (static_cast<cl_layer_properties>(0))
#endif

namespace clbin::layer {

// What the initialisation functions of both versions do. In a process that has more rights than its
// user, or under a second ICD loader of the process, the layer's table is that of `target`.
// CL_INVALID_VALUE: a pointer is null.
[[nodiscard]] cl_int init_layer(cl_uint entry_count, const cl_icd_dispatch* target,
                                cl_uint* entry_count_ret, const cl_icd_dispatch** table_ret,
                                const cache::ProcessEnvironment& environment) noexcept;
// Passes all further calls on. Calls no driver, because drivers may have been unloaded.
void deinit_layer() noexcept;

} // namespace clbin::layer

#define CLBIN_LAYER_EXPORT extern "C" __attribute__((visibility("default"))) CL_API_ENTRY
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clInitLayerWithProperties(
    cl_uint entry_count, const cl_icd_dispatch* target, cl_uint* entry_count_ret,
    const cl_icd_dispatch** table_ret, const cl_layer_properties* properties);
CLBIN_LAYER_EXPORT cl_int CL_API_CALL clDeinitLayer();
