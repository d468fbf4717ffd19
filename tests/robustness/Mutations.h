//===- Mutations.h - Mutations of models ------------------------*- C++ -*-===//

#ifndef GLOWISH_TESTS_ROBUSTNESS_MUTATIONS_H
#define GLOWISH_TESTS_ROBUSTNESS_MUTATIONS_H

#include "glowish/Support/Random.h"
#include <google/protobuf/message.h>
#include <string>

namespace glowish::robustness {

/// Flips bits, cuts, repeats and moves ranges, writes numbers at the edges.
void mutateBytes(std::string &bytes, Random &random);

/// Drops, repeats, swaps and alters fields of \p message and of the messages in
/// it, found by reflection: every field that a model can have is as likely as
/// it is frequent. Numbers become huge, negative or zero, names empty, long or
/// those of something else in the model (cycles come of it), messages those of
/// another place.
void mutateMessage(google::protobuf::Message &message, Random &random);

/// Drops, repeats and swaps the words and lines of \p text, alters its numbers
/// and changes single characters.
void mutateText(std::string &text, Random &random);

} // namespace glowish::robustness

#endif // GLOWISH_TESTS_ROBUSTNESS_MUTATIONS_H
