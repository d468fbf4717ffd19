/* Runs a language model in a bundle (llm_bundle.h) for bench/llm.mjs.
 *
 *   llm_worker WEIGHTS.bin
 *
 * Prints "ready {}", and answers each line on stdin:
 *
 * - run PROMPT COUNT: takes a prompt of PROMPT tokens in one call, then COUNT
 *   tokens one at a time; prints the milliseconds of the prompt and the median
 *   of those of the others.
 * - read PROMPT COUNT: takes the same; the threads read memory after each of
 *   the COUNT tokens. Prints the median of the bytes that they could have read
 *   in the time of the token before.
 * - logits PROMPT FILE: writes the logits behind the prompt, floats; prints
 *   "written".
 * - text IDS CHUNK COUNT FILE: takes the tokens in the file IDS (int64), CHUNK
 * in a call, then COUNT times the likeliest token; writes the logits behind
 * each; prints "written". */
#define _DEFAULT_SOURCE
#include "clock.h"
#include "huge_pages.h"
#include "llm_bundle.h"
#include "median.h"
#include "read_memory.h"

enum { MOST_TOKENS = 4096 };

static int64_t ids[MOST_TOKENS];

static const uint8_t *read_weights(const char *path) {
  uint64_t size = config->constantWeightVarsMemSize;
  char *bytes = allocate(size);
  FILE *file = fopen(path, "rb");
  if (!file || fread(bytes, 1, size, file) != size)
    fail("the weights can't be read");
  fclose(file);
  return (const uint8_t *)bytes;
}

/* The tokens of "run" and "logits", those of llm_ort_worker.mjs. */
static void make_ids(int64_t count) {
  int64_t i;
  if (count > MOST_TOKENS)
    fail("too many tokens");
  for (i = 0; i < count; ++i)
    ids[i] = i * 37 % 1000;
}

/* The milliseconds of a call. */
static double time_append(int64_t past, int64_t count) {
  double start = now();
  append(ids + past, past, count);
  return 1e3 * (now() - start);
}

/* Parts of the weights that are read. */
enum { PART_BYTES = 1 << 20, MOST_PARTS = 128 };

static void read_parts(void *bytes, int64_t begin, int64_t end) {
  size_t size = (size_t)(end - begin) * PART_BYTES;
  read_all((const char *)bytes + begin * PART_BYTES, size, size / STEP_BYTES);
}

/* The bytes a millisecond that all threads read, from where they stopped. */
static double measure_rate(void) {
  static int64_t first = 0;
  int64_t all = (int64_t)(config->constantWeightVarsMemSize / PART_BYTES);
  int64_t count = all < MOST_PARTS ? all : MOST_PARTS;
  char *bytes;
  double start;
  if (count == 0)
    fail("there are too few weights to read");
  first = first + count > all ? 0 : first;
  bytes = (char *)(uintptr_t)weights + first * PART_BYTES;
  first += count;
  start = now();
#ifdef BUNDLE_THREADS
  glowish_parallel_for(read_parts, bytes, count);
#else
  read_parts(bytes, 0, count);
#endif
  return 1e-3 * (double)(count * PART_BYTES) / (now() - start);
}

/* "run", or "read" if `reads`. */
static void run(int64_t prompt, int64_t count, int reads) {
  static double values[MOST_TOKENS];
  double first, middle;
  int64_t i;
  if (count < 1)
    fail("too few tokens");
  make_ids(prompt + count);
  first = time_append(0, prompt);
  for (i = 0; i < count; ++i) {
    values[i] = time_append(prompt + i, 1);
    if (reads)
      values[i] *= measure_rate();
  }
  middle = median(values, (size_t)count);
  if (reads)
    printf("%.0f\n", middle);
  else
    printf("%.6f %.6f\n", first, middle);
}

static FILE *open_logits(const char *path) {
  FILE *file = fopen(path, "wb");
  if (!file)
    fail("the logits can't be written");
  return file;
}

static void write_row(FILE *file, int64_t token) {
  size_t words = (size_t)get_vocabulary();
  if (fwrite(get_logits(token), sizeof(float), words, file) != words)
    fail("the logits can't be written");
}

static void close_logits(FILE *file) {
  if (fclose(file) != 0)
    fail("the logits can't be written");
  puts("written");
}

static void write_logits(int64_t prompt, const char *path) {
  FILE *file = open_logits(path);
  make_ids(prompt);
  append(ids, 0, prompt);
  write_row(file, prompt - 1);
  close_logits(file);
}

static int64_t read_ids(const char *path) {
  FILE *file = fopen(path, "rb");
  size_t count = file ? fread(ids, sizeof *ids, MOST_TOKENS, file) : 0;
  if (count == 0)
    fail("the tokens can't be read");
  fclose(file);
  return (int64_t)count;
}

static void take_text(const char *text, int64_t chunk, int64_t count,
                      const char *path) {
  int64_t length = read_ids(text), most = length + count, done = 0, i;
  FILE *file = open_logits(path);
  if (chunk < 1 || most > MOST_TOKENS)
    fail("too many tokens");
  while (done < most) {
    int64_t left = length - done;
    int64_t size = left < 1 ? 1 : left < chunk ? left : chunk;
    append(ids + done, done, size);
    for (i = 0; i < size; ++i)
      write_row(file, i);
    done += size;
    if (done >= length && done < most)
      ids[done] = pick(size - 1);
  }
  close_logits(file);
}

int main(int argc, char **argv) {
  char line[8300], text[4096], path[4096];
  long long prompt, count;
  if (argc != 2)
    fail("usage: llm_worker WEIGHTS.bin");
  open_bundle(read_weights(argv[1]));
  puts("ready {}");
  fflush(stdout);
  while (fgets(line, sizeof line, stdin)) {
    if (sscanf(line, "run %lld %lld", &prompt, &count) == 2)
      run(prompt, count, 0);
    else if (sscanf(line, "read %lld %lld", &prompt, &count) == 2)
      run(prompt, count, 1);
    else if (sscanf(line, "logits %lld %4095s", &prompt, path) == 2)
      write_logits(prompt, path);
    else if (sscanf(line, "text %4095s %lld %lld %4095s", text, &prompt, &count,
                    path) == 4)
      take_text(text, prompt, count, path);
    else
      fail("a line is none of 'run', 'read', 'logits' and 'text'");
    fflush(stdout);
  }
  return 0;
}
