//===- MutationRuntime.cpp - Switches a mutant on -------------------------===//
//
// Linked into the library of mutants. The file of the coverage is an index of
// units, of 64 KB, each with its id, where its bytes begin and how many there
// are; the bytes of all mutants follow. It is mapped, so that processes that
// crash and those that were forked write into it, too.
//
//===----------------------------------------------------------------------===//

#include "MutationRuntime.h"
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace mutation;

static constexpr size_t indexBytes = 1 << 16, fileBytes = 1 << 22;

namespace {

struct IndexEntry {
  uint64_t unit, begin, count;
};

/// The file of the coverage, or none.
struct CoverageFile {
  uint8_t *bytes = nullptr;
  size_t used = indexBytes;
  std::vector<const Unit *> units;

  CoverageFile() {
    const char *path = std::getenv("GLOWISH_MUTATION_COVERAGE");
    if (!path)
      return;
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0 || ftruncate(file, fileBytes) != 0) {
      std::perror("GLOWISH_MUTATION_COVERAGE");
      _exit(126);
    }
    void *map =
        mmap(nullptr, fileBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED) {
      std::perror("GLOWISH_MUTATION_COVERAGE");
      _exit(126);
    }
    bytes = static_cast<uint8_t *>(map);
  }

  uint8_t *add(const Unit &unit) {
    if (used + unit.mutantCount > fileBytes ||
        (units.size() + 1) * sizeof(IndexEntry) > indexBytes) {
      std::fputs("GLOWISH_MUTATION_COVERAGE: too many mutants\n", stderr);
      _exit(126);
    }
    auto *index = reinterpret_cast<IndexEntry *>(bytes);
    index[units.size()] = {unit.id, used, unit.mutantCount};
    units.push_back(&unit);
    uint8_t *begin = bytes + used;
    used += unit.mutantCount;
    return begin;
  }
};

} // namespace

/// Made when the first object is registered, before all other variables.
static CoverageFile &getFile() {
  static CoverageFile file;
  return file;
}

void glowish_mutation_register(Unit *unit) {
  CoverageFile &file = getFile();
  static const char *wanted = std::getenv("GLOWISH_MUTANT");
  if (file.bytes) {
    *unit->coverage = file.add(*unit);
    for (uint64_t k = 0; k < unit->functionCount; ++k)
      unit->usesClone[k] = 1;
  }
  if (!wanted)
    return;
  uint64_t id = std::strtoull(wanted, nullptr, 16);
  for (uint64_t k = 0; k < unit->mutantCount; ++k)
    if (unit->mutantIds[k] == id)
      *unit->active = static_cast<int32_t>(k);
  for (uint64_t k = 0; k < unit->placeCount; ++k)
    if (static_cast<int32_t>(unit->places[k][0]) == *unit->active)
      unit->usesClone[unit->places[k][1]] = 1;
}

void glowish_mutation_end_test(const char *name, double seconds) {
  CoverageFile &file = getFile();
  if (!file.bytes)
    return;
  std::string path =
      std::string(std::getenv("GLOWISH_MUTATION_COVERAGE")) + ".tests";
  std::FILE *out = std::fopen(path.c_str(), "a");
  if (!out) {
    std::perror(path.c_str());
    _exit(126);
  }
  std::fprintf(out, "%s\t%.3f", name, seconds);
  for (const Unit *unit : file.units)
    for (uint64_t k = 0; k < unit->mutantCount; ++k)
      if (uint8_t &state = (*unit->coverage)[k]; state & differing) {
        std::fprintf(out, "\t%" PRIx64, unit->mutantIds[k]);
        state = executed;
      }
  std::fputs("\n", out);
  std::fclose(out);
}
