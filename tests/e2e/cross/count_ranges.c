/* A plugin of QEMU (its interface, version 1): counts the instructions that are
 * executed in several ranges of addresses, in a file that is mapped, and in all
 * of the program.
 *
 *   count_ranges.so,output=FILE,range=0xBEGIN-0xEND,mapped=TEXT
 *
 * as -plugin of QEMU, with any number of ranges, writes a line "BEGIN COUNT"
 * for each, "mapped COUNT" for mapped files whose paths contain TEXT, and "all
 * COUNT" when the program ends. */
#include "output_plugin.h"

enum { MAX_RANGES = 64, MAX_MAPPINGS = 1024 };

typedef struct {
  uint64_t begin, end, count;
} Range;

/* Ranges of the options; what is mapped from the file. */
static Range ranges[MAX_RANGES], mappings[MAX_MAPPINGS];
static size_t num_ranges, num_mappings;
static uint64_t all, in_file;
static const char *file_text;

/* What is mapped, as the system that runs QEMU states it. */
static void read_mappings(void) {
  char line[1024];
  FILE *maps = fopen("/proc/self/maps", "r");
  num_mappings = 0;
  while (maps && num_mappings < MAX_MAPPINGS &&
         fgets(line, sizeof line, maps)) {
    Range *mapping = &mappings[num_mappings++];
    char *end;
    mapping->begin = strtoull(line, &end, 16);
    mapping->end = strtoull(end + 1, NULL, 16);
    mapping->count = strstr(line, file_text) != NULL;
  }
  if (maps)
    fclose(maps);
}

/* Whether the byte at an address of QEMU's own process comes from the file.
 * Programs map libraries while they run. */
static int is_in_file(uint64_t address) {
  int again;
  size_t i;
  for (again = 0; again < 2; ++again) {
    for (i = 0; i < num_mappings; ++i)
      if (address >= mappings[i].begin && address < mappings[i].end)
        return mappings[i].count != 0;
    read_mappings();
  }
  return 0;
}

/* How many instructions of a block are executed in it. Where one crosses a
 * page, QEMU 7.2 lets the block end before it, but states it as the last one
 * all the same, with bytes that are in the page. These are no instruction: none
 * of x86 begins with another one. */
static size_t count_instructions(const struct qemu_plugin_tb *block) {
  enum { PAGE = 4096, MOST_BYTES = 15 };
  size_t size = qemu_plugin_tb_n_insns(block);
  struct qemu_plugin_insn *last = qemu_plugin_tb_get_insn(block, size - 1);
  uint64_t address = qemu_plugin_insn_vaddr(last);
  char *text;
  if (size == 1 || address % PAGE <= PAGE - MOST_BYTES ||
      address % PAGE + qemu_plugin_insn_size(last) > PAGE)
    return size;
  text = qemu_plugin_insn_disas(last);
  if (text && !strncmp(text, ".byte", 5))
    --size;
  free(text);
  return size;
}

static void add(struct qemu_plugin_tb *block, uint64_t *counter,
                uint64_t addend) {
  if (addend)
    qemu_plugin_register_vcpu_tb_exec_inline(block, QEMU_PLUGIN_INLINE_ADD_U64,
                                             counter, addend);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  size_t i, k, size = count_instructions(block);
  (void)id;
  add(block, &all, size);
  if (file_text && is_in_file((uint64_t)(uintptr_t)qemu_plugin_insn_haddr(
                       qemu_plugin_tb_get_insn(block, 0))))
    add(block, &in_file, size);
  for (k = 0; k < num_ranges; ++k) {
    uint64_t inside = 0;
    for (i = 0; i < size; ++i) {
      uint64_t address =
          qemu_plugin_insn_vaddr(qemu_plugin_tb_get_insn(block, i));
      inside += address >= ranges[k].begin && address < ranges[k].end;
    }
    add(block, &ranges[k].count, inside);
  }
}

static int read_argument(const char *argument) {
  char *end;
  if (!strncmp(argument, "range=", 6) && num_ranges < MAX_RANGES) {
    ranges[num_ranges].begin = strtoull(argument + 6, &end, 0);
    ranges[num_ranges++].end = strtoull(end + 1, NULL, 0);
  } else if (!strncmp(argument, "mapped=", 7)) {
    file_text = strdup(argument + 7);
  } else {
    return 0;
  }
  return 1;
}

static void write_output(FILE *file) {
  size_t k;
  for (k = 0; k < num_ranges; ++k)
    fprintf(file, "%#llx %llu\n", (unsigned long long)ranges[k].begin,
            (unsigned long long)ranges[k].count);
  fprintf(file, "mapped %llu\nall %llu\n", (unsigned long long)in_file,
          (unsigned long long)all);
}
