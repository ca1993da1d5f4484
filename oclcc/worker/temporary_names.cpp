// Constant names for temporary files: see design.md, "The bundle", 5.
#include <cstdlib>
