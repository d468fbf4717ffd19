//===- Header.cpp - The parts of a bundle's C header ----------------------===//

#include "Header.h"
#include "ModuleEmitter.h"
#include "glowish/Backends/RunErrors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace glowish;
using llvm::formatv;

std::string BundleFacts::getEntry(const BundleProgram &program) const {
  return program.function.empty()
             ? options.entryName
             : getEntryName(options.entryName, program.function);
}

bool BundleFacts::hasPlaceholdersInArena() const {
  return llvm::any_of(programs, [](const BundleProgram &program) {
    return !program.plan.arenaPlaceholders.empty();
  });
}

bool BundleFacts::hasStatedExtents() const {
  return llvm::any_of(programs, [](const BundleProgram &program) {
    return llvm::any_of(program.symbols, [](const BundleSymbol &symbol) {
      return symbol.inputExtents.range.has_value();
    });
  });
}

std::vector<std::string>
glowish::describeBoundedLoops(llvm::ArrayRef<Variant> programs) {
  std::vector<std::string> lines;
  for (const Variant &program : programs)
    for (const LoopInstr *loop : getBoundedLoops(*program.function)) {
      int64_t most = loop->getMaxTripCount();
      std::string line = formatv("{0}: {1} iteration{2}", describeOrigin(*loop),
                                 most, most == 1 ? "" : "s");
      if (!llvm::is_contained(lines, line))
        lines.push_back(std::move(line));
    }
  return lines;
}

std::string glowish::escapeComment(llvm::StringRef text) {
  std::string result;
  for (auto [i, c] : llvm::enumerate(text)) {
    // "*/" ends a comment, and compilers warn of "/*".
    bool isMark = c == '*' && (text.substr(i + 1).starts_with("/") ||
                               text.take_front(i).ends_with("/"));
    result += isMark || !llvm::isPrint(c) ? '?' : c;
  }
  return result;
}

std::string glowish::quoteString(llvm::StringRef text) {
  std::string result;
  llvm::raw_string_ostream os(result);
  os << '"';
  for (unsigned char c : text) {
    if (c == '"' || c == '\\' || c == '?') // '?': no trigraphs
      os << '\\' << c;
    else if (llvm::isPrint(c))
      os << c;
    else
      os << formatv("\\{0}{1}{2}", c >> 6, (c >> 3) & 7, c & 7);
  }
  os << '"';
  return result;
}

llvm::StringRef glowish::getDirectionName(const BundleSymbol &symbol) {
  static constexpr llvm::StringLiteral names[] = {"state", "input", "output",
                                                  "input and output"};
  return names[symbol.direction];
}

void glowish::printLinkage(llvm::raw_ostream &os,
                           llvm::function_ref<void()> print) {
  os << "\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n";
  print();
  os << "\n#ifdef __cplusplus\n}\n#endif\n";
}

void glowish::printHeader(llvm::raw_ostream &os, const BundleFacts &facts,
                          llvm::function_ref<void()> print) {
  std::string guard = "GLOWISH_BUNDLE_" +
                      llvm::StringRef(facts.options.networkName).upper() + "_H";
  os << "#ifndef " << guard << "\n#define " << guard
     << "\n\n#include <stdint.h>\n";
  printCommonDefinitions(os);
  print();
  os << "\n#endif /* " << guard << " */\n";
}

void glowish::printRegionSizes(llvm::raw_ostream &os, const BundleFacts &facts,
                               const llvm::Twine &mutableNote,
                               const llvm::Twine &activationNote) {
  os << formatv(" * constant weights {0,12} bytes\n"
                " * mutable weights  {1,12} bytes{2}\n"
                " * activations      {3,12} bytes{4}\n",
                facts.constantSize, facts.mutableSize, mutableNote.str(),
                facts.activationSize, activationNote.str());
}

std::string glowish::getMacroPart(const ArenaRegion &region) {
  return "_" + llvm::StringRef(region.name).upper();
}

/// The region of the activations that \p symbol is in: "activations" where they
/// are one.
static llvm::StringRef getArenaName(const BundleSymbol &symbol,
                                    const BundleProgram &program) {
  llvm::ArrayRef<ArenaRegion> regions = program.plan.arenaRegions;
  return regions.empty() ? llvm::StringRef("activations")
                         : llvm::StringRef(regions[symbol.arenaRegion].name);
}

/// \p region: in which the offset is, where what it is does not say so.
static void printLine(llvm::raw_ostream &os, llvm::StringRef what,
                      llvm::StringRef name, const Type &type, uint64_t offset,
                      llvm::StringRef region = "") {
  os << formatv(" * {0} '{1}': {2}, {3} elements, {4} bytes, offset {5}{6}\n",
                what, escapeComment(name), type.str(), type.getNumElements(),
                type.getSizeInBytes(), offset, region);
}

void glowish::printSymbolLines(llvm::raw_ostream &os, const BundleFacts &facts,
                               const BundleProgram &program) {
  for (const BundleSymbol &symbol : program.symbols)
    printLine(os, getDirectionName(symbol), symbol.modelName, symbol.type,
              symbol.offset,
              symbol.isInArena ? (" in " + getArenaName(symbol, program)).str()
                               : "");
  if (!facts.options.listsConstants)
    return;
  for (const BundleConstant &constant : program.constants)
    printLine(os, "constant", constant.name, constant.type, constant.offset);
}

static void printElementKinds(llvm::raw_ostream &os, bool isLowPrecision) {
  for (ElemKind kind : allElemKinds)
    if (isLowPrecisionKind(kind) == isLowPrecision)
      os << formatv("#define GLOWISH_{0} {1}\n", getElemKindName(kind).upper(),
                    getKindNumber(kind));
}

/// checksum64 (Support/Checksum.h) in C.
static void printChecksum(llvm::raw_ostream &os) {
  os << R"(
static inline uint64_t glowish_xxh64_rotate(uint64_t value, unsigned count) {
  return (value << count) | (value >> (64 - count));
}

static inline uint64_t glowish_xxh64_load(const uint8_t *bytes, unsigned count) {
  uint64_t word = 0;
  unsigned k;
  for (k = 0; k < count; ++k)
    word |= ((uint64_t)bytes[k]) << (8 * k);
  return word;
}

static inline uint64_t glowish_xxh64_round(uint64_t lane, uint64_t word) {
  return glowish_xxh64_rotate(lane + word * UINT64_C(0xC2B2AE3D27D4EB4F), 31) *
         UINT64_C(0x9E3779B185EBCA87);
}

/* XXH64 with seed 0: the checksum of the weights, which the bundle states. */
static inline uint64_t glowish_xxh64(const uint8_t *bytes, uint64_t size) {
  const uint64_t prime1 = UINT64_C(0x9E3779B185EBCA87);
  const uint64_t prime2 = UINT64_C(0xC2B2AE3D27D4EB4F);
  const uint64_t prime3 = UINT64_C(0x165667B19E3779F9);
  const uint64_t prime4 = UINT64_C(0x85EBCA77C2B2AE63);
  const uint64_t prime5 = UINT64_C(0x27D4EB2F165667C5);
  uint64_t lanes[4];
  uint64_t hash = prime5;
  uint64_t i = 0;
  unsigned k;
  if (size >= 32) {
    lanes[0] = prime1 + prime2;
    lanes[1] = prime2;
    lanes[2] = 0;
    lanes[3] = 0 - prime1;
    for (; size - i >= 32; i += 32)
      for (k = 0; k < 4; ++k)
        lanes[k] = glowish_xxh64_round(lanes[k],
                                       glowish_xxh64_load(bytes + i + 8 * k, 8));
    hash = glowish_xxh64_rotate(lanes[0], 1) + glowish_xxh64_rotate(lanes[1], 7) +
           glowish_xxh64_rotate(lanes[2], 12) + glowish_xxh64_rotate(lanes[3], 18);
    for (k = 0; k < 4; ++k)
      hash = (hash ^ glowish_xxh64_round(0, lanes[k])) * prime1 + prime4;
  }
  hash += size;
  for (; size - i >= 8; i += 8) {
    hash ^= glowish_xxh64_round(0, glowish_xxh64_load(bytes + i, 8));
    hash = glowish_xxh64_rotate(hash, 27) * prime1 + prime4;
  }
  if (size - i >= 4) {
    hash ^= glowish_xxh64_load(bytes + i, 4) * prime1;
    hash = glowish_xxh64_rotate(hash, 23) * prime2 + prime3;
    i += 4;
  }
  for (; i < size; ++i)
    hash = glowish_xxh64_rotate(hash ^ bytes[i] * prime5, 11) * prime1;
  hash = (hash ^ (hash >> 33)) * prime2;
  hash = (hash ^ (hash >> 29)) * prime3;
  return hash ^ (hash >> 32);
}
)";
}

void glowish::printCommonDefinitions(llvm::raw_ostream &os) {
  os << R"(
#ifndef GLOWISH_BUNDLE_COMMON_DEFS
#define GLOWISH_BUNDLE_COMMON_DEFS

/* What the entry and the check functions return. */
#define GLOWISH_SUCCESS 0
#define GLOWISH_ERROR_NULL 1      /* a region is needed and its pointer is null */
#define GLOWISH_ERROR_ALIGNMENT 2 /* a region is not aligned to MEM_ALIGN */
#define GLOWISH_ERROR_SIZE 3      /* the weights have another size */
#define GLOWISH_ERROR_CHECKSUM 4  /* the weights are not those of this bundle */
#define GLOWISH_ERROR_PROCESSOR 5 /* not for this processor or system */

/* Directions of symbols, or'ed. */
#define GLOWISH_STATE 0
#define GLOWISH_INPUT 1
#define GLOWISH_OUTPUT 2

/* Regions of symbols: mutableWeight, activations. */
#define GLOWISH_REGION_MUTABLE 0
#define GLOWISH_REGION_ACTIVATIONS 1
)";
  os << "\n/* Element types. */\n";
  printElementKinds(os, false);
  os << "/* Of one byte each, whether float8, float4 or int4. */\n";
  printElementKinds(os, true);
  os << R"(
#if defined(_MSC_VER)
#define GLOWISH_MEM_ALIGN(size) __declspec(align(size))
#else
#define GLOWISH_MEM_ALIGN(size) __attribute__((aligned(size)))
#endif

/* The address of a symbol in the mutable region, or in another one. */
#define GLOWISH_GET_ADDR(mutableWeight, offset) (((uint8_t *)(mutableWeight)) + (offset))

/* The names that Glow's bundles have for these. */
#ifndef _GLOW_BUNDLE_COMMON_DEFS
#define _GLOW_BUNDLE_COMMON_DEFS
#define GLOW_SUCCESS GLOWISH_SUCCESS
#define GLOW_MEM_ALIGN(size) GLOWISH_MEM_ALIGN(size)
#define GLOW_GET_ADDR(mutableWeight, offset) GLOWISH_GET_ADDR(mutableWeight, offset)
#endif
)";
  printChecksum(os);
  os << "\n#endif /* GLOWISH_BUNDLE_COMMON_DEFS */\n";
}

static void printStatus(llvm::raw_ostream &os, llvm::StringRef name,
                        EntryStatus status, llvm::StringRef meaning) {
  os << formatv("\n#ifndef GLOWISH_ERROR_{0}\n"
                "#define GLOWISH_ERROR_{0} {1} /* {2} */\n"
                "#endif\n",
                name, unsigned(status), meaning);
}

void glowish::printDimensionStatus(llvm::raw_ostream &os) {
  printStatus(os, "DIMENSION", EntryStatus::Dimension,
              "no code for these extents");
}

void glowish::printTripCountStatus(llvm::raw_ostream &os) {
  printStatus(os, "TRIP_COUNT", EntryStatus::TripCount,
              "a loop has more iterations than its bound");
}

void glowish::printFunctionStatus(llvm::raw_ostream &os) {
  printStatus(os, "FUNCTION", EntryStatus::Function,
              "a function that the network calls failed");
}

/// SymbolTableEntry is Glow's, and so are the first fields of BundleConfig:
/// programs that declare them themselves work, too.
void glowish::printDynamicTypes(llvm::raw_ostream &os) {
  os << R"(
#ifndef GLOWISH_BUNDLE_DYNAMIC_DEFS
#define GLOWISH_BUNDLE_DYNAMIC_DEFS

/* What Glow's bundles say of a placeholder. */
typedef struct SymbolTableEntry {
  const char *name; /* as a C identifier: the static API's, N_NAME */
  uint64_t offset;  /* bytes from the start of its region */
  uint64_t size;    /* elements */
  char kind;        /* 1: in the mutable region, 2: in the activations */
} SymbolTableEntry;

/* All that is known of it. */
typedef struct GlowishSymbol {
  const char *name;        /* as the model has it */
  uint64_t offset;         /* bytes from the start of its region */
  uint64_t size;           /* elements */
  uint64_t bytes;          /* bytes */
  uint8_t direction;       /* GLOWISH_INPUT | GLOWISH_OUTPUT */
  uint8_t elementType;     /* GLOWISH_FLOAT, ... */
  uint8_t rank;            /* number of dims */
  uint8_t region;          /* GLOWISH_REGION_MUTABLE, ..._ACTIVATIONS */
  int32_t quantAxis;       /* the dimension of the parameters, or -1 */
  const uint64_t *dims;    /* rank extents, outermost first */
  uint64_t numQuantParams; /* 0: not quantized */
  const float *scales;     /* real = (q - offset) * scale */
  const int32_t *quantOffsets;
  int64_t extents;         /* number of the symbol that has the actual extents,
                              of which dims are the largest, or -1 */
} GlowishSymbol;

typedef struct BundleConfig {
  uint64_t constantWeightVarsMemSize; /* bytes */
  uint64_t mutableWeightVarsMemSize;  /* bytes */
  uint64_t activationsMemSize;        /* bytes */
  uint64_t alignment;                 /* of the three regions */
  uint64_t numSymbols;
  const SymbolTableEntry *symbolTable; /* in the model's order */
  const GlowishSymbol *symbols;        /* the same ones */
  uint64_t abiVersion;                 /* N_ABI_VERSION of its header */
  uint64_t modelHash;                  /* of the model's files */
  uint64_t weightsChecksum;            /* XXH64 of the weights */
} BundleConfig;

#endif /* GLOWISH_BUNDLE_DYNAMIC_DEFS */
)";
}

/// What the macro of \p symbol's region is defined as.
static std::string getRegionMacro(llvm::StringRef prefix,
                                  const BundleSymbol &symbol,
                                  const BundleProgram &program) {
  if (!symbol.isInArena)
    return "GLOWISH_REGION_MUTABLE";
  llvm::ArrayRef<ArenaRegion> regions = program.plan.arenaRegions;
  return regions.empty() ? "GLOWISH_REGION_ACTIVATIONS"
                         : prefix.str() + "_REGION" +
                               getMacroPart(regions[symbol.arenaRegion]);
}

std::string glowish::getClassList(const BundleSymbol &symbol) {
  std::string list = "{ ";
  llvm::raw_string_ostream os(list);
  llvm::interleaveComma(symbol.classNames, os, [&](const std::string &name) {
    os << quoteString(name);
  });
  return list + " }";
}

std::vector<SymbolMacro>
glowish::getSymbolMacros(llvm::StringRef prefix, const BundleSymbol &symbol,
                         const BundleProgram &program) {
  const Type &type = symbol.type;
  std::string dims;
  llvm::raw_string_ostream os(dims);
  llvm::interleaveComma(type.getShape(), os);
  std::vector<SymbolMacro> macros = {
      {"", formatv("{0}u", symbol.offset)},
      {"_REGION", getRegionMacro(prefix, symbol, program)},
      {"_NAME", quoteString(symbol.modelName)},
      {"_DIRECTION", std::to_string(symbol.direction)},
      {"_TYPE", "GLOWISH_" + getElemKindName(type.getKind()).upper()},
      {"_RANK", std::to_string(type.getRank())},
      {"_DIMS", type.getRank() == 0 ? "{ 0 }" : "{ " + dims + " }"},
      {"_SIZE", formatv("{0}u", type.getNumElements())},
      {"_BYTES", formatv("{0}u", type.getSizeInBytes())}};
  if (symbol.extents)
    macros.push_back(
        {"_EXTENTS",
         (prefix + "_" + program.symbols[*symbol.extents].identifier).str()});
  if (const auto &range = symbol.inputExtents.range) {
    macros.push_back({"_LEAST", std::to_string(range->bounds.low)});
    macros.push_back({"_MOST", std::to_string(range->bounds.high)});
  }
  if (type.isQuantized() && type.getQuantParams().axis < 0) {
    macros.push_back(
        {"_SCALE", formatv("{0:E8}f", type.getQuantParams().scales[0])});
    macros.push_back(
        {"_OFFSET", std::to_string(type.getQuantParams().offsets[0])});
  }
  if (!symbol.classNames.empty())
    macros.push_back({"_CLASSES", getClassList(symbol)});
  return macros;
}

/// Prints `[1, S]`: the actual \p extents of \p symbol, inside a comment.
static std::string describeExtents(const BundleSymbol &symbol,
                                   const ExtentList &extents) {
  std::vector<std::string> texts;
  for (auto [extent, bound] : llvm::zip_equal(extents, symbol.type.getShape()))
    texts.push_back(extent ? escapeComment(extent->describe())
                           : std::to_string(bound));
  return "[" + llvm::join(texts, ", ") + "]";
}

void glowish::printSymbolMacros(llvm::raw_ostream &os, llvm::StringRef prefix,
                                const BundleSymbol &symbol,
                                const BundleProgram &program) {
  os << formatv("\n/* {0} '{1}': {2} */\n", getDirectionName(symbol),
                escapeComment(symbol.modelName), symbol.type.str());
  if (const auto &range = symbol.inputExtents.range)
    os << formatv(
        "/* Each call reads the extent '{0}' here, which is from LEAST "
        "to MOST. */\n",
        escapeComment(range->symbol));
  if (!symbol.inputExtents.dims.empty())
    os << formatv("/* DIMS are the largest extents. The actual ones are {0}.\n"
                  " * Elements lie by DIMS; those outside don't matter. */\n",
                  describeExtents(symbol, symbol.inputExtents.dims));
  if (!symbol.inputExtents.next.empty())
    os << formatv("/* {0} call leaves {1}. */\n",
                  symbol.inputExtents.dims.empty() ? "A" : "A state: a",
                  describeExtents(symbol, symbol.inputExtents.next));
  for (const SymbolMacro &macro : getSymbolMacros(prefix, symbol, program)) {
    if (macro.suffix == "_EXTENTS")
      os << "/* DIMS are the largest extents. A call stores the actual ones, "
            "int64_t[RANK],\n * at the offset EXTENTS. Elements lie by DIMS; "
            "those outside don't matter. */\n";
    os << "#define " << prefix << '_' << symbol.identifier << macro.suffix
       << ' ' << macro.value << '\n';
  }
}

std::string glowish::getMacroPrefix(const BundleFacts &facts,
                                    const BundleProgram &program) {
  std::string prefix = llvm::StringRef(facts.options.networkName).upper();
  return program.identifier.empty() ? prefix
                                    : prefix + "_" + program.identifier;
}

std::string glowish::getConfigName(const BundleFacts &facts,
                                   const BundleProgram &program) {
  const std::string &network = facts.options.networkName;
  return (program.function.empty() ? network
                                   : getEntryName(network, program.function)) +
         "_config";
}

/// The sizes of the regions of the activations, and their numbers.
static void printRegionMacros(llvm::raw_ostream &os, llvm::StringRef prefix,
                              llvm::ArrayRef<ArenaRegion> regions) {
  if (regions.empty())
    return;
  os << "\n/* The regions of the activations: sizes, and the numbers of their "
        "pointers after\n * constantWeight. */\n";
  for (auto [i, region] : llvm::enumerate(regions)) {
    std::string part = getMacroPart(region);
    os << formatv("#define {0}{1}_MEM_SIZE {2}u\n", prefix, part, region.size)
       << formatv("#define {0}_REGION{1} {2}\n", prefix, part, 1 + i);
  }
}

void glowish::printSizeMacros(llvm::raw_ostream &os, const BundleFacts &facts) {
  std::string prefix = llvm::StringRef(facts.options.networkName).upper();
  bool isDivided = !facts.getArenaRegions().empty();
  os << "\n/* Sizes in bytes and the alignment of the "
     << (isDivided ? "regions; the activations have\n * several. */\n"
                   : "three regions. */\n")
     << formatv("#define {0}_CONSTANT_MEM_SIZE {1}u\n", prefix,
                facts.constantSize)
     << formatv("#define {0}_MUTABLE_MEM_SIZE {1}u\n", prefix,
                facts.mutableSize)
     << formatv("#define {0}_ACTIVATIONS_MEM_SIZE {1}u\n", prefix,
                facts.activationSize)
     << formatv("#define {0}_MEM_ALIGN {1}\n", prefix, facts.alignment);
  printRegionMacros(os, prefix, facts.getArenaRegions());
}

void glowish::printProgramMacros(llvm::raw_ostream &os,
                                 const BundleFacts &facts,
                                 const BundleProgram &program) {
  std::string prefix = getMacroPrefix(facts, program);
  if (!program.function.empty())
    os << formatv("\n/* The function '{0}': the bytes of activations that it "
                  "needs. */\n#define {1}_ACTIVATIONS_MEM_SIZE {2}u\n",
                  escapeComment(program.function), prefix,
                  program.activationSize);
  os << "\n/* The placeholders: offsets in their regions, in bytes, and what "
        "the\n"
     << " * model says of them. */\n"
     << formatv("#define {0}_NUM_SYMBOLS {1}\n", prefix,
                program.symbols.size());
  for (const BundleSymbol &symbol : program.symbols)
    printSymbolMacros(os, prefix, symbol, program);
}

void glowish::printIdentity(llvm::raw_ostream &os, const BundleFacts &facts) {
  std::string prefix = llvm::StringRef(facts.options.networkName).upper();
  os << "\n/* What this header belongs to. */\n"
     << formatv("#define {0}_ABI_VERSION {1}\n", prefix, bundleAbiVersion)
     << formatv("#define {0}_MODEL_HASH UINT64_C(0x{1})\n", prefix,
                llvm::utohexstr(facts.options.modelHash, false, 16))
     << formatv("#define {0}_WEIGHTS_CHECKSUM UINT64_C(0x{1})\n", prefix,
                llvm::utohexstr(facts.weightsChecksum, false, 16));
}

std::string glowish::joinDims(const BundleFacts &facts,
                              llvm::StringRef prefix) {
  return llvm::join(llvm::map_range(facts.dims,
                                    [&](const BundleDim &dim) {
                                      return prefix.str() + dim.identifier;
                                    }),
                    ", ");
}

std::string glowish::getDimArguments(const BundleFacts &facts) {
  return joinDims(facts, "int64_t dim_");
}

/// The pointers to the activations.
static std::string joinArenaNames(const BundleFacts &facts,
                                  llvm::StringRef separator) {
  llvm::ArrayRef<ArenaRegion> regions = facts.getArenaRegions();
  if (regions.empty())
    return "activations";
  return llvm::join(
      llvm::map_range(regions,
                      [](const ArenaRegion &region) { return region.name; }),
      separator);
}

/// The arguments of the entry, the second line indented by \p indent.
static std::string getArguments(const BundleFacts &facts, size_t indent) {
  return getDimArguments(facts) + (facts.dims.empty() ? "" : ", ") +
         "const uint8_t *constantWeight, uint8_t *mutableWeight,\n" +
         std::string(indent, ' ') + "uint8_t *" +
         joinArenaNames(facts, ", uint8_t *");
}

void glowish::printEntry(llvm::raw_ostream &os, const BundleFacts &facts,
                         llvm::StringRef name, llvm::StringRef what) {
  os << "\n/* " << what
     << (facts.getArenaRegions().empty() ? " The three regions"
                                         : " The regions")
     << R"( have the sizes and the alignment
 * stated here; constantWeight holds the weights, )";
  os << (facts.hasPlaceholdersInArena() ? R"(activations the inputs and,
 * after the call, the outputs. The call destroys the inputs: they are to be
 * written before each, and the outputs are there until the next one, or until
 * an input is written. mutableWeight holds what is input and output at once.)"
                                        : R"(mutableWeight the inputs and,
 * after the call, the outputs.)");
  if (!facts.getArenaRegions().empty())
    os << "\n * The activations are " << joinArenaNames(facts, " and ")
       << "; one of size 0 may be null.\n *";
  os << R"( Needs no heap and keeps no state: calls with
 * different mutableWeight and activations may run at the same time. Returns
 * GLOWISH_SUCCESS, GLOWISH_ERROR_NULL, GLOWISH_ERROR_ALIGNMENT or
 * GLOWISH_ERROR_PROCESSOR)";
  if (!facts.dims.empty())
    os << R"(, and GLOWISH_ERROR_DIMENSION for values of the
 * symbolic dimensions that the bundle has no code for)";
  else if (facts.hasStatedExtents())
    os << R"(, and GLOWISH_ERROR_DIMENSION for an extent
 * that is out of its bounds, in which case nothing is written)";
  if (!facts.boundedLoops.empty())
    os << R"(. GLOWISH_ERROR_TRIP_COUNT means that a loop would
 * have gone on after the largest number of iterations that it was compiled
 * for: the outputs are there, computed as if it had ended)";
  if (!facts.functions.empty())
    os << R"(. GLOWISH_ERROR_FUNCTION means that a function that
 * the network calls failed, and that the outputs are not to be used)";
  os << ".";
  if (!facts.boundedLoops.empty())
    os << "\n * Loops that have such a bound:";
  for (const std::string &loop : facts.boundedLoops)
    os << "\n *   " << escapeComment(loop);
  os << " */\n"
     << formatv("int {0}({1});\n", name, getArguments(facts, name.size() + 5));
  if (facts.hasLevels)
    os << formatv(R"(
/* The code for the processor that this runs on, to be called like {0},
 * which asks the processor at each call. Keeps no state. */
int (*{0}_select(void))({1});
)",
                  name, getArguments(facts, 4));
}

void glowish::printWeightsCheck(llvm::raw_ostream &os,
                                const BundleFacts &facts) {
  os << R"(
/* Whether size bytes at weights are the weights of this bundle:
 * GLOWISH_SUCCESS, GLOWISH_ERROR_NULL, GLOWISH_ERROR_SIZE or
 * GLOWISH_ERROR_CHECKSUM. */
)"
     << formatv(
            R"(static inline int {0}_check_weights(const uint8_t *weights, uint64_t size) {{
  if (size != {1}u)
    return GLOWISH_ERROR_SIZE;
  if (size != 0 && !weights)
    return GLOWISH_ERROR_NULL;
  if (glowish_xxh64(weights, size) != UINT64_C(0x{2}))
    return GLOWISH_ERROR_CHECKSUM;
  return GLOWISH_SUCCESS;
}
)",
            facts.options.networkName, facts.constantSize,
            llvm::utohexstr(facts.weightsChecksum, false, 16));
}
