/* A bundle's entry with an error that $PLANT names, for run_bundle.c: whether
 * the guards of guarded_memory.h find it. Included after the header of the
 * bundle "network". */
#include "network.h"
#include <stdlib.h>
#include <string.h>

static int isPlanted(const char *name) {
  const char *planted = getenv("PLANT");
  return planted && !strcmp(planted, name);
}

/* Uses that much of the stack. */
static int useStack(uint64_t bytes) {
  volatile uint8_t frame[4096];
  frame[bytes % sizeof frame] = 1;
  return bytes > sizeof frame ? useStack(bytes - sizeof frame) + frame[0] : 0;
}

static int planted(const uint8_t *weights, uint8_t *placeholders,
                   uint8_t *activations) {
  const BundleConfig *config = &network_config;
  volatile uint8_t sink;
  int result = network(weights, placeholders, activations);
  if (isPlanted("read behind weights"))
    sink = weights[config->constantWeightVarsMemSize + 3];
  if (isPlanted("read before weights"))
    sink = weights[-1];
  if (isPlanted("write weights"))
    ((uint8_t *)(uintptr_t)weights)[5] = 1;
  if (isPlanted("write behind placeholders"))
    placeholders[config->mutableWeightVarsMemSize] = 1;
  if (isPlanted("write between placeholders"))
    placeholders[config->symbols[0].offset + config->symbols[0].bytes] = 1;
  if (isPlanted("write an input"))
    placeholders[config->symbols[0].offset] ^= 1;
  if (isPlanted("read before activations"))
    sink = activations[-16];
  if (isPlanted("write behind activations"))
    activations[config->activationsMemSize + 7] = 1;
  if (isPlanted("too much stack"))
    useStack(1400 << 10);
  if (isPlanted("by address"))
    memcpy(placeholders + config->symbols[1].offset, &placeholders,
           sizeof placeholders);
  (void)sink;
  return result;
}
