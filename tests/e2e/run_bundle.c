/* Runs any bundle of the dynamic API and compares or writes its outputs.
 *
 *   run_bundle WEIGHTS.bin [-input=NAME=FILE | -expect=NAME=FILE |
 *              -output=NAME=FILE]... [-bundle=NAME] [-calls=N] [-serve]
 *
 * Compiled for one bundle with -DBUNDLE_HEADER="NAME.h", -DBUNDLE_ENTRY=NAME,
 * -DBUNDLE_CONFIG=NAME_config and -DBUNDLE_CHECK=NAME_check_weights, and with
 * -DBUNDLE_THREADS=N for one with threads; for several with a header that
 * includes theirs and defines BUNDLE_LIST, their Bundles, of which -bundle
 * chooses one. Prints for each expected output the largest error as a share of
 * the largest magnitude, and for each that is written its type, "TYPE:DIM,..."
 * with the number of the element type. A FILE is NAME.npy, or bytes.
 * Before each of N calls (default 1) the inputs are written. Other arguments
 * that begin with '-' are model-runner's and are ignored.
 *
 * On Linux, weights, placeholders, activations and the stack lie between
 * inaccessible pages (guarded_memory.h), the weights are write-protected, and
 * all is done twice: with the regions where their pages end, for accesses
 * behind them, and where these begin, for those in front. Both must leave the
 * same outputs, and inputs and what is between placeholders as it was. The
 * stack has the most that docs/bundle.md states, or -DBUNDLE_STACK=BYTES.
 *
 * With -serve, without these pages, it then times the bundle for
 * bench/compare.mjs: prints "ready" and the largest error, and for each line
 * "run MS" on stdin runs for that many milliseconds and prints the median time
 * of a run. */
#define _GNU_SOURCE
#include BUNDLE_HEADER
#include "guarded_memory.h"
#ifdef BUNDLE_THREADS
#include "glowish_threads.h"
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef _WIN32
#include <malloc.h>
#else
#include <sys/mman.h>
#endif

enum { MAX_RUNS = 100000 };

#ifndef BUNDLE_STACK
#define BUNDLE_STACK (1300 << 10)
#endif

typedef struct Bundle {
  const char *name;
  const BundleConfig *config;
  int (*entry)(const uint8_t *, uint8_t *, uint8_t *);
  int (*check)(const uint8_t *, uint64_t);
} Bundle;

#ifndef BUNDLE_LIST
#define BUNDLE_LIST {"", &BUNDLE_CONFIG, BUNDLE_ENTRY, BUNDLE_CHECK}
#endif
static const Bundle bundles[] = {BUNDLE_LIST};
/* The one that is run. */
static const Bundle *bundle = &bundles[0];

static void fail(const char *what, const char *name) {
  fprintf(stderr, "error: %s: %s\n", name, what);
  exit(1);
}

static void chooseBundle(const char *name) {
  for (bundle = bundles; strcmp(bundle->name, name); ++bundle)
    if (bundle + 1 == bundles + sizeof bundles / sizeof *bundles)
      fail("there is no such bundle", name);
}

/* Memory as a bundle wants it. From HUGE_PAGE bytes on it asks Linux for huge
 * pages: weights stream through faster. */
static void *reserve(uint64_t size) {
  enum { HUGE_PAGE = 2 << 20 };
  uint64_t alignment = bundle->config->alignment;
  void *bytes = NULL;
  if (size >= HUGE_PAGE && alignment < HUGE_PAGE)
    alignment = HUGE_PAGE;
#ifdef _WIN32
  bytes = _aligned_malloc(size + 1, alignment);
  if (!bytes)
#else
  if (posix_memalign(&bytes, alignment, size + 1))
#endif
    fail("out of memory", "bundle");
#ifdef MADV_HUGEPAGE
  if (size >= HUGE_PAGE)
    madvise(bytes, size, MADV_HUGEPAGE);
#endif
  return bytes;
}

/* Opens the file at its bytes; at those of the array in a .npy file. */
static FILE *openFile(const char *path, uint64_t *size) {
  FILE *file = fopen(path, "rb");
  unsigned char start[10];
  long end, skip = 0;
  if (!file)
    fail("cannot be opened", path);
  if (strlen(path) > 4 && !strcmp(path + strlen(path) - 4, ".npy")) {
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY\x01", 7))
      fail("not a .npy file of version 1", path);
    skip = 10 + start[8] + 256 * start[9];
  }
  fseek(file, 0, SEEK_END);
  end = ftell(file);
  *size = end > skip ? (uint64_t)(end - skip) : 0;
  fseek(file, skip, SEEK_SET);
  return file;
}

static void readInto(void *bytes, FILE *file, uint64_t size, const char *path) {
  if (fread(bytes, 1, size, file) != size)
    fail("cannot be read", path);
  fclose(file);
}

/* The file's bytes. */
static uint8_t *readFile(const char *path, uint64_t *size) {
  FILE *file = openFile(path, size);
  uint8_t *bytes = reserve(*size);
  readInto(bytes, file, *size, path);
  return bytes;
}

/* What the application has for the bundle. */
typedef struct Regions {
  uint8_t *weights, *placeholders, *activations;
} Regions;

/* What the bundle leaves unwritten shows up as NaN. */
enum { UNWRITTEN = 0xFF };

static uint8_t *allocate(uint64_t size) {
  void *bytes = reserve(size);
  memset(bytes, UNWRITTEN, size);
  return bytes;
}

static void checkWeights(const uint8_t *weights, uint64_t size,
                         const char *path) {
  if (bundle->check(weights, size) != GLOWISH_SUCCESS)
    fail("these are not the bundle's weights", path);
}

static Regions allocateRegions(const char *weightsPath) {
  Regions regions;
  uint64_t size;
  regions.weights = readFile(weightsPath, &size);
  checkWeights(regions.weights, size, weightsPath);
  regions.placeholders = allocate(bundle->config->mutableWeightVarsMemSize);
  regions.activations = allocate(bundle->config->activationsMemSize);
  return regions;
}

/* An input and the bytes of its file. */
typedef struct Input {
  const GlowishSymbol *symbol;
  uint8_t *bytes;
} Input;
static Input *inputs;
static int numInputs;

static const GlowishSymbol *findSymbol(const char *name, size_t length,
                                       int direction) {
  uint64_t i;
  for (i = 0; i < bundle->config->numSymbols; ++i) {
    const GlowishSymbol *symbol = &bundle->config->symbols[i];
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
static const GlowishSymbol *readTensor(const char *argument, const char *prefix,
                                       int direction, uint8_t **bytes) {
  const char *name = argument + strlen(prefix);
  const char *path = strrchr(argument, '=');
  const GlowishSymbol *symbol;
  uint64_t size;
  if (strncmp(argument, prefix, strlen(prefix)))
    return NULL;
  symbol = findSymbol(name, (size_t)(path - name), direction);
  *bytes = readFile(path + 1, &size);
  if (size != symbol->bytes)
    fail("has another size than the bundle states", argument);
  return symbol;
}

/* Where a symbol is. */
static uint8_t *getAddress(const GlowishSymbol *symbol,
                           const Regions *regions) {
  uint8_t *region = symbol->region == GLOWISH_REGION_ACTIVATIONS
                        ? regions->activations
                        : regions->placeholders;
  return region + symbol->offset;
}

/* The extent of a dimension that an output has after a call. */
static uint64_t getExtent(const GlowishSymbol *symbol, int dim,
                          const Regions *regions) {
  const GlowishSymbol *extents;
  if (symbol->extents < 0)
    return symbol->dims[dim];
  extents = &bundle->config->symbols[symbol->extents];
  return (uint64_t)((const int64_t *)getAddress(extents, regions))[dim];
}

/* Writes the elements that are inside of the extents, from dimension `dim` on:
 * `size` bytes at `from` by the largest extents. Returns what is wrong. */
static int writeElements(FILE *file, const GlowishSymbol *symbol,
                         const Regions *regions, int dim, const uint8_t *from,
                         uint64_t size) {
  uint64_t i, extent;
  int isWrong = 0;
  if (dim == symbol->rank || symbol->extents < 0)
    return fwrite(from, 1, size, file) != size;
  extent = getExtent(symbol, dim, regions);
  if (extent > symbol->dims[dim])
    return 1;
  for (i = 0; i < extent && !isWrong; ++i)
    isWrong = writeElements(file, symbol, regions, dim + 1,
                            from + i * (size / symbol->dims[dim]),
                            size / symbol->dims[dim]);
  return isWrong;
}

/* If `argument` is -output=NAME=FILE: writes the output, cut to its extents,
 * and prints its type. */
static void writeOutput(const char *argument, const Regions *regions) {
  const char *name = argument + strlen("-output=");
  const char *path = strrchr(argument, '=');
  const GlowishSymbol *symbol;
  FILE *file;
  int i;
  if (strncmp(argument, "-output=", strlen("-output=")))
    return;
  symbol = findSymbol(name, (size_t)(path - name), GLOWISH_OUTPUT);
  file = fopen(path + 1, "wb");
  if (!file ||
      writeElements(file, symbol, regions, 0, getAddress(symbol, regions),
                    symbol->bytes) ||
      fclose(file))
    fail("cannot be written", path + 1);
  printf("%d:", symbol->elementType);
  for (i = 0; i < symbol->rank; ++i)
    printf("%s%llu", i ? "," : "",
           (unsigned long long)getExtent(symbol, i, regions));
  printf("\n");
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

static void writeInputs(const Regions *regions) {
  int i;
  for (i = 0; i < numInputs; ++i)
    memcpy(getAddress(inputs[i].symbol, regions), inputs[i].bytes,
           inputs[i].symbol->bytes);
}

/* Whether a call leaves an input that may not be what it was. */
static int destroysInputs(void) {
  int i, result = 0;
  for (i = 0; i < numInputs; ++i)
    result |= inputs[i].symbol->region == GLOWISH_REGION_ACTIVATIONS;
  return result;
}

static int call(const Regions *regions) {
  return bundle->entry(regions->weights, regions->placeholders,
                       regions->activations);
}

/* Calls of the bundle with inputs that are written before each of them. */
typedef struct Calls {
  Regions regions;
  int count;
} Calls;

static void callOften(void *argument) {
  const Calls *calls = argument;
  int i;
  for (i = 0; i < calls->count; ++i) {
    writeInputs(&calls->regions);
    if (call(&calls->regions))
      fail("the entry returned an error", "bundle");
  }
}

static void serve(double error, const Regions *regions) {
  static double times[MAX_RUNS];
  char line[64];
  printf("ready {\"error\": %.3e}\n", error);
  fflush(stdout);
  while (fgets(line, sizeof line, stdin) && !strncmp(line, "run ", 4)) {
    double start = now(), last = start;
    int count = 0;
    while (count < 3 || (last < start + atof(line + 4) && count < MAX_RUNS)) {
      double end;
      if (destroysInputs())
        writeInputs(regions);
      call(regions);
      end = now();
      times[count++] = end - last;
      last = end;
    }
    qsort(times, (size_t)count, sizeof *times, compareTimes);
    printf("%.6f\n", times[count / 2]);
    fflush(stdout);
  }
}

#if GUARDS_MEMORY
/* The inputs, and what is between the placeholders, are as they were. */
static void checkPlaceholders(const Regions *regions) {
  uint64_t i, k, size = bundle->config->mutableWeightVarsMemSize;
  uint8_t *isPlaceholder = calloc(1, size + 1);
  int input;
  if (!isPlaceholder)
    fail("out of memory", "bundle");
  for (i = 0; i < bundle->config->numSymbols; ++i) {
    const GlowishSymbol *symbol = &bundle->config->symbols[i];
    if (symbol->region == GLOWISH_REGION_MUTABLE)
      memset(isPlaceholder + symbol->offset, 1, symbol->bytes);
  }
  for (k = 0; k < size; ++k)
    if (!isPlaceholder[k] && regions->placeholders[k] != UNWRITTEN)
      fail("was written between placeholders", "bundle");
  free(isPlaceholder);
  for (input = 0; input < numInputs; ++input) {
    const GlowishSymbol *symbol = inputs[input].symbol;
    if (symbol->region == GLOWISH_REGION_MUTABLE &&
        symbol->direction == GLOWISH_INPUT &&
        memcmp(getAddress(symbol, regions), inputs[input].bytes, symbol->bytes))
      fail("is an input that was overwritten", symbol->name);
  }
}

/* The bytes of all outputs and states, or whether they are those. */
static uint8_t *copyOutputs(const Regions *regions, const uint8_t *expected) {
  uint64_t i, size = 0;
  uint8_t *bytes = NULL;
  for (i = 0; i < bundle->config->numSymbols; ++i) {
    const GlowishSymbol *symbol = &bundle->config->symbols[i];
    if (symbol->direction == GLOWISH_INPUT)
      continue;
    if (expected &&
        memcmp(getAddress(symbol, regions), expected + size, symbol->bytes))
      fail("depends on where the memory is", symbol->name);
    if (!expected) {
      bytes = realloc(bytes, size + symbol->bytes + 1);
      if (!bytes)
        fail("out of memory", "bundle");
      memcpy(bytes + size, getAddress(symbol, regions), symbol->bytes);
    }
    size += symbol->bytes;
  }
  return bytes;
}

/* Calls the bundle with all regions between inaccessible pages. */
static Regions callGuarded(const char *weightsPath, int numCalls,
                           GuardedPlace place) {
  const BundleConfig *config = bundle->config;
  uint64_t size, alignment = config->alignment;
  FILE *file = openFile(weightsPath, &size);
  GuardedRegion *weights = guard_region("the weights", size, alignment, place);
  GuardedRegion *placeholders = guard_region(
      "the placeholders", config->mutableWeightVarsMemSize, alignment, place);
  GuardedRegion *activations = guard_region(
      "the activations", config->activationsMemSize, alignment, place);
  Calls calls;
  readInto(weights->begin, file, size, weightsPath);
  checkWeights(weights->begin, size, weightsPath);
  guard_from_writes(weights);
  memset(placeholders->begin, UNWRITTEN, placeholders->size);
  memset(activations->begin, UNWRITTEN, activations->size);
  calls.regions.weights = weights->begin;
  calls.regions.placeholders = placeholders->begin;
  calls.regions.activations = activations->begin;
  calls.count = numCalls;
  call_with_guards(callOften, &calls, BUNDLE_STACK);
  check_guarded(placeholders);
  check_guarded(activations);
  checkPlaceholders(&calls.regions);
  return calls.regions;
}

/* Calls the bundle with the regions in both places; returns the latter. */
static Regions callInGuards(const char *weightsPath, int numCalls) {
  Regions regions = callGuarded(weightsPath, numCalls, AT_FIRST_PAGE);
  uint8_t *outputs = copyOutputs(&regions, NULL);
  release_guarded();
  regions = callGuarded(weightsPath, numCalls, AT_LAST_PAGE);
  copyOutputs(&regions, outputs);
  free(outputs);
  return regions;
}
#endif

int main(int argc, char **argv) {
  Calls calls;
  Regions *regions = &calls.regions;
  uint8_t *bytes;
  const GlowishSymbol *symbol;
  double worst = 0;
  int i, isServing = 0;
#ifdef BUNDLE_THREADS
  glowish_set_num_threads(BUNDLE_THREADS);
#endif
  if (argc < 2)
    fail("usage: run_bundle WEIGHTS.bin ARGUMENT...", argv[0]);
  calls.count = 1;
  for (i = 2; i < argc; ++i) {
    if (!strncmp(argv[i], "-bundle=", strlen("-bundle=")))
      chooseBundle(argv[i] + strlen("-bundle="));
    if (!strncmp(argv[i], "-calls=", strlen("-calls=")))
      calls.count = atoi(argv[i] + strlen("-calls="));
    isServing |= !strcmp(argv[i], "-serve");
  }
  inputs = calloc((size_t)argc, sizeof *inputs);
  if (!inputs)
    fail("out of memory", "bundle");
  for (i = 2; i < argc; ++i)
    if ((symbol = readTensor(argv[i], "-input=", GLOWISH_INPUT, &bytes))) {
      inputs[numInputs].symbol = symbol;
      inputs[numInputs++].bytes = bytes;
    }
#if GUARDS_MEMORY
  if (!isServing)
    calls.regions = callInGuards(argv[1], calls.count);
  else
#endif
  {
    calls.regions = allocateRegions(argv[1]);
    callOften(&calls);
  }
  for (i = 2; i < argc; ++i) {
    writeOutput(argv[i], regions);
    if ((symbol = readTensor(argv[i], "-expect=", GLOWISH_OUTPUT, &bytes))) {
      if (symbol->elementType != GLOWISH_FLOAT)
        fail("is not float", symbol->name);
      worst = fmax(worst, compare(symbol->name,
                                  (const float *)getAddress(symbol, regions),
                                  (const float *)bytes, symbol->size));
      free(bytes);
    }
  }
  if (isServing)
    serve(worst, regions);
  for (i = 0; i < numInputs; ++i)
    free(inputs[i].bytes);
  free(inputs);
  if (isServing || !GUARDS_MEMORY) {
    free(regions->weights);
    free(regions->placeholders);
    free(regions->activations);
  }
  return 0;
}
