/* Shows images of digits, each with the answer of the network in digits.o.
 * An image is a PNG file of 28 by 28 pixels, light on dark. */
#include "digits.h"
#include <png.h>
#include <stdio.h>

enum { SIZE = 28, EDGE = 2, PER_ROW = 3, INK = 90 };

GLOWISH_MEM_ALIGN(DIGITS_MEM_ALIGN)
static uint8_t placeholders[DIGITS_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(DIGITS_MEM_ALIGN)
static uint8_t activations[DIGITS_ACTIVATIONS_MEM_SIZE];

static int readImage(const char *path, uint8_t *pixels) {
  png_image image = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&image, path))
    return 0;
  image.format = PNG_FORMAT_GRAY;
  return image.width == SIZE && image.height == SIZE &&
         png_image_finish_read(&image, NULL, pixels, 0, NULL);
}

/* Runs the network: the digit, and in *chance how sure it is. */
static int recognise(const uint8_t *pixels, float *chance) {
  float *image = (float *)(placeholders + DIGITS_image);
  const float *chances = (const float *)(placeholders + DIGITS_chances);
  for (int i = 0; i < SIZE * SIZE; ++i)
    image[i] = pixels[i] / 255.0f;
  if (digits(digits_weights, placeholders, activations) != GLOWISH_SUCCESS)
    return -1;
  int best = 0;
  for (int digit = 1; digit < 10; ++digit)
    best = chances[digit] > chances[best] ? digit : best;
  *chance = chances[best];
  return best;
}

int main(int argc, char **argv) {
  const char *const blocks[] = {" ", "▀", "▄", "█"};
  static uint8_t pixels[PER_ROW][SIZE][SIZE];
  for (int first = 1; first < argc; first += PER_ROW) {
    int count = argc - first < PER_ROW ? argc - first : PER_ROW;
    for (int i = 0; i < count; ++i)
      if (!readImage(argv[first + i], pixels[i][0]))
        return fprintf(stderr, "cannot read %s\n", argv[first + i]), 1;
    for (int y = EDGE; y < SIZE - EDGE; y += 2, puts(""))
      for (int i = 0; i < count; ++i, printf("  "))
        for (int x = EDGE; x < SIZE - EDGE; ++x)
          printf("%s", blocks[(pixels[i][y][x] > INK) |
                              (pixels[i][y + 1][x] > INK) << 1]);
    for (int i = 0; i < count; ++i) {
      float chance = 0;
      int answer = recognise(pixels[i][0], &chance);
      printf("%d  %5.1f %%  %-12s ", answer, 100 * chance, argv[first + i]);
    }
    puts("\n");
  }
  return 0;
}
