// RAII over clbin.h.
#pragma once
#include "clbin/clbin.h"
