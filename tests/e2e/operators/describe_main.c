/* Runs a bundle whose function is that of operators.c, with an input of zeros,
 * and prints what it was called with. */

#include "net.h"
#include "operators.c"

int test_Describe(const struct glowish_call *call) { return describe(call); }

GLOWISH_MEM_ALIGN(NET_MEM_ALIGN)
static uint8_t memory[NET_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN)
static uint8_t activations[NET_ACTIVATIONS_MEM_SIZE + 1];

int main(void) {
  int status = net(net_weights, memory, activations);
  const double *result = (const double *)GLOWISH_GET_ADDR(memory, NET_y);
  for (int i = 0; i < MOST; ++i)
    printf("%.9g ", result[i]);
  printf("\nstatus %d\n", status);
  return 0;
}
