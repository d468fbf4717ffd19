//===- Conversion.h - A model by way of another format ----------*- C++ -*-===//

#ifndef GLOWISH_TESTS_FUZZ_RANGES_FORMS_CONVERSION_H
#define GLOWISH_TESTS_FUZZ_RANGES_FORMS_CONVERSION_H

#include "Form.h"

namespace glowish::fuzz {

/// Writes each output of the ONNX model at \p path, with the nodes it needs, in
/// \p form, and what is imported from that to \p folder/OUTPUT.graph. Prints
/// "OUTPUT NAME INPUT...", where NAME is that of the output there, or
/// "OUTPUT: REASON" where the format has no counterpart. An error is one of the
/// importers, or of files.
llvm::Error convertModel(const std::string &path, const Form &form,
                         const std::string &folder);

} // namespace glowish::fuzz

#endif // GLOWISH_TESTS_FUZZ_RANGES_FORMS_CONVERSION_H
