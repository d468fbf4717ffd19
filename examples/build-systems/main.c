/* Names what images show: a digit (PGM of 28 by 28 pixels, light on dark), or a
 * shape (PPM of 32 by 32). Two networks, whose weights are files that
 * glowish_map_weights() finds beside the program or where they are installed.
 */
#include "digits.h"
#include "glowish_weights.h"
#include "shapes.h"
#include <stdio.h>
#include <stdlib.h>

typedef struct {
  const char *weightsFile;
  uint64_t weightsSize;
  int (*check)(const uint8_t *weights, uint64_t size);
  int (*run)(const uint8_t *weights, uint8_t *mutableWeight, uint8_t *arena);
  int channels, side, numClasses;
  unsigned input, output; /* offsets in mutableWeight */
  const char *const *names;
} Network;

enum { ALIGNMENT = 64, NUM_DIGITS = DIGITS_chances_SIZE };

static const char *const digitNames[NUM_DIGITS] = {
    "zero", "one", "two",   "three", "four",
    "five", "six", "seven", "eight", "nine"};
static const char *const shapeNames[SHAPES_scores_SIZE] = {
    "checks", "circle", "cross",   "ring",
    "square", "star",   "stripes", "triangle"};

static const Network networks[] = {
    {"digits.weights.bin", DIGITS_CONSTANT_MEM_SIZE, digits_check_weights,
     digits, 1, 28, NUM_DIGITS, DIGITS_image, DIGITS_chances, digitNames},
    {"shapes.weights.bin", SHAPES_CONSTANT_MEM_SIZE, shapes_check_weights,
     shapes, 3, 32, SHAPES_scores_SIZE, SHAPES_image, SHAPES_scores,
     shapeNames},
};

/* The networks run in turns: the larger of two sizes is enough for both. */
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
GLOWISH_MEM_ALIGN(ALIGNMENT)
static uint8_t
    mutableWeight[LARGER(DIGITS_MUTABLE_MEM_SIZE, SHAPES_MUTABLE_MEM_SIZE)];
GLOWISH_MEM_ALIGN(ALIGNMENT)
static uint8_t
    arena[LARGER(DIGITS_ACTIVATIONS_MEM_SIZE, SHAPES_ACTIVATIONS_MEM_SIZE)];

/* The network for an image, whose pixels become its input; null where there is
 * none. */
static const Network *readImage(const char *path) {
  static uint8_t pixels[3 * 32 * 32];
  const Network *network = NULL;
  int kind = 0, width = 0, height = 0;
  FILE *file = fopen(path, "rb");
  if (file && fscanf(file, "P%d %d %d 255", &kind, &width, &height) == 3 &&
      (kind == 5 || kind == 6)) {
    const Network *wanted = &networks[kind - 5];
    size_t size = (size_t)(wanted->channels * wanted->side * wanted->side);
    fgetc(file);
    if (width == wanted->side && height == wanted->side &&
        fread(pixels, 1, size, file) == size)
      network = wanted;
  }
  if (file)
    fclose(file);
  if (network) {
    float *input = (float *)(mutableWeight + network->input);
    int count = network->side * network->side, channels = network->channels;
    for (int c = 0; c < channels; ++c)
      for (int i = 0; i < count; ++i)
        input[c * count + i] = (float)pixels[channels * i + c] / 255.0f;
  }
  return network;
}

static const char *name(const Network *network, const uint8_t *weights) {
  const float *scores = (const float *)(mutableWeight + network->output);
  int best = 0;
  if (network->run(weights, mutableWeight, arena) != GLOWISH_SUCCESS)
    return NULL;
  for (int i = 1; i < network->numClasses; ++i)
    best = scores[i] > scores[best] ? i : best;
  return network->names[best];
}

int main(int argc, char **argv) {
  const uint8_t *weights[2];
  for (int i = 0; i < 2; ++i) {
    uint64_t size = networks[i].weightsSize;
    weights[i] = glowish_map_weights(networks[i].weightsFile, size);
    if (!weights[i] || networks[i].check(weights[i], size) != GLOWISH_SUCCESS)
      return fprintf(stderr, "%s: not found, or of another network\n",
                     networks[i].weightsFile),
             1;
  }
  for (int i = 1; i < argc; ++i) {
    const Network *network = readImage(argv[i]);
    const char *answer =
        network ? name(network, weights[network - networks]) : NULL;
    if (!answer)
      return fprintf(stderr,
                     "%s: no PGM of 28 by 28 or PPM of 32 by 32 pixels\n",
                     argv[i]),
             1;
    printf("%s: %s\n", argv[i], answer);
  }
  return 0;
}
