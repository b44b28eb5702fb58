#include "data/sparse_storage.hpp"

#include <vector>

namespace n2gfl {

Storage::Column SparseStorage::column(int j, VectorXd& room) const {
  room.setZero(rows());
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) room[indices_[k]] = values_[k];
  return Column(room.data(), rows());
}

double SparseStorage::dot(int j, const VectorXd& v) const {
  double sum = 0;
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += values_[k] * v[indices_[k]];
  return sum;
}

void SparseStorage::dots(const ColumnList& columns, int begin, int end, const VectorXd& v,
                         double* out) const {
  for (int k = begin; k < end; ++k) out[k - begin] = dot(columns[k], v);
}

void SparseStorage::moments(int begin, int end, const VectorXd& v, const VectorXd& used,
                            Moments* out) const {
  for (int j = begin; j < end; ++j) out[j - begin] = moments_of(j, v, used);
}

void SparseStorage::add(int j, double factor, VectorXd& out) const {
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) out[indices_[k]] += factor * values_[k];
}

void SparseStorage::add_at(int j, double factor, const std::vector<int>&,
                           const std::vector<int>& slot, double* out) const {
  for (int k = starts_[j]; k < starts_[j + 1]; ++k)
    if (slot[indices_[k]] >= 0) out[slot[indices_[k]]] += factor * values_[k];
}

void SparseStorage::add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const {
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) {
    const int i = indices_[k];
    out[i] += factor * h[i] * values_[k];
  }
}

double SparseStorage::weighted_square(int j, const VectorXd& h) const {
  double sum = 0;
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) sum += h[indices_[k]] * values_[k] * values_[k];
  return sum;
}

Storage::Moments SparseStorage::moments_of(int j, const VectorXd& v, const VectorXd& used) const {
  Moments m{0, 0, 0};
  for (int k = starts_[j]; k < starts_[j + 1]; ++k) {
    const double x = values_[k], counted = used.size() > 0 ? used[indices_[k]] * x : x;
    m.dot += x * v[indices_[k]];
    m.sum += counted;
    m.squares += counted * counted;
  }
  return m;
}

}  // namespace n2gfl
