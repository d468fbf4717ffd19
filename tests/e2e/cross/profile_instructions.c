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
#include "range_plugin.h"

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

static void write_output(FILE *file) {
  const Block *block;
  size_t i;
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
}
