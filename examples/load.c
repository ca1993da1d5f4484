/* C: loads the program `saxpy` from the bundle whose path is the first argument, runs it, and
 * prints which entry of the bundle was used. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <clbin/clbin.h>
#include <stdio.h>

enum { count = 4 };

static int fail(const char* step, const char* reason) {
  fprintf(stderr, "load: %s: %s\n", step, reason);
  return 1;
}

int main(int argc, char** argv) {
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  if (argc != 2) {
    return fail("usage", "load BUNDLE");
  }
  if (clGetPlatformIDs(1, &platform, NULL) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL) != CL_SUCCESS) {
    return fail("OpenCL", "there is no device");
  }
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);

  clbin_bundle* bundle = NULL;
  clbin_error* error = NULL;
  clbin_report* report = NULL;
  cl_program program = NULL;
  if (clbin_open(argv[1], NULL, &bundle, &error) != CLBIN_SUCCESS ||
      clbin_load(bundle, context, &device, 1, "saxpy", NULL, &program, &report, &error) !=
          CLBIN_SUCCESS) {
    return fail(argv[1], clbin_error_message(error));
  }
  fputs(clbin_report_text(report), stderr);
  clbin_report_free(report);

  const cl_float a = 2, x[count] = {1, 2, 3, 4};
  cl_float y[count] = {10, 20, 30, 40};
  const size_t items = count;
  cl_mem x_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof x, (void*)x, NULL);
  cl_mem y_buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof y, y, NULL);
  cl_kernel kernel = clCreateKernel(program, "saxpy", NULL);
  clSetKernelArg(kernel, 0, sizeof a, &a);
  clSetKernelArg(kernel, 1, sizeof x_buffer, &x_buffer);
  clSetKernelArg(kernel, 2, sizeof y_buffer, &y_buffer);
  clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 0, NULL, NULL);
  if (clEnqueueReadBuffer(queue, y_buffer, CL_TRUE, 0, sizeof y, y, 0, NULL, NULL) != CL_SUCCESS) {
    return fail("saxpy", "cannot run");
  }
  printf("%g %g %g %g\n", y[0], y[1], y[2], y[3]);

  clReleaseMemObject(x_buffer);
  clReleaseMemObject(y_buffer);
  clReleaseKernel(kernel);
  clReleaseProgram(program);
  clbin_close(bundle);
  clReleaseCommandQueue(queue);
  clReleaseContext(context);
  return 0;
}
