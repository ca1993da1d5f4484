/* Prints the contents of a bundle as JSON: list_bundle BUNDLE. Exits with the status, or with 2 if
 * the bundle cannot be opened. */
#include "clbin/clbin.h"

#include <stdio.h>

static int print(const char* text, size_t size_bytes, void* user_data) {
  return fwrite(text, 1, size_bytes, user_data) == size_bytes ? 0 : 1;
}

int main(int argc, char** argv) {
  clbin_bundle* bundle = NULL;
  clbin_error* error = NULL;
  clbin_status status = CLBIN_ERROR_INVALID_ARGUMENT;
  if (argc != 2 || clbin_open(argv[1], NULL, &bundle, NULL) != CLBIN_SUCCESS) {
    return 2;
  }
  status = clbin_list_json(bundle, print, stdout, &error);
  if (status != CLBIN_SUCCESS) {
    fprintf(stderr, "%s\n", clbin_error_message(error));
  }
  clbin_error_free(error);
  clbin_close(bundle);
  return (int)status;
}
