//===- Bundle.h - The bundles of the CPU back end ---------------*- C++ -*-===//

#ifndef GLOWISH_BACKENDS_CPU_BUNDLE_H
#define GLOWISH_BACKENDS_CPU_BUNDLE_H

#include "glowish/Backends/Bundle.h"
#include "glowish/Backends/CPU/CPUBackend.h"

namespace glowish {

/// The version of the contract between a header and its object.
constexpr unsigned bundleAbiVersion = 4;

/// Whether \p name can be declared in C: letters, digits and underscores, no
/// digit first, no keyword of C or C++.
bool isCIdentifier(llvm::StringRef name);

/// Why a bundle's header cannot declare \p name, a C identifier, as the rest of
/// a message ("is a name of the library of C or C++"); empty if it can.
std::string explainReservedName(llvm::StringRef name);

/// Why files cannot be called after a network \p name: a folder with string.h
/// would hide the library's header. Empty if they can.
std::string explainReservedNetwork(llvm::StringRef name);

/// Whether the network's and the entry's name can be used.
llvm::Error checkBundleNames(const BundleOptions &options);

/// \p name with letters, digits and underscores only, by Glow's rule: other
/// characters become '_', a digit in front gets an 'A'. May be a keyword.
std::string legalizeName(llvm::StringRef name);

/// Returns the name of the entry of the function \p function in C,
/// "NAME_encode", where those of a bundle begin with \p name.
std::string getEntryName(llvm::StringRef name, llvm::StringRef function);

/// Writes NAME.o, NAME.h, NAME.s if requested, and the weights unless they are
/// embedded: NAME.weights.bin and, if requested or if they are small and the
/// API is static, NAME.weights.txt for #include in an array. Writes all files,
/// or none. Removes the NAME.weights.txt of an earlier bundle where this one
/// has none. For a target without an object's toolchain (isForWeb) writes
/// NAME.wasm, NAME.mjs, NAME.d.ts, package.json, and the weights as bytes.
llvm::Error writeBundle(CPUBackend &backend, const IRFunction &function,
                        const MemoryPlan &plan, const BundleOptions &options);

/// Writes the bundle of several programs, which have their constant region in
/// common; with an entry for each where they are functions.
llvm::Error writeBundle(CPUBackend &backend, const Variants &variants,
                        const BundleOptions &options);

/// Writes a bundle with the entries NAME_infer and NAME_train_step and with
/// functions that save and restore the variables; NAME.state.bin has their
/// first values (embedded as NAME_state with the weights). The programs have
/// their constant region in common. The static API only.
llvm::Error writeTrainingBundle(CPUBackend &backend,
                                const TrainingPrograms &programs,
                                const BundleOptions &options);

} // namespace glowish

#endif // GLOWISH_BACKENDS_CPU_BUNDLE_H
