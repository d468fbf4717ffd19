/* main.c: an application that trains on several processes with an engine of its
 * own: MPI averages the gradients that the bundle computes. Usage:
 *
 *   mpirun -n N train STATE
 *
 * STATE: net.state.bin of the bundle. Prints the loss of every 20th step. */

#include "net.h"
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 200
/* The samples that a process learns from in a step. */
#define PART ((int)NET_GRADIENTS_target_SIZE)

GLOWISH_MEM_ALIGN(NET_MEM_ALIGN)
static const uint8_t weights[NET_CONSTANT_MEM_SIZE + 1] = {
#include "net.weights.txt"
};
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN) static uint8_t region[NET_MUTABLE_MEM_SIZE];
GLOWISH_MEM_ALIGN(NET_MEM_ALIGN)
static uint8_t scratch[NET_ACTIVATIONS_MEM_SIZE];
static uint8_t state[NET_STATE_SIZE];

static float *at(uint64_t offset) { return (float *)(void *)(region + offset); }

/* Ends all processes. */
static void fail(const char *what) {
  fprintf(stderr, "error: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

/* In the first process; the others get its variables. */
static void begin(const char *path, int rank) {
  if (rank == 0) {
    FILE *file = fopen(path, "rb");
    if (!file || fread(state, 1, NET_STATE_SIZE, file) != NET_STATE_SIZE)
      fail("the state cannot be read");
    fclose(file);
  }
  MPI_Bcast(state, NET_STATE_SIZE, MPI_BYTE, 0, MPI_COMM_WORLD);
  if (net_restore_state(region, state, NET_STATE_SIZE) != GLOWISH_SUCCESS)
    fail("the state is not one of this bundle");
}

/* Sample `number` of all: points of a surface. */
static void fill(int i, int number) {
  float a = (float)(number * 37 % 101) / 50 - 1;
  float b = (float)(number * 53 % 89) / 44 - 1;
  at(NET_GRADIENTS_x)[2 * i] = a;
  at(NET_GRADIENTS_x)[2 * i + 1] = b;
  at(NET_GRADIENTS_target)[i] = a * b + 0.5f * a;
}

/* Each process learns from its part of the batch; all get the mean of what they
 * compute, and make the same update. */
static float step(int number, int rank, int size) {
  float loss;
  int i;
  for (i = 0; i < PART; ++i)
    fill(i, (number * size + rank) * PART + i);
  if (net_gradients(weights, region, scratch) != GLOWISH_SUCCESS)
    fail("net_gradients");
  MPI_Allreduce(MPI_IN_PLACE, at(NET_GRADIENTS_gradients),
                NET_GRADIENTS_gradients_SIZE, MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
  for (i = 0; i < (int)NET_GRADIENTS_gradients_SIZE; ++i)
    at(NET_GRADIENTS_gradients)[i] /= (float)size;
  MPI_Allreduce(at(NET_GRADIENTS_loss), &loss, 1, MPI_FLOAT, MPI_SUM,
                MPI_COMM_WORLD);
  at(NET_UPDATE_learning_rate)[0] = 0.02f;
  if (net_update(weights, region, scratch) != GLOWISH_SUCCESS)
    fail("net_update");
  return loss / (float)size;
}

int main(int argc, char **argv) {
  int i, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 2)
    fail("usage: mpirun -n N train STATE");
  begin(argv[1], rank);
  for (i = 0; i < STEPS; ++i) {
    float loss = step(i, rank, size);
    if (rank == 0 && (i % 20 == 0 || i == STEPS - 1))
      printf("step %3d  loss %.6e\n", i, loss);
  }
  MPI_Finalize();
  return 0;
}
