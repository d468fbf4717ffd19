//===- VariantHeader.h - The header of several programs ---------*- C++ -*-===//
//
// The parts of a header that are specific to bundles for several values of
// symbolic dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef GLOWISH_LIB_BACKENDS_CPU_BUNDLE_VARIANTHEADER_H
#define GLOWISH_LIB_BACKENDS_CPU_BUNDLE_VARIANTHEADER_H

#include "Header.h"

namespace glowish {

/// The macros of the dimension \p identifier: \p prefix + identifier + suffix.
std::vector<std::string> getDimMacros(llvm::StringRef prefix,
                                      llvm::StringRef identifier);
/// The functions of a symbol: NETWORK_FUNCTION_SYMBOL.
inline constexpr llvm::StringLiteral symbolFunctions[] = {
    "offset_of", "bytes_of", "size_of", "dims_of"};

/// The comment at the top of the file, from its second line.
void printVariantBanner(llvm::raw_ostream &os, const BundleFacts &facts);
/// The static API: macros for the dimensions and for each program.
void printVariantMacros(llvm::raw_ostream &os, const BundleFacts &facts);
/// The static API: functions from values to what the program for them needs.
void printVariantFunctions(llvm::raw_ostream &os, const BundleFacts &facts);
/// The dynamic API: types of the table of programs; emitVariants in Config.cpp
/// makes the same layout.
void printVariantTypes(llvm::raw_ostream &os);

} // namespace glowish

#endif // GLOWISH_LIB_BACKENDS_CPU_BUNDLE_VARIANTHEADER_H
