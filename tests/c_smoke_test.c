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
  expect(clbin_list(bundle, &listing, NULL) == CLBIN_SUCCESS, "clbin_list");
  expect(clbin_listing_group_count(listing) == 2, "two groups");
  expect(strcmp(clbin_listing_program(listing, 0), "saxpy") == 0, "the program's name");
  expect(clbin_listing_entry_count(listing, 0) == 2, "two entries");
  clbin_listing_free(listing);
}

static void check_selection(const clbin_bundle* bundle) {
  clbin_identity identity;
  clbin_selection* selection = NULL;
  size_t size = 0;
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
  expect(clbin_selection_data(selection, &size) != NULL && size > 0, "the selected bytes");
  clbin_selection_free(selection);
}

/* Without a driver: the caller's resolver finds no functions. */
static void check_load(const clbin_bundle* bundle) {
  int asked = 0;
  int not_opencl = 0;
  struct _cl_program* program = NULL;
  clbin_report* report = NULL;
  clbin_error* error = NULL;
  clbin_load_options* options = clbin_load_options_create();
  expect(options != NULL, "clbin_load_options_create");
  expect(clbin_load_options_set_resolver(options, resolve_nothing, &asked) == CLBIN_SUCCESS,
         "clbin_load_options_set_resolver");
  expect(clbin_load(bundle, (struct _cl_context*)&not_opencl, (struct _cl_device_id*)&not_opencl,
                    "saxpy", options, &program, &report, &error) == CLBIN_ERROR_NO_OPENCL,
         "clbin_load without OpenCL");
  expect(asked > 0, "the resolver was asked");
  expect(program == NULL, "no program");
  expect(clbin_error_status(error) == CLBIN_ERROR_NO_OPENCL, "the error's status");
  expect(strlen(clbin_error_message(error)) > 0, "the error's message");
  expect(clbin_report_attempt_count(report) == 0, "no attempt");
  clbin_error_free(error);
  clbin_report_free(report);
  clbin_load_options_free(options);
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
  clbin_load_options* const options = clbin_load_options_create();
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
  clbin_load_options_set_resolver(options, resolve_nothing, &asked);
  expect(clbin_build(builder, context, &device, 1, &source, options, &program, NULL, &error) ==
             CLBIN_ERROR_NO_OPENCL,
         "clbin_build without OpenCL");
  expect(asked > 0 && program == NULL, "the resolver was called");
  clbin_error_free(error);
  clbin_load_options_free(options);
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
  expect(clbin_version() == CLBIN_VERSION_NUMBER, "clbin_version");
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
