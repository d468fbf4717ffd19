/* A plugin of QEMU (its interface, version 1): how often the instructions in a
 * range of addresses read and write memory, and where.
 *
 *   qemu-... -plugin count_accesses.so,begin=0x...,end=0x...,output=FILE
 *
 * writes lines "ADDRESS ACCESSES BYTES" when the program ends: for each 64
 * bytes that were accessed, from ADDRESS (in hexadecimal) on, in any order. */
#include "range_plugin.h"

enum { BLOCK_BITS = 6, TABLE_BITS = 20, TABLE_SIZE = 1 << TABLE_BITS };

typedef struct {
  uint64_t block, accesses, bytes;
} Entry;

/* Open addressing; an entry without accesses is free. */
static Entry table[TABLE_SIZE];

static void on_access(unsigned processor, qemu_plugin_meminfo_t info,
                      uint64_t address, void *data) {
  uint64_t block = address >> BLOCK_BITS, at = block, tried;
  (void)processor;
  (void)data;
  for (tried = 0; tried < TABLE_SIZE; ++tried, ++at) {
    Entry *entry = &table[at & (TABLE_SIZE - 1)];
    if (entry->accesses && entry->block != block)
      continue;
    entry->block = block;
    ++entry->accesses;
    entry->bytes += (uint64_t)1 << qemu_plugin_mem_size_shift(info);
    return;
  }
  abort();
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  size_t i, size = qemu_plugin_tb_n_insns(block);
  (void)id;
  for (i = 0; i < size; ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    if (address >= begin && address < end)
      qemu_plugin_register_vcpu_mem_cb(instruction, on_access,
                                       QEMU_PLUGIN_CB_NO_REGS,
                                       QEMU_PLUGIN_MEM_RW, NULL);
  }
}

static void write_output(FILE *file) {
  size_t i;
  for (i = 0; i < TABLE_SIZE; ++i)
    if (table[i].accesses)
      fprintf(file, "%llx %llu %llu\n",
              (unsigned long long)table[i].block << BLOCK_BITS,
              (unsigned long long)table[i].accesses,
              (unsigned long long)table[i].bytes);
}
