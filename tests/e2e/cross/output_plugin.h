/* What plugins of QEMU (its interface, version 1) have in common: they look at
 * blocks that QEMU translates, and write a file, of the argument output=FILE,
 * when the program ends. Included once; the plugin defines the three
 * functions. */
#ifndef OUTPUT_PLUGIN_H
#define OUTPUT_PLUGIN_H
#include "qemu_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = 1;

/* Reads another argument; returns whether it is one of the plugin's. */
static int read_argument(const char *argument);
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
    if (!strncmp(argv[i], "output=", 7))
      output = strdup(argv[i] + 7);
    else if (!read_argument(argv[i]))
      return 1;
  }
  if (!output)
    return 1;
  qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
  qemu_plugin_register_atexit_cb(id, on_exit_of_program, NULL);
  return 0;
}

#endif
