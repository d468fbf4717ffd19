/* Recognizes stored words with the network in words.o, and compares with what
 * was said. A device would compute the features of its microphone's samples as
 * features.py does. */
#include "board.h"
#include "words.h"

/* The classes, in the order of words.py. */
static const char *const names[] = {"yes",  "no",    "up",   "down",
                                    "left", "right", "on",   "off",
                                    "stop", "go",    "other"};

/* A stored word. */
typedef struct {
  uint8_t word;
  int8_t features[WORDS_features_SIZE];
} Example;
extern const Example examples[], examples_end[];

/* All memory that the network needs beside the stack. Its inputs and outputs
 * are in there: a call destroys the inputs. */
GLOWISH_MEM_ALIGN(WORDS_MEM_ALIGN)
__attribute__((
    section(".arena"))) static uint8_t arena[WORDS_ACTIVATIONS_MEM_SIZE];

/* The class with the highest score, and that; -1 if the network could not run.
 */
static int recognize(const int8_t *features, int8_t *score) {
  int8_t *input = (int8_t *)GLOWISH_GET_ADDR(arena, WORDS_features);
  const int8_t *scores = (const int8_t *)GLOWISH_GET_ADDR(arena, WORDS_scores);
  for (unsigned i = 0; i < WORDS_features_SIZE; ++i)
    input[i] = features[i];
  if (words(words_weights, 0, arena) != GLOWISH_SUCCESS)
    return -1;
  int best = 0;
  for (int i = 1; i < (int)WORDS_scores_SIZE; ++i)
    best = scores[i] > scores[best] ? i : best;
  *score = scores[best];
  return best;
}

int main(void) {
  _Static_assert(sizeof names / sizeof *names == WORDS_scores_SIZE,
                 "a name for each class");
  int right = 0, count = 0;
  print("recognized  score  expected\n");
  for (const Example *example = examples; example < examples_end; ++example) {
    int8_t score = 0;
    int answer = recognize(example->features, &score);
    if (answer < 0) {
      print("the network could not run\n");
      return 2;
    }
    printName(names[answer], 10);
    printNumber(score, 7);
    print("  ");
    print(names[example->word]);
    print("\n");
    right += answer == example->word;
    ++count;
  }
  printNumber(right, 0);
  print(" of ");
  printNumber(count, 0);
  print(" right, ");
  printNumber((int32_t)measureStack(), 0);
  print(" bytes of stack\n");
  return right == count ? 0 : 1;
}
