#include "redouble/sim/cli/main_function.h"

int main(int argc, char** argv) { return redouble::sim::RunMain(argc, argv); }
