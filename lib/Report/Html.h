//===- Html.h - Pieces of the page ------------------------------*- C++ -*-===//

#ifndef GLOWISH_LIB_REPORT_HTML_H
#define GLOWISH_LIB_REPORT_HTML_H

#include "glowish/Support/Svg.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace glowish {

/// The head of a column. Numbers are on the right and sorted by value.
struct Column {
  llvm::StringRef title;
  bool isNumber = false;
  /// Shown where the pointer rests; may be empty.
  llvm::StringRef help = "";
};

/// A table, written row by row and closed when this goes. The page's script
/// sorts it by the column whose head is clicked, and searches its rows.
class HtmlTable {
public:
  HtmlTable(llvm::raw_ostream &os, llvm::ArrayRef<Column> columns,
            llvm::StringRef cssClass = "");
  ~HtmlTable();

  /// \p id and \p cssClass may be empty.
  void beginRow(llvm::StringRef id = "", llvm::StringRef cssClass = "");
  /// Begins a row with \p cells: texts, and numbers of the type uint64_t.
  template <typename... Cells> void addRow(const Cells &...cells) {
    beginRow();
    (add(cells), ...);
  }
  void addText(llvm::StringRef text);
  /// \p shown for people; the table is sorted by \p value.
  void addNumber(double value, llvm::StringRef shown);
  void addNumber(uint64_t value);
  /// The same with a bar behind it that covers \p share of the cell.
  void addBar(double value, llvm::StringRef shown, double share);
  void addEmpty();
  /// Markup goes to the stream until the next call.
  llvm::raw_ostream &addMarkup(llvm::StringRef cssClass = "");

private:
  void add(llvm::StringRef text) { addText(text); }
  void add(const llvm::formatv_object_base &text) { addText(text.str()); }
  void add(uint64_t number) { addNumber(number); }
  void endCell();
  llvm::raw_ostream &os;
  bool isInRow = false, isInCell = false;
};

/// `<TAG class="CLASS">TEXT</TAG>`; \p cssClass may be empty.
void printElement(llvm::raw_ostream &os, llvm::StringRef tag,
                  llvm::StringRef cssClass, llvm::StringRef text);

/// `<a href="#ID">TEXT</a>`.
void printLink(llvm::raw_ostream &os, llvm::StringRef id, llvm::StringRef text);

/// The page on its way, and what has an entry in its list of contents.
struct PageWriter {
  llvm::raw_ostream &os;
  struct Entry {
    std::string id, heading;
  };
  std::vector<Entry> contents;
};

/// A collapsible section under \p heading and \p note; the destructor closes
/// it.
class HtmlSection {
public:
  HtmlSection(PageWriter &page, std::string id, std::string heading,
              llvm::StringRef note = "");
  ~HtmlSection();

private:
  llvm::raw_ostream &os;
};

} // namespace glowish

#endif // GLOWISH_LIB_REPORT_HTML_H
