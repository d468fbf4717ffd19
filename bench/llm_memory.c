/* What an application with a language model in a bundle (llm_bundle.h) needs;
 * for bench/llm.mjs.
 *
 *   llm_memory WEIGHTS.bin PROMPT CHUNK COUNT
 *
 * maps the weights, takes a prompt of PROMPT tokens, CHUNK in a call, then
 * COUNT times the likeliest token. Prints as JSON the milliseconds from the
 * start of the process to the logits behind the prompt and those that the
 * prompt takes when it is taken again, and bytes: the largest resident size,
 * what of it is anonymous and what of files at the end, and those of weights,
 * cache, placeholders and arena. */
#define _DEFAULT_SOURCE
#include "clock.h"
#include "median.h"
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Pages that are there once something is written. */
static char *allocate(size_t size) {
  void *bytes = mmap(NULL, size > 0 ? size : 1, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED)
    exit(1);
  return (char *)bytes;
}

#include "llm_bundle.h"

enum { MOST_TOKENS = 4096, TIMES = 3 };

static int64_t ids[MOST_TOKENS];

static const uint8_t *map_weights(const char *path) {
  int file = open(path, O_RDONLY);
  void *bytes = mmap(NULL, config->constantWeightVarsMemSize, PROT_READ,
                     MAP_SHARED, file, 0);
  if (file < 0 || bytes == MAP_FAILED)
    fail("the weights can't be mapped");
  close(file);
  return (const uint8_t *)bytes;
}

/* The index in the last call of the last token. */
static int64_t take_prompt(int64_t prompt, int64_t chunk) {
  int64_t done = 0, size = 0;
  for (; done < prompt; done += size) {
    size = prompt - done < chunk ? prompt - done : chunk;
    append(ids + done, done, size);
  }
  return size - 1;
}

/* The milliseconds of a prompt when everything is there: the median. */
static double time_prompt(int64_t prompt, int64_t chunk) {
  double times[TIMES];
  int i;
  for (i = 0; i < TIMES; ++i) {
    double start = now();
    take_prompt(prompt, chunk);
    times[i] = 1e3 * (now() - start);
  }
  return median(times, TIMES);
}

/* A line of /proc/self/status, in bytes. */
static double read_status(const char *name) {
  char line[256];
  double kilobytes = 0;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0)
      sscanf(line + strlen(name), ": %lf", &kilobytes);
  if (file)
    fclose(file);
  return 1024 * kilobytes;
}

/* The states, which are inputs and outputs. */
static double count_cache_bytes(void) {
  double sum = 0;
  uint64_t i;
  for (i = 0; i < config->numSymbols; ++i)
    if (config->symbols[i].direction == (GLOWISH_INPUT | GLOWISH_OUTPUT))
      sum += (double)config->symbols[i].bytes;
  return sum;
}

/* Starts the program again with the time of that as an argument. */
static void restart(char **arguments) {
  static char start[32];
  char *all[7];
  int i;
  for (i = 0; i < 5; ++i)
    all[i] = arguments[i];
  snprintf(start, sizeof start, "%.9f", now());
  all[5] = start;
  all[6] = NULL;
  execv("/proc/self/exe", all);
  fail("the program can't start itself");
}

int main(int argc, char **argv) {
  double start, first, prefill, peak, anonymous, file;
  int64_t prompt, chunk, count, token, i;
  if (argc < 5)
    fail("usage: llm_memory WEIGHTS.bin PROMPT CHUNK COUNT");
  if (argc == 5)
    restart(argv);
  prompt = atoll(argv[2]), chunk = atoll(argv[3]), count = atoll(argv[4]);
  start = atof(argv[5]);
  if (prompt < 1 || chunk < 1 || prompt + count > MOST_TOKENS)
    fail("too many tokens");
  open_bundle(map_weights(argv[1]));
  for (i = 0; i < prompt; ++i)
    ids[i] = i * 37 % 1000;
  token = take_prompt(prompt, chunk);
  ids[prompt] = pick(token);
  first = 1e3 * (now() - start);
  for (i = 1; i < count; ++i) {
    append(ids + prompt + i - 1, prompt + i - 1, 1);
    ids[prompt + i] = pick(0);
  }
  peak = read_status("VmHWM");
  anonymous = read_status("RssAnon");
  file = read_status("RssFile");
  prefill = time_prompt(prompt, chunk);
  printf("{\"first\": %.3f, \"prefill\": %.3f, \"peak\": %.0f, "
         "\"anonymous\": %.0f, \"file\": %.0f, \"weights\": %.0f, "
         "\"cache\": %.0f, \"placeholders\": %.0f, \"arena\": %.0f}\n",
         first, prefill, peak, anonymous, file,
         (double)config->constantWeightVarsMemSize, count_cache_bytes(),
         (double)config->mutableWeightVarsMemSize,
         (double)config->activationsMemSize);
  return 0;
}
