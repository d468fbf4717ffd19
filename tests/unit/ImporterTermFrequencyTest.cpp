//===- ImporterTermFrequencyTest.cpp - Counts of n-grams ------------------===//

#include "RunText.h"
#include "gmock/gmock.h"

using namespace glowish;
using testing::HasSubstr;

namespace {

/// 1-grams 2 and 3 at places 3 and 0, 2-grams (2, 3) and (5, 2) at 1 and 4.
TextModel vectorizer(std::vector<int64_t> shape, std::vector<int64_t> text,
                     int64_t least, int64_t most, int64_t skip,
                     llvm::StringRef mode) {
  TextModel model = oneNode(
      "TfIdfVectorizer", {"t"},
      intAttr("min_gram_length", least) + intAttr("max_gram_length", most) +
          intAttr("max_skip_count", skip) + stringAttr("mode", mode) +
          intsAttr("ngram_counts", {0, 2}) +
          intsAttr("ngram_indexes", {3, 0, 1, 4}) +
          intsAttr("pool_int64s", {2, 3, 2, 3, 5, 2}) +
          "attribute { name: \"weights\" type: FLOATS floats: 1 floats: 2 "
          "floats: 4 floats: 8 } ",
      13, {{"unused", {1}}});
  model.body += "initializer { name: \"t\" data_type: 7 ";
  for (int64_t dim : shape)
    model.body += "dims: " + std::to_string(dim) + " ";
  for (int64_t item : text)
    model.body += "int64_data: " + std::to_string(item) + " ";
  model.body += "} ";
  return model;
}

} // namespace

TEST(ImporterTermFrequency, Counts) {
  std::vector<int64_t> text = {2, 3, 5, 2, 7, 3};
  EXPECT_EQ(runText(vectorizer({6}, text, 1, 1, 0, "TF")),
            "float<5>: 2 0 0 2 0");
  EXPECT_EQ(runText(vectorizer({6}, text, 2, 2, 0, "TF")),
            "float<5>: 0 1 0 0 1");
  // 2 and 3 with 7 between them; items of one are counted once.
  EXPECT_EQ(runText(vectorizer({6}, text, 1, 2, 1, "TF")),
            "float<5>: 2 2 0 2 1");
  // Two before 3 at the end are 5 and so on: no skip is longer than the text.
  EXPECT_EQ(runText(vectorizer({6}, text, 2, 2, 1000, "TF")),
            "float<5>: 0 3 0 0 1");
}

TEST(ImporterTermFrequency, Modes) {
  std::vector<int64_t> text = {2, 3, 5, 2, 7, 3};
  EXPECT_EQ(runText(vectorizer({6}, text, 1, 2, 1, "IDF")),
            "float<5>: 2 4 0 1 8");
  EXPECT_EQ(runText(vectorizer({6}, text, 1, 2, 1, "TFIDF")),
            "float<5>: 4 8 0 2 8");
}

TEST(ImporterTermFrequency, Shapes) {
  EXPECT_EQ(runText(vectorizer({2, 3}, {2, 3, 3, 5, 2, 3}, 1, 2, 0, "TF")),
            "float<2x5>: 2 1 0 1 0 1 1 0 1 1");
  EXPECT_EQ(runText(vectorizer({1, 1}, {3}, 1, 2, 5, "TF")),
            "float<1x5>: 1 0 0 0 0");
  EXPECT_EQ(runText(vectorizer({2, 0}, {}, 1, 2, 0, "TF")),
            "float<2x5>: 0 0 0 0 0 0 0 0 0 0");
}

TEST(ImporterTermFrequency, Errors) {
  EXPECT_THAT(vectorizer({1}, {2}, 1, 3, 0, "TF").importError(),
              HasSubstr("2 lengths in 'ngram_counts'"));
  EXPECT_THAT(vectorizer({1}, {2}, 1, 2, 0, "DF").importError(),
              HasSubstr("attribute 'mode' is 'DF'; accepted: TF, IDF, TFIDF"));
  auto change = [](llvm::StringRef from, llvm::StringRef to) {
    TextModel model = vectorizer({1}, {2}, 1, 2, 0, "TF");
    size_t at = model.body.find(from.str());
    EXPECT_NE(at, std::string::npos);
    model.body.replace(at, from.size(), to.str());
    return model.importError();
  };
  EXPECT_THAT(change("ints: 0 ints: 2 }", "ints: 0 ints: 3 }"),
              HasSubstr("accepted: a multiple of 2 of them"));
  EXPECT_THAT(change("ints: 3 ints: 0 ints: 1", "ints: 3 ints: 3 ints: 1"),
              HasSubstr("has an element twice"));
  EXPECT_THAT(change("ints: 3 ints: 0 ints: 1",
                     "ints: 9223372036854775806 ints: 0 ints: 1"),
              HasSubstr("negative or above 2147483647"));
}
