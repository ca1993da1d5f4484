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

int main(int argc, char** argv) {
  clbin_bundle* bundle = NULL;
  clbin_error* error = NULL;
  clbin_open_options options;
  if (argc != 2) {
    fprintf(stderr, "usage: c_smoke_test BUNDLE\n");
    return EXIT_FAILURE;
  }
  memset(&options, 0, sizeof(options));
  options.struct_size = sizeof(options);
  expect(clbin_version() == CLBIN_VERSION_NUMBER, "clbin_version");
  if (clbin_open(argv[1], &options, &bundle, &error) != CLBIN_SUCCESS) {
    fprintf(stderr, "c_smoke_test: %s\n", clbin_error_message(error));
    clbin_error_free(error);
    return EXIT_FAILURE;
  }
  expect(clbin_verify(bundle, NULL) == CLBIN_SUCCESS, "clbin_verify");
  check_listing(bundle);
  check_selection(bundle);
  check_load(bundle);
  clbin_close(bundle);
  return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
