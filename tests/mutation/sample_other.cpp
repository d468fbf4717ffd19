// The second object of the sample.

#include "sample.h"

int clampInOtherObject(int x) { return clampTo7(x); }
