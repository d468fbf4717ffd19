//===- Boxes.h - Overlap of bounding boxes ----------------------*- C++ -*-===//

#ifndef GLOWISH_OPS_BOXES_H
#define GLOWISH_OPS_BOXES_H

namespace glowish {

/// A box of scalars as formulas compute with them (Ops/Scalar.h).
template <typename S> struct Box {
  S top, left, bottom, right;

  S getArea() const { return (bottom - top) * (right - left); }
};

/// The intersection of \p x and \p y divided by their union; NaN of boxes
/// without an area.
template <typename S> S getOverlap(const Box<S> &x, const Box<S> &y) {
  S height = min(x.bottom, y.bottom) - max(x.top, y.top);
  S width = min(x.right, y.right) - max(x.left, y.left);
  S common = max(height, 0.0) * max(width, 0.0);
  return common / (x.getArea() + y.getArea() - common);
}

} // namespace glowish

#endif // GLOWISH_OPS_BOXES_H
