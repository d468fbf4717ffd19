//===- Sections.h - The parts of the page -----------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_REPORT_SECTIONS_H
#define GLOWISH_LIB_REPORT_SECTIONS_H

#include "Html.h"
#include "ProgramRecord.h"
#include "Timeline.h"
#include "glowish/Backends/CodeSizes.h"

namespace glowish {

/// \name Of the compilation
/// @{
void printModelSection(PageWriter &page, const ProgramRecord &record);
void printGraphSection(PageWriter &page, const ProgramRecord &record);
void printPassSection(PageWriter &page, const ProgramRecord &record,
                      bool hasTimes);
/// Nothing where no weights alone were quantized.
void printQuantizedWeightSection(PageWriter &page, const ProgramRecord &record);
void printUnfusedLoopSection(PageWriter &page, const ProgramRecord &record);
/// @}

/// \name Of a program that has a memory plan
/// @{
void printScheduleSection(PageWriter &page, const ProgramRecord &record,
                          const Timeline &timeline);
void printMemorySection(PageWriter &page, const ProgramRecord &record);
/// \p sizes may be null.
void printCostSection(PageWriter &page, const ProgramRecord &record,
                      const Timeline &timeline, const CodeSizes *sizes);
void printConstantSection(PageWriter &page, const ProgramRecord &record,
                          const Timeline &timeline);
/// @}

/// The functions of the object that all programs share.
void printCodeSection(PageWriter &page,
                      llvm::ArrayRef<const ProgramRecord *> records,
                      const CodeSizes &sizes);

/// The id of an element of \p record: "p0-NAME".
std::string getElementId(const ProgramRecord &record, llvm::StringRef name);
/// The id of the schedule's line of step \p number.
std::string getStepId(const ProgramRecord &record, unsigned number);
/// The heading of a section, with the program's title, if it has one.
std::string getHeading(const ProgramRecord &record, llvm::StringRef what);

/// The bytes of the functions that compute \p instr; null where they are not
/// known.
std::optional<uint64_t> getCodeBytes(const CodeSizes *sizes,
                                     const Instruction &instr);

} // namespace glowish

#endif // GLOWISH_LIB_REPORT_SECTIONS_H
