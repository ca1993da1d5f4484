/* C: builds a program whose source is known only at run time, and runs it. The argument is a
 * number. The next start takes the program from the user cache (not on PoCL, which has a cache of
 * its own), or from app.clbin if the file is there: `oclcc --record app.clbin -- ./build_c 2 &&
 * oclcc app.clbin -o app.clbin`. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clbin/clbin.h>
#include <dlfcn.h>
#include <stdio.h>

static int fail(const char* step, const char* reason) {
  fprintf(stderr, "build: %s: %s\n", step, reason);
  return 1;
}

int main(int argc, char** argv) {
  if (argc != 2) {
    return fail("usage", "build NUMBER");
  }
  char text[256];
  snprintf(text, sizeof text, "kernel void scale(global float* v) { v[get_global_id(0)] *= %s; }",
           argv[1]);
  const char* strings[] = {text};
  const clbin_source source = {
      .struct_size = sizeof source, .strings = strings, .string_count = 1, .label = "scale"};

  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return fail("OpenCL", "there is no device");
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

  /* An application that opens OpenCL itself passes its library; others need no options. */
  void* library = dlopen("libOpenCL.so.1", RTLD_NOW);
  const clbin_load_options options = {.struct_size = sizeof options, .library = library};
  clbin_builder* builder = NULL;
  clbin_report* report = NULL;
  clbin_error* error = NULL;
  cl_program program = NULL;
  if (clbin_builder_create(NULL, &builder, &error) != CLBIN_SUCCESS ||
      clbin_builder_add_file(builder, "app.clbin", NULL, CLBIN_FILE_OPTIONAL, &error) !=
          CLBIN_SUCCESS ||
      clbin_build(builder, context, &device, 1, &source, &options, &program, &report, &error) !=
          CLBIN_SUCCESS) {
    return fail("scale", clbin_error_message(error)); /* which contains the build log */
  }
  fputs(clbin_report_text(report), stderr);

  cl_float v[] = {1, 2, 3, 4};
  const size_t items = sizeof v / sizeof *v;
  cl_mem buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof v, v, NULL);
  cl_kernel kernel = clCreateKernel(program, "scale", NULL);
  clSetKernelArg(kernel, 0, sizeof buffer, &buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
  if (clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof v, v, 0, NULL, NULL) != CL_SUCCESS) {
    return fail("scale", "cannot run");
  }
  printf("%g %g %g %g\n", v[0], v[1], v[2], v[3]);

  clReleaseMemObject(buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clbin_report_free(report);
  clbin_builder_free(builder); /* writes what was built to the user cache */
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
