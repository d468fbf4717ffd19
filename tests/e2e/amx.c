/* The instructions of Intel AMX that kernels have, as functions: amx.py links
 * bundles with them, and so runs them where the processor has no such
 * registers. All registers have their largest size. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 16, COLUMNS = 16, LANES = 16, LANE_BYTES = 4 };

static _Thread_local uint8_t registers[8][ROWS][LANES * LANE_BYTES];

/* The processor would refuse another palette; what is beyond the rows and
 * columns of a smaller configuration is not emulated. */
void amx_ldtilecfg(const uint8_t *configuration) {
  int good = configuration[0] == 1 && configuration[1] == 0;
  for (int i = 0; i < 8; ++i)
    good &= configuration[16 + 2 * i] == LANES * LANE_BYTES &&
            configuration[17 + 2 * i] == 0 && configuration[48 + i] == ROWS;
  if (!good)
    abort();
  memset(registers, 0, sizeof registers);
}

/* What is used after it was released has other values. */
void amx_tilerelease(void) { memset(registers, 0x55, sizeof registers); }

void amx_tilezero(uint8_t number) {
  memset(registers[number], 0, sizeof registers[number]);
}

void amx_tileloadd64(uint8_t number, const uint8_t *address, int64_t stride) {
  for (int row = 0; row < ROWS; ++row)
    memcpy(registers[number][row], address + row * stride,
           sizeof registers[number][row]);
}

void amx_tilestored64(uint8_t number, uint8_t *address, int64_t stride) {
  for (int row = 0; row < ROWS; ++row)
    memcpy(address + row * stride, registers[number][row],
           sizeof registers[number][row]);
}

/* The product of element number e of lane a and lane b, as int32. */
#define DEFINE_BYTES(NAME, A, B)                                               \
  void NAME(uint8_t sums, uint8_t rows, uint8_t columns) {                     \
    for (int row = 0; row < ROWS; ++row)                                       \
      for (int column = 0; column < COLUMNS; ++column) {                       \
        uint8_t *place = &registers[sums][row][column * LANE_BYTES];           \
        uint32_t sum;                                                          \
        memcpy(&sum, place, sizeof sum);                                       \
        for (int lane = 0; lane < LANES; ++lane)                               \
          for (int e = 0; e < LANE_BYTES; ++e)                                 \
            sum += (uint32_t)((A)registers[rows][row][lane * LANE_BYTES + e] * \
                              (B)registers[columns][lane]                      \
                                          [column * LANE_BYTES + e]);          \
        memcpy(place, &sum, sizeof sum);                                       \
      }                                                                        \
  }

DEFINE_BYTES(amx_tdpbssd, int8_t, int8_t)
DEFINE_BYTES(amx_tdpbusd, uint8_t, int8_t)

static float readBFloat16(const uint8_t *place) {
  uint16_t half;
  memcpy(&half, place, sizeof half);
  uint32_t bits = (uint32_t)half << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

void amx_tdpbf16ps(uint8_t sums, uint8_t rows, uint8_t columns) {
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      uint8_t *place = &registers[sums][row][column * LANE_BYTES];
      float sum;
      memcpy(&sum, place, sizeof sum);
      for (int lane = 0; lane < LANES; ++lane)
        for (int e = 0; e < LANE_BYTES; e += 2)
          sum +=
              readBFloat16(&registers[rows][row][lane * LANE_BYTES + e]) *
              readBFloat16(&registers[columns][lane][column * LANE_BYTES + e]);
      memcpy(place, &sum, sizeof sum);
    }
}
