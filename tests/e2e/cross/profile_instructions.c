/* A plugin of QEMU (its interface, version 1): how often each instruction in a
 * range of addresses is executed, and how often the program went on elsewhere
 * than behind it.
 *
 *   qemu-... -plugin profile_instructions.so,begin=0x...,end=0x...,output=FILE
 *
 * writes lines "ADDRESS EXECUTED LEFT INSTRUCTION" when the program ends, the
 * addresses in hexadecimal and in any order. An address has several lines where
 * QEMU has translated it several times. Only branches have meaningful numbers
 * LEFT: QEMU 7.2 takes the instruction in front of one that crosses a page for
 * longer than it is. */
#include "qemu_plugin.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

EXPORT int qemu_plugin_version = 1;

typedef struct {
  uint64_t address;
  char *text;
} Instruction;

/* Instructions that follow each other and are executed one after the other:
 * what QEMU translates at once. */
typedef struct Block {
  struct Block *next;
  uint64_t begin, end;
  uint64_t executed, left;
  size_t count;
  Instruction instructions[];
} Block;

static uint64_t begin, end;
static const char *output;
static Block *blocks, *last;

static void on_execution(unsigned processor, void *data) {
  Block *block = data;
  (void)processor;
  if (last && last->end != block->begin)
    ++last->left;
  ++block->executed;
  last = block;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
  size_t i, count = qemu_plugin_tb_n_insns(tb);
  Block *block = calloc(1, sizeof(Block) + count * sizeof(Instruction));
  (void)id;
  if (!block)
    abort();
  block->next = blocks;
  block->count = count;
  for (i = 0; i < count; ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(tb, i);
    Instruction *kept = &block->instructions[i];
    kept->address = qemu_plugin_insn_vaddr(instruction);
    if (kept->address >= begin && kept->address < end)
      kept->text = qemu_plugin_insn_disas(instruction);
    block->end = kept->address + qemu_plugin_insn_size(instruction);
  }
  block->begin = block->instructions[0].address;
  blocks = block;
  qemu_plugin_register_vcpu_tb_exec_cb(tb, on_execution, QEMU_PLUGIN_CB_NO_REGS,
                                       block);
}

static void on_exit_of_program(qemu_plugin_id_t id, void *data) {
  FILE *file = fopen(output, "w");
  const Block *block;
  size_t i;
  (void)id;
  (void)data;
  if (!file)
    return;
  for (block = blocks; block; block = block->next)
    for (i = 0; i < block->count; ++i) {
      const Instruction *instruction = &block->instructions[i];
      if (instruction->text)
        fprintf(file, "%llx %llu %llu %s\n",
                (unsigned long long)instruction->address,
                (unsigned long long)block->executed,
                i + 1 == block->count ? (unsigned long long)block->left : 0,
                instruction->text);
    }
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
