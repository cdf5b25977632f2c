/* The same from C++17: the header and the test are C and C++ both. */
#include <cassert>
#include <cstddef>
#include <cstdlib>
#define malloc(size) static_cast<unsigned char *>(std::malloc(size))
#include "contract.c"
