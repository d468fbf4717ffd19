// tensor_files.c: what run_mlir.py's @run calls, loaded by mlir-cpu-runner. The
// tensors of a run are files of the current folder with the elements alone, in
// row-major order.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

// What MLIR passes for a memref of unknown rank is the rank and the address of
// this, with `rank` extents and then strides at its end.
struct Descriptor {
  char *allocated;
  char *aligned;
  int64_t offset;
  int64_t extents[];
};

static FILE *openTensor(const char *kind, int64_t number, const char *mode) {
  char name[64];
  snprintf(name, sizeof(name), "%s_%lld.bin", kind, (long long)number);
  FILE *file = fopen(name, mode);
  if (!file) {
    perror(name);
    exit(1);
  }
  return file;
}

// Elements are without gaps: bufferization was told so.
static void readTensor(int64_t rank, struct Descriptor *memref, int64_t number,
                       size_t size) {
  size_t count = 1;
  for (int64_t i = 0; i < rank; ++i)
    count *= (size_t)memref->extents[i];
  FILE *file = openTensor("input", number, "rb");
  char *elements = memref->aligned + memref->offset * (int64_t)size;
  if (fread(elements, size, count, file) != count) {
    fprintf(stderr, "input_%lld.bin is too short\n", (long long)number);
    exit(1);
  }
  fclose(file);
}

static void writeTensor(int64_t rank, struct Descriptor *memref, int64_t number,
                        size_t size) {
  size_t count = 1;
  for (int64_t i = 0; i < rank; ++i)
    count *= (size_t)memref->extents[i];
  FILE *file = openTensor("output", number, "wb");
  fwrite(memref->aligned + memref->offset * (int64_t)size, size, count, file);
  if (fclose(file) != 0) {
    perror("output");
    exit(1);
  }
}

#define TENSOR_FILES(TYPE, SIZE)                                               \
  void read_##TYPE(int64_t rank, struct Descriptor *memref, int64_t number) {  \
    readTensor(rank, memref, number, SIZE);                                    \
  }                                                                            \
  void write_##TYPE(int64_t rank, struct Descriptor *memref, int64_t number) { \
    writeTensor(rank, memref, number, SIZE);                                   \
  }

TENSOR_FILES(i1, 1)
TENSOR_FILES(i8, 1)
TENSOR_FILES(i16, 2)
TENSOR_FILES(i32, 4)
TENSOR_FILES(i64, 8)
TENSOR_FILES(f16, 2)
TENSOR_FILES(bf16, 2)
TENSOR_FILES(f32, 4)
TENSOR_FILES(f64, 8)
