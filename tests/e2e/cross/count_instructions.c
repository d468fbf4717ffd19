/* A plugin of QEMU (its interface, version 1): counts the instructions that are
 * executed in a range of addresses, and those of them that access the stack
 * frame.
 *
 *   qemu-... -plugin count_instructions.so,begin=0x...,end=0x...,output=FILE
 *
 * writes "instructions N frame N" when the program ends. */
#include "range_plugin.h"

static uint64_t instructions, frame_accesses;

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  size_t i, size = qemu_plugin_tb_n_insns(block);
  uint64_t inside = 0, frame = 0;
  (void)id;
  for (i = 0; i < size; ++i) {
    struct qemu_plugin_insn *instruction = qemu_plugin_tb_get_insn(block, i);
    uint64_t address = qemu_plugin_insn_vaddr(instruction);
    char *text;
    if (address < begin || address >= end)
      continue;
    ++inside;
    text = qemu_plugin_insn_disas(instruction);
    frame += text && (strstr(text, "[sp") || strstr(text, "(sp)"));
    free(text);
  }
  if (inside)
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                             &instructions, inside);
  if (frame)
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                             &frame_accesses, frame);
}

static void write_output(FILE *file) {
  fprintf(file, "instructions %llu frame %llu\n",
          (unsigned long long)instructions, (unsigned long long)frame_accesses);
}
