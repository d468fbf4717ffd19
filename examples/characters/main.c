/* Goes on with a text, character by character, as the network in characters.o
 * would: writer TEXT [COUNT [TEMPERATURE]]. */
#include "characters.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LENGTH = CHARACTERS_x_SIZE, KINDS = 128 };

GLOWISH_MEM_ALIGN(CHARACTERS_MEM_ALIGN)
static uint8_t placeholders[CHARACTERS_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(CHARACTERS_MEM_ALIGN)
static uint8_t activations[CHARACTERS_ACTIVATIONS_MEM_SIZE];

/* In [0, 1): the same numbers on every machine. */
static double drawNumber(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (double)(state >> 11) / 9007199254740992.0;
}

/* A character, by the chances that the scores stand for. */
static int drawCharacter(const float *scores, double temperature) {
  double chances[KINDS], sum = 0, best = scores[0];
  for (int c = 1; c < KINDS; ++c)
    best = scores[c] > best ? scores[c] : best;
  for (int c = 0; c < KINDS; ++c)
    sum += chances[c] = exp((scores[c] - best) / temperature);
  double left = drawNumber() * sum;
  for (int c = 0; c < KINDS; ++c)
    if ((left -= chances[c]) < 0)
      return c;
  return ' ';
}

int main(int argc, char **argv) {
  if (argc < 2 || !*argv[1])
    return fprintf(stderr, "usage: %s TEXT [COUNT [TEMPERATURE]]\n", argv[0]),
           1;
  long count = argc > 2 ? atol(argv[2]) : 400;
  double temperature = argc > 3 ? atof(argv[3]) : 0.6;
  int64_t *x = (int64_t *)(placeholders + CHARACTERS_x);
  const float *scores = (const float *)(placeholders + CHARACTERS_scores);
  int known = 0; /* characters of x that are of the text */
  memset(x, 0, sizeof(*x) * LENGTH);
  printf("%s", argv[1]);
  for (const char *next = argv[1]; count > 0;) {
    int c = (unsigned char)*next & 127;
    if (c) {
      ++next;
    } else {
      c = drawCharacter(scores + (known - 1) * KINDS, temperature);
      putchar(c);
      --count;
    }
    if (known == LENGTH)
      memmove(x, x + 1, sizeof(*x) * (LENGTH - 1));
    else
      ++known;
    x[known - 1] = c;
    if (!*next && characters(characters_weights, placeholders, activations) !=
                      GLOWISH_SUCCESS)
      return 1;
  }
  puts("");
  return 0;
}
