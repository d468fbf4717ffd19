/* What plugins of QEMU that look at the instructions in a range of addresses
 * have in common: the arguments begin=0x... and end=0x... Included once; the
 * plugin defines on_translation and write_output. */
#ifndef RANGE_PLUGIN_H
#define RANGE_PLUGIN_H
#include "output_plugin.h"

static uint64_t begin, end;

static int read_argument(const char *argument) {
  if (!strncmp(argument, "begin=", 6))
    begin = strtoull(argument + 6, NULL, 0);
  else if (!strncmp(argument, "end=", 4))
    end = strtoull(argument + 4, NULL, 0);
  else
    return 0;
  return 1;
}

#endif
