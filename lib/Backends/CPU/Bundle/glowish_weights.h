/* Weights in a file that is installed with the program: link glowish_weights.c.
 */
#ifndef GLOWISH_WEIGHTS_H
#define GLOWISH_WEIGHTS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the file `name` of `size` bytes for reading. A name that is no absolute
 * path is looked for in the folder of the program, and then in
 * GLOWISH_WEIGHTS_FOLDER, which glowish_weights.c may be compiled with: an
 * absolute path, or one from the folder of the program ("../share/app"). Null
 * where no such file has this size; whether it has the weights of the bundle,
 * NAME_check_weights() says. */
const uint8_t *glowish_map_weights(const char *name, uint64_t size);

/* Ends a mapping; nothing may be read there any more. */
void glowish_unmap_weights(const uint8_t *weights, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
