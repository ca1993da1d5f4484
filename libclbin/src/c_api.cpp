#include "clbin/clbin.h"

uint32_t clbin_version(void) { return CLBIN_VERSION_NUMBER; }
