#include "check.hpp"

int main(int argc, char** argv) {
  return varlen::test::run_all(argc > 1 ? argv[1] : nullptr);
}
