#include <clbin/clbin.h>

int main(void) {
  return clbin_version() == CLBIN_VERSION_NUMBER ? 0 : 1;
}
