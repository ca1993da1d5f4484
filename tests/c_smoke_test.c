/* Uses the C API from C99, as a product would. Usage: c_smoke_test BUNDLE */
#include "clbin/clbin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void expect(int condition, const char* what) {
  if (!condition) {
    fprintf(stderr, "c_smoke_test: failed: %s\n", what);
    ++failures;
  }
}

static void* resolve_nothing(const char* name, void* user_data) {
  ++*(int*)user_data;
  return name == NULL ? user_data : NULL;
}

static int find_key(const clbin_key_request* request, clbin_key* key, void* user_data) {
  ++*(int*)user_data;
  return request->recipient_count == 0 ? (int)clbin_key_from_text("no key", key, NULL) : -1;
}

static void check_listing(const clbin_bundle* bundle) {
  clbin_listing* listing = NULL;
  clbin_group group;
  memset(&group, 0, sizeof(group));
  group.struct_size = sizeof(group);
  expect(clbin_list(bundle, &listing, NULL) == CLBIN_SUCCESS, "clbin_list");
  expect(clbin_listing_group_count(listing) == 2, "two groups");
  expect(clbin_listing_group(listing, 0, &group) == CLBIN_SUCCESS, "clbin_listing_group");
  expect(strcmp(group.program, "saxpy") == 0, "the program's name");
  expect(group.entry_count == 2, "two entries");
  clbin_listing_free(listing);
}

static void check_selection(const clbin_bundle* bundle) {
  clbin_identity identity;
  clbin_selection* selection = NULL;
  clbin_selection_info info;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  memset(&identity, 0, sizeof(identity));
  identity.struct_size = sizeof(identity);
  identity.platform_name = "NVIDIA CUDA";
  identity.vendor = "NVIDIA Corporation";
  identity.vendor_id = 0x10de;
  identity.driver_version = "580.159.03";
  identity.architecture = "sm_90";
  identity.address_bits = 64;
  expect(clbin_select(bundle, &identity, "saxpy", NULL, &selection, NULL) == CLBIN_SUCCESS,
         "clbin_select");
  expect(clbin_selection_get(selection, &info) == CLBIN_SUCCESS, "clbin_selection_get");
  expect(info.data != NULL && info.size_bytes > 0, "the selected bytes");
  clbin_selection_free(selection);
}

/* Without a driver: the caller's resolver finds no functions. */
static void check_load(const clbin_bundle* bundle) {
  int asked = 0;
  int not_opencl = 0;
  struct _cl_program* program = NULL;
  clbin_report* report = NULL;
  clbin_error* error = NULL;
  struct _cl_device_id* const device = (struct _cl_device_id*)(void*)&not_opencl;
  clbin_report_info info;
  clbin_load_options options;
  memset(&info, 0, sizeof(info));
  info.struct_size = sizeof(info);
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.resolve = resolve_nothing;
  options.resolve_user_data = &asked;
  expect(clbin_load(bundle, (struct _cl_context*)(void*)&not_opencl, &device, 1, "saxpy", &options,
                    &program, &report, &error) == CLBIN_ERROR_NO_OPENCL,
         "clbin_load without OpenCL");
  expect(asked > 0, "the resolver was asked");
  expect(program == NULL, "no program");
  expect(strlen(clbin_error_message(error)) > 0, "the error's message");
  expect(clbin_report_get(report, &info) == CLBIN_SUCCESS, "clbin_report_get");
  expect(info.attempt_count == 0, "no attempt");
  clbin_error_free(error);
  clbin_report_free(report);
}

/* The resolver returns no function, so that no build can start. */
static void check_build(const clbin_bundle* bundle) {
  const char* const text = "kernel void k() {}";
  int asked = 0;
  int nothing = 0;
  struct _cl_context* const context = (struct _cl_context*)(void*)&nothing;
  struct _cl_device_id* const device = (struct _cl_device_id*)(void*)&nothing;
  struct _cl_program* program = NULL;
  clbin_builder* builder = NULL;
  clbin_error* error = NULL;
  clbin_load_options options;
  clbin_builder_options settings;
  clbin_source source;
  memset(&settings, 0, sizeof(settings));
  settings.struct_size = sizeof(settings);
  settings.cache = CLBIN_SWITCH_OFF;
  memset(&source, 0, sizeof(source));
  source.struct_size = sizeof(source);
  source.strings = &text;
  source.string_count = 1;
  expect(clbin_builder_create(&settings, &builder, NULL) == CLBIN_SUCCESS, "clbin_builder_create");
  expect(clbin_builder_add_bundle(builder, bundle, NULL) == CLBIN_SUCCESS,
         "clbin_builder_add_bundle");
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.resolve = resolve_nothing;
  options.resolve_user_data = &asked;
  expect(clbin_build(builder, context, &device, 1, &source, &options, &program, NULL, &error) ==
             CLBIN_ERROR_NO_OPENCL,
         "clbin_build without OpenCL");
  expect(asked > 0 && program == NULL, "the resolver was called");
  clbin_error_free(error);
  clbin_builder_free(builder);
}

int main(int argc, char** argv) {
  clbin_bundle* bundle = NULL;
  clbin_error* error = NULL;
  clbin_open_options options;
  int asked = 0;
  if (argc != 2) {
    fprintf(stderr, "usage: c_smoke_test BUNDLE\n");
    return EXIT_FAILURE;
  }
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  options.key = find_key;
  options.key_user_data = &asked;
  /* Not ==: tests/golden/interface_v1 contains this program, which later libraries run. */
  expect(clbin_version() >= CLBIN_VERSION_NUMBER, "clbin_version");
  if (clbin_open(argv[1], &options, &bundle, &error) != CLBIN_SUCCESS) {
    fprintf(stderr, "c_smoke_test: %s\n", clbin_error_message(error));
    clbin_error_free(error);
    return EXIT_FAILURE;
  }
  expect(asked == 0, "a bundle that is not encrypted needs no key");
  expect(clbin_verify(bundle, NULL) == CLBIN_SUCCESS, "clbin_verify");
  check_listing(bundle);
  check_selection(bundle);
  check_load(bundle);
  check_build(bundle);
  clbin_close(bundle);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
