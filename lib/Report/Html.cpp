//===- Html.cpp - Pieces of the page --------------------------------------===//

#include "Html.h"
#include "llvm/Support/Format.h"
#include <algorithm>

using namespace glowish;

HtmlTable::HtmlTable(llvm::raw_ostream &os, llvm::ArrayRef<Column> columns,
                     llvm::StringRef cssClass)
    : os(os) {
  os << "<div class=\"wide\"><table class=\"" << cssClass << "\"><thead><tr>";
  for (const Column &column : columns) {
    os << "<th" << (column.isNumber ? " class=\"n\"" : "");
    if (!column.help.empty()) {
      os << " title=\"";
      printEscaped(os, column.help);
      os << '"';
    }
    os << '>';
    printEscaped(os, column.title);
    os << "</th>";
  }
  os << "</tr></thead><tbody>";
}

HtmlTable::~HtmlTable() {
  endCell();
  os << (isInRow ? "</tr>\n" : "\n") << "</tbody></table></div>\n";
}

void HtmlTable::endCell() {
  if (isInCell)
    os << "</td>";
  isInCell = false;
}

void HtmlTable::beginRow(llvm::StringRef id, llvm::StringRef cssClass) {
  endCell();
  os << (isInRow ? "</tr>\n" : "\n") << "<tr class=\"item";
  if (!cssClass.empty())
    os << ' ' << cssClass;
  os << '"';
  if (!id.empty())
    os << " id=\"" << id << '"';
  os << '>';
  isInRow = true;
}

llvm::raw_ostream &HtmlTable::addMarkup(llvm::StringRef cssClass) {
  endCell();
  os << "<td";
  if (!cssClass.empty())
    os << " class=\"" << cssClass << '"';
  os << '>';
  isInCell = true;
  return os;
}

void HtmlTable::addText(llvm::StringRef text) {
  printEscaped(addMarkup(), text);
}

void HtmlTable::addNumber(double value, llvm::StringRef shown) {
  endCell();
  os << "<td class=\"n\" data-v=\"" << llvm::format("%.9g", value) << "\">"
     << shown << "</td>";
}

void HtmlTable::addNumber(uint64_t value) { addMarkup("n") << value; }

void HtmlTable::addBar(double value, llvm::StringRef shown, double share) {
  endCell();
  os << "<td class=\"n bar\" data-v=\"" << llvm::format("%.9g", value)
     << "\" style=\"--share:"
     << llvm::format("%.1f", 100 * std::clamp(share, 0.0, 1.0)) << "%\">"
     << shown << "</td>";
}

void HtmlTable::addEmpty() { addMarkup("n"); }

void glowish::printElement(llvm::raw_ostream &os, llvm::StringRef tag,
                           llvm::StringRef cssClass, llvm::StringRef text) {
  os << '<' << tag;
  if (!cssClass.empty())
    os << " class=\"" << cssClass << '"';
  os << '>';
  printEscaped(os, text);
  os << "</" << tag << '>';
}

void glowish::printLink(llvm::raw_ostream &os, llvm::StringRef id,
                        llvm::StringRef text) {
  os << "<a href=\"#" << id << "\">";
  printEscaped(os, text);
  os << "</a>";
}

HtmlSection::HtmlSection(PageWriter &page, std::string id, std::string heading,
                         llvm::StringRef note)
    : os(page.os) {
  os << "<details class=\"section\" id=\"" << id << "\" open><summary><h2>";
  printEscaped(os, heading);
  os << "</h2></summary>\n";
  page.contents.push_back({std::move(id), std::move(heading)});
  if (note.empty())
    return;
  printElement(os, "p", "note", note);
  os << '\n';
}

HtmlSection::~HtmlSection() { os << "</details>\n"; }
