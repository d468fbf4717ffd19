//===- NaNOrderTest.cpp - The order of NaN --------------------------------===//
//
// Rows of 1 to 40 elements with no, one, two or nothing but NaN, at each place:
// what maxima and their indices are does not depend on where a NaN is, nor on
// the back end.
//
//===----------------------------------------------------------------------===//

#include "Differential.h"
#include <cmath>

using namespace glowish;

namespace {

constexpr int64_t mostElements = 40;
constexpr int64_t borders[] = {1, 2, 3, 8, 16, 17, 33, 40};

/// A row for each pair of places of NaN, one of which may be the other, one
/// without NaN, and one with nothing else.
Tensor makeRows(ElemKind kind, int64_t length) {
  std::vector<double> elements;
  auto addRow = [&](auto isNaN) {
    for (int64_t i = 0; i < length; ++i)
      elements.push_back(isNaN(i) ? NAN : double(i * 7 % 11) - 5);
  };
  for (int64_t first = 0; first < length; ++first)
    for (int64_t second : {first, length / 2, length - 1})
      addRow([&](int64_t i) { return i == first || i == second; });
  addRow([](int64_t) { return false; });
  addRow([](int64_t) { return true; });
  Tensor rows(Type(kind, {int64_t(elements.size()) / length, length}));
  for (auto [i, element] : llvm::enumerate(elements))
    rows.setFromDouble(int64_t(i), element);
  return rows;
}

/// Negations of both, in which NaN is as large as ever.
double getKey(double element, bool isMin) {
  return std::isnan(element) ? HUGE_VAL : isMin ? -element : element;
}

int64_t findExtreme(llvm::ArrayRef<double> row, bool isMin, bool selectLast) {
  size_t best = 0;
  for (size_t i = 1; i < row.size(); ++i) {
    double key = getKey(row[i], isMin), leader = getKey(row[best], isMin);
    if (key > leader || (selectLast && key == leader))
      best = i;
  }
  return int64_t(best);
}

std::vector<double> getRow(const Tensor &rows, int64_t number) {
  int64_t length = rows.getType().getDim(1);
  std::vector<double> row;
  for (int64_t i = 0; i < length; ++i)
    row.push_back(rows.getAsDouble(number * length + i));
  return row;
}

/// A program of one input "x", on one back end.
class Program {
public:
  Program(Backend &backend, const Type &type,
          llvm::function_ref<NodeValue(Function &, NodeValue)> build)
      : program(llvm::cantFail(compileFor(backend, [&](Function &f, Module &m) {
          return build(f, input(m, type.getKind(), type.getShape()));
        }))) {}

  Tensor run(const Tensor &x) {
    auto session = llvm::cantFail(Session::create(program));
    llvm::cantFail(session->setInput(
        llvm::cantFail(session->findPlaceholder("x")), x.clone()));
    llvm::cantFail(session->run());
    return session->getTensor(llvm::cantFail(session->findPlaceholder("y")))
        .clone();
  }

private:
  PlannedProgram program;
};

/// The interpreter, and compiled code for this machine and the lowest level.
std::vector<std::unique_ptr<Backend>> makeBackends() {
  std::vector<std::unique_ptr<Backend>> backends;
  backends.push_back(createInterpreter());
  std::vector<TargetOptions> levels = getLevels();
  backends.push_back(llvm::cantFail(CPUBackend::create(levels.front())));
  if (levels.size() > 1)
    backends.push_back(llvm::cantFail(CPUBackend::create(levels[1])));
  return backends;
}

/// Calls \p check(rows, result) with the result of \p build for rows of each
/// length, on each back end.
void forAllLengths(
    ElemKind kind, llvm::function_ref<NodeValue(Function &, NodeValue)> build,
    llvm::function_ref<void(const Tensor &, const Tensor &)> check,
    llvm::function_ref<Tensor(Tensor)> arrange = [](Tensor rows) {
      return rows;
    }) {
  for (const auto &backend : makeBackends())
    for (int64_t length = 1; length <= mostElements; ++length) {
      // Of other kinds, what vectors have to do with.
      if (kind != ElemKind::Float && !llvm::is_contained(borders, length))
        continue;
      Tensor rows = makeRows(kind, length), x = arrange(rows.clone());
      check(rows, Program(*backend, x.getType(), build).run(x));
      if (testing::Test::HasFatalFailure())
        return;
    }
}

Tensor transpose(const Tensor &rows) {
  int64_t count = rows.getType().getDim(0), length = rows.getType().getDim(1);
  Tensor columns(Type(rows.getType().getKind(), {length, count}));
  for (int64_t i = 0; i < count; ++i)
    for (int64_t k = 0; k < length; ++k)
      columns.setFromDouble(k * count + i, rows.getAsDouble(i * length + k));
  return columns;
}

void expectExtremes(const Tensor &rows, const Tensor &result, bool isMin) {
  for (int64_t i = 0; i < rows.getType().getDim(0); ++i) {
    std::vector<double> row = getRow(rows, i);
    double expected = row[size_t(findExtreme(row, isMin, false))];
    double actual = result.getAsDouble(i);
    ASSERT_TRUE(std::isnan(expected) ? std::isnan(actual) : actual == expected)
        << "row " << i << " of " << row.size() << ": " << actual << ", not "
        << expected;
  }
}

const ElemKind kinds[] = {ElemKind::Float, ElemKind::Double, ElemKind::Float16,
                          ElemKind::BFloat16};

} // namespace

TEST(NaNOrder, ReductionsAlongRows) {
  for (ElemKind kind : kinds)
    for (bool isMin : {false, true})
      forAllLengths(
          kind,
          [&](Function &f, NodeValue x) {
            return f
                .create<ReduceNode>("r", x, isMin ? "min" : "max",
                                    std::vector<int64_t>{1}, false)
                ->getResult();
          },
          [&](const Tensor &rows, const Tensor &result) {
            expectExtremes(rows, result, isMin);
          });
}

TEST(NaNOrder, ReductionsAcrossRows) {
  for (bool isMin : {false, true})
    forAllLengths(
        ElemKind::Float,
        [&](Function &f, NodeValue x) {
          return f
              .create<ReduceNode>("r", x, isMin ? "min" : "max",
                                  std::vector<int64_t>{0}, false)
              ->getResult();
        },
        [&](const Tensor &rows, const Tensor &result) {
          expectExtremes(rows, result, isMin);
        },
        transpose);
}

TEST(NaNOrder, ArgMax) {
  for (ElemKind kind : kinds)
    for (bool selectLast : {false, true})
      for (bool isMin : {false, true})
        forAllLengths(
            kind,
            [&](Function &f, NodeValue x) {
              if (isMin)
                x = f.create<NegNode>("n", x)->getResult();
              return f.create<ArgMaxNode>("a", x, 1, false, selectLast)
                  ->getResult();
            },
            [&](const Tensor &rows, const Tensor &result) {
              for (int64_t i = 0; i < rows.getType().getDim(0); ++i)
                ASSERT_EQ(result.getAsInt(i),
                          findExtreme(getRow(rows, i), isMin, selectLast))
                    << "row " << i << " of " << rows.getType().getDim(1);
            });
}

/// A window that is the row.
TEST(NaNOrder, MaxPool) {
  forAllLengths(
      ElemKind::Float,
      [&](Function &f, NodeValue x) {
        DimsRef shape = x.getShape();
        int64_t length = shape[1];
        x = f.create<ReshapeNode>("i", x, Dims{shape[0], 1, length, 1})
                ->getResult();
        std::vector<int64_t> ones = {1, 1};
        return f
            .create<MaxPoolNode>("p", x, std::vector<int64_t>{1, length}, ones,
                                 std::vector<int64_t>(4, 0), ones)
            ->getResult();
      },
      [&](const Tensor &rows, const Tensor &result) {
        expectExtremes(rows, result, /*isMin=*/false);
      });
}

/// The largest element of TopK, and the smallest.
TEST(NaNOrder, TopK) {
  for (bool largest : {true, false})
    forAllLengths(
        ElemKind::Float,
        [&](Function &f, NodeValue x) {
          return f.create<TopKNode>("t", x, 1, largest)->getResult();
        },
        [&](const Tensor &rows, const Tensor &result) {
          for (int64_t i = 0; i < rows.getType().getDim(0); ++i) {
            std::vector<double> row = getRow(rows, i);
            auto isBelow = [](double a, double b) {
              return getKey(a, false) < getKey(b, false);
            };
            int64_t expected =
                largest ? findExtreme(row, false, false)
                        : std::min_element(row.begin(), row.end(), isBelow) -
                              row.begin();
            ASSERT_EQ(result.getAsInt(i), expected)
                << "row " << i << " of " << row.size();
          }
        });
}

/// Element by element: NaN in either operand, and of each of one.
TEST(NaNOrder, Elements) {
  auto build = [](Function &f, NodeValue x) {
    auto add = [&](NodeValue sum, NodeValue y) {
      return f.create<AddNode>("sum", sum, y)->getResult();
    };
    Tensor number(Type(x.getElemKind(), {1}));
    number.setFromDouble(0, 0.5);
    NodeValue half(f.getModule().createConstant("c", std::move(number)));
    NodeValue sum = f.create<ReluNode>("relu", x)->getResult();
    sum = add(sum, f.create<SignNode>("sign", x)->getResult());
    sum = add(sum, f.create<ClipNode>("clip", x, -1.0, 1.0)->getResult());
    sum = add(sum, f.create<MaxNode>("max", x, half)->getResult());
    sum = add(sum, f.create<MaxNode>("max", half, x)->getResult());
    sum = add(sum, f.create<MinNode>("min", x, half)->getResult());
    return add(sum, f.create<MinNode>("min", half, x)->getResult());
  };
  auto expected = [](double x) {
    double larger = std::max(x, 0.5), smaller = std::min(x, 0.5);
    return std::max(x, 0.0) + (x > 0) - (x < 0) + std::clamp(x, -1.0, 1.0) +
           2 * larger + 2 * smaller;
  };
  forAllLengths(
      ElemKind::Float, build, [&](const Tensor &rows, const Tensor &result) {
        for (int64_t i = 0; i < rows.getNumElements(); ++i) {
          double x = rows.getAsDouble(i), y = result.getAsDouble(i);
          ASSERT_TRUE(std::isnan(x) ? std::isnan(y) : y == expected(x))
              << x << ": " << y;
        }
      });
}
