#include "factor.h"
kernel void scale(global int* values) { values[get_global_id(0)] *= FACTOR * TIMES; }
