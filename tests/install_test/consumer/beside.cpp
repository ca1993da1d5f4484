#include "run_scale.hpp"

int main(int argc, char** argv) {
  return argc == 2 ? run_scale(clbin::Bundle::open(argv[1])) : 2;
}
