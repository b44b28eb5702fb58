// Compressed columns as in Matrix::dgCMatrix: starts (cols + 1), row indices, values.
#pragma once

#include <vector>

#include "data/storage.hpp"
#include "types.hpp"

namespace n2gfl {

class SparseStorage final : public Storage {
 public:
  SparseStorage(const int* starts, const int* indices, const double* values, int rows, int cols)
      : Storage(rows, cols), starts_(starts), indices_(indices), values_(values) {}

  Column column(int j, VectorXd& room) const override;

  // Products read only the nonzero values; a dense copy would make them slower.
  bool gains_from_copies() const override { return false; }

  double dot(int j, const VectorXd& v) const override;
  void dots(const ColumnList& columns, int begin, int end, const VectorXd& v,
            double* out) const override;
  void moments(int begin, int end, const VectorXd& v, const VectorXd& used,
               Moments* out) const override;
  void add(int j, double factor, VectorXd& out) const override;
  void add_at(int j, double factor, const std::vector<int>& rows, const std::vector<int>& slot,
              double* out) const override;
  void add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const override;
  double weighted_square(int j, const VectorXd& h) const override;

 private:
  Moments moments_of(int j, const VectorXd& v, const VectorXd& used) const;

  const int* starts_;
  const int* indices_;
  const double* values_;
};

}  // namespace n2gfl
