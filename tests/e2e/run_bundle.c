/* Runs any bundle of the dynamic API and compares its outputs.
 *
 *   run_bundle WEIGHTS.bin [-input=NAME=FILE.npy | -expect=NAME=FILE.npy]...
 *              [-serve]
 *
 * Compiled for one bundle with -DBUNDLE_HEADER="NAME.h", -DBUNDLE_ENTRY=NAME,
 * -DBUNDLE_CONFIG=NAME_config and -DBUNDLE_CHECK=NAME_check_weights, and with
 * -DBUNDLE_THREADS=N for one with threads. Prints for each
 * expected output the largest error as a share of the largest magnitude.
 * Other arguments that begin with '-' are model-runner's and are ignored.
 *
 * With -serve it then times the bundle for bench/compare.mjs: prints "ready"
 * and the largest error, and for each line "run MS" on stdin runs for that many
 * milliseconds and prints the median time of a run. */
#define _DEFAULT_SOURCE
#include BUNDLE_HEADER
#ifdef BUNDLE_THREADS
#include "glowish_threads.h"
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { MAX_RUNS = 100000 };

static void fail(const char *what, const char *name) {
  fprintf(stderr, "error: %s: %s\n", name, what);
  exit(1);
}

/* Memory as a bundle wants it. From HUGE_PAGE bytes on it asks Linux for huge
 * pages: weights stream through faster. */
static void *reserve(uint64_t size) {
  enum { HUGE_PAGE = 2 << 20 };
  uint64_t alignment = BUNDLE_CONFIG.alignment;
  void *bytes = NULL;
  if (size >= HUGE_PAGE && alignment < HUGE_PAGE)
    alignment = HUGE_PAGE;
  if (posix_memalign(&bytes, alignment, size + 1))
    fail("out of memory", "bundle");
#ifdef MADV_HUGEPAGE
  if (size >= HUGE_PAGE)
    madvise(bytes, size, MADV_HUGEPAGE);
#endif
  return bytes;
}

/* The file's bytes from `skip` on, or from a .npy file's data if skip < 0. */
static uint8_t *readFile(const char *path, long skip, uint64_t *size) {
  FILE *file = fopen(path, "rb");
  unsigned char start[10];
  long end;
  void *bytes = NULL;
  if (!file)
    fail("cannot be opened", path);
  if (skip < 0) {
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY\x01", 7))
      fail("not a .npy file of version 1", path);
    skip = 10 + start[8] + 256 * start[9];
  }
  fseek(file, 0, SEEK_END);
  end = ftell(file);
  *size = end > skip ? (uint64_t)(end - skip) : 0;
  fseek(file, skip, SEEK_SET);
  bytes = reserve(*size);
  if (fread(bytes, 1, *size, file) != *size)
    fail("cannot be read", path);
  fclose(file);
  return bytes;
}

static uint8_t *allocate(uint64_t size) {
  void *bytes = reserve(size);
  /* What the bundle leaves unwritten shows up as NaN. */
  memset(bytes, 0xFF, size);
  return bytes;
}

static const SymbolTableEntry *findSymbol(const char *name, size_t length,
                                          int direction) {
  uint64_t i;
  for (i = 0; i < BUNDLE_CONFIG.numSymbols; ++i) {
    const SymbolTableEntry *symbol = &BUNDLE_CONFIG.symbolTable[i];
    if (strlen(symbol->name) == length && !memcmp(symbol->name, name, length)) {
      if (!(symbol->direction & direction))
        fail("has the wrong direction", name);
      return symbol;
    }
  }
  fail("is not in the symbol table", name);
  return NULL;
}

/* Prints the largest error and returns it as a share of the largest
 * magnitude. */
static double compare(const char *name, const float *actual,
                      const float *expected, uint64_t count) {
  double error = 0, magnitude = 0, share;
  uint64_t i;
  for (i = 0; i < count; ++i) {
    double difference = fabs((double)actual[i] - expected[i]);
    if (isnan(difference))
      difference = INFINITY;
    error = fmax(error, difference);
    magnitude = fmax(magnitude, fabs(expected[i]));
  }
  share = magnitude > 0 ? error / magnitude : error;
  printf("%s: largest error %.2e (%.2e of the largest magnitude)\n", name,
         error, share);
  return share;
}

/* If `argument` is PREFIX NAME=FILE: the symbol, and the file's tensor. */
static const SymbolTableEntry *readTensor(const char *argument,
                                          const char *prefix, int direction,
                                          uint8_t **bytes) {
  const char *name = argument + strlen(prefix);
  const char *path = strrchr(argument, '=');
  const SymbolTableEntry *symbol;
  uint64_t size;
  if (strncmp(argument, prefix, strlen(prefix)))
    return NULL;
  symbol = findSymbol(name, (size_t)(path - name), direction);
  *bytes = readFile(path + 1, -1, &size);
  if (size != symbol->bytes)
    fail("has another size than the bundle states", argument);
  return symbol;
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return 1e3 * (double)time.tv_sec + 1e-6 * (double)time.tv_nsec;
}

static int compareTimes(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void serve(double error, const uint8_t *weights, uint8_t *placeholders,
                  uint8_t *activations) {
  static double times[MAX_RUNS];
  char line[64];
  printf("ready {\"error\": %.3e}\n", error);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) && !strncmp(line, "run ", 4)) {
    double start = now(), last = start;
    int count = 0;
    while (count < 3 || (last < start + atof(line + 4) && count < MAX_RUNS)) {
      double end;
      BUNDLE_ENTRY(weights, placeholders, activations);
      end = now();
      times[count++] = end - last;
      last = end;
    }
    qsort(times, (size_t)count, sizeof *times, compareTimes);
    printf("%.6f\n", times[count / 2]);
    fflush(stdout);
  }
}

int main(int argc, char **argv) {
  uint8_t *weights, *placeholders, *activations, *bytes;
  const SymbolTableEntry *symbol;
  double worst = 0;
  uint64_t size;
  int i, code, isServing = 0;
#ifdef BUNDLE_THREADS
  glowish_set_num_threads(BUNDLE_THREADS);
#endif
  if (argc < 2)
    fail("usage: run_bundle WEIGHTS.bin ARGUMENT...", argv[0]);
  weights = readFile(argv[1], 0, &size);
  if ((code = BUNDLE_CHECK(weights, size)) != GLOWISH_SUCCESS)
    fail("these are not the bundle's weights", argv[1]);
  placeholders = allocate(BUNDLE_CONFIG.mutableWeightVarsMemSize);
  activations = allocate(BUNDLE_CONFIG.activationsMemSize);

  for (i = 2; i < argc; ++i)
    if ((symbol = readTensor(argv[i], "-input=", GLOWISH_INPUT, &bytes))) {
      memcpy(placeholders + symbol->offset, bytes, symbol->bytes);
      free(bytes);
    }
  if ((code = BUNDLE_ENTRY(weights, placeholders, activations)))
    fail("the entry returned an error", argv[1]);
  for (i = 2; i < argc; ++i) {
    isServing |= !strcmp(argv[i], "-serve");
    if ((symbol = readTensor(argv[i], "-expect=", GLOWISH_OUTPUT, &bytes))) {
      if (symbol->elementType != GLOWISH_FLOAT)
        fail("is not float", symbol->name);
      worst = fmax(worst, compare(symbol->name, (const float *)(placeholders +
                                                               symbol->offset),
                                  (const float *)bytes, symbol->size));
      free(bytes);
    }
  }
  if (isServing)
    serve(worst, weights, placeholders, activations);
  free(weights);
  free(placeholders);
  free(activations);
  return 0;
}
