/* An application with the network, and with the function that it calls. */

#include "filter.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What a knob is set to. */
static float gain = 4;

int app_gain(const struct glowish_call *call) {
  const struct glowish_tensor *input = &call->inputs[0];
  const float *in = input->data;
  float *out = call->outputs[0].data, peak = 0;
  int64_t count = 1;
  for (int32_t d = 0; d < input->rank; ++d)
    count *= input->extents[d];
  if (gain < 0)
    return 1;
  for (int64_t i = 0; i < count; ++i) {
    out[i] = gain * in[i];
    peak = fabsf(out[i]) > peak ? fabsf(out[i]) : peak;
  }
  *(float *)call->outputs[1].data = peak;
  return 0;
}

GLOWISH_MEM_ALIGN(FILTER_MEM_ALIGN)
static uint8_t memory[FILTER_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(FILTER_MEM_ALIGN)
static uint8_t activations[FILTER_ACTIVATIONS_MEM_SIZE + 1];

int main(void) {
  /* Steps with two clicks, which the median takes out. */
  static const float signal[2][9] = {{0, 0, 9, 0, 0, 1, 1, 1, 1},
                                     {1, 1, 1, -9, 1, 2, 2, 2, 2}};
  memcpy(GLOWISH_GET_ADDR(memory, FILTER_signal), signal, sizeof(signal));
  int status = filter(filter_weights, memory, activations);
  const float *loud = (const float *)GLOWISH_GET_ADDR(memory, FILTER_loud);
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < 9; ++i)
      printf("%s%.3f", i ? " " : "", loud[9 * row + i]);
    printf("\n");
  }
  printf("peak %.3f, status %d\n",
         *(const float *)GLOWISH_GET_ADDR(memory, FILTER_peak), status);
  gain = -1;
  printf("with a gain of -1: status %d\n",
         filter(filter_weights, memory, activations));
  return 0;
}
