/* What plugins of QEMU (its interface, version 1) that look at the instructions
 * in a range of addresses have in common: the arguments begin=0x..., end=0x...
 * and output=FILE. Included once; the plugin defines the two functions. */
#ifndef RANGE_PLUGIN_H
#define RANGE_PLUGIN_H
#include "qemu_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = 1;

static uint64_t begin, end;

/* Called for instructions that QEMU has translated, which it executes one after
 * the other. */
static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block);
/* Writes the output when the program ends. */
static void write_output(FILE *file);

static const char *output;

static void on_exit_of_program(qemu_plugin_id_t id, void *data) {
  FILE *file = fopen(output, "w");
  (void)id;
  (void)data;
  if (!file)
    return;
  write_output(file);
  fclose(file);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
                               char **argv) {
  int i;
  (void)info;
  for (i = 0; i < argc; ++i) {
    if (!strncmp(argv[i], "begin=", 6))
      begin = strtoull(argv[i] + 6, NULL, 0);
    else if (!strncmp(argv[i], "end=", 4))
      end = strtoull(argv[i] + 4, NULL, 0);
    else if (!strncmp(argv[i], "output=", 7))
      output = strdup(argv[i] + 7);
    else
      return 1;
  }
  if (!output)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
  return 0;
}

#endif
