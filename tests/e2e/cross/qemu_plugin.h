/* What the plugins here take from qemu-plugin.h (interface version 1), which
 * Debian's packages don't have. */
#ifndef QEMU_PLUGIN_H
#define QEMU_PLUGIN_H
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw {
  QEMU_PLUGIN_MEM_R = 1,
  QEMU_PLUGIN_MEM_W,
  QEMU_PLUGIN_MEM_RW
};
typedef uint32_t qemu_plugin_meminfo_t;

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *instruction);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *instruction);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *instruction);
char *qemu_plugin_insn_disas(const struct qemu_plugin_insn *instruction);
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *block,
                                          void (*callback)(unsigned processor,
                                                           void *data),
                                          enum qemu_plugin_cb_flags flags,
                                          void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *block,
                                              enum qemu_plugin_op operation,
                                              void *counter, uint64_t addend);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);
void qemu_plugin_register_vcpu_mem_cb(
    struct qemu_plugin_insn *instruction,
    void (*callback)(unsigned processor, qemu_plugin_meminfo_t info,
                     uint64_t address, void *data),
    enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw accesses,
    void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id,
    void (*callback)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
                                    void (*callback)(qemu_plugin_id_t, void *),
                                    void *data);

#define EXPORT __attribute__((visibility("default")))
#endif
