#include "data/dense_storage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace n2gfl {

template <class T, class Meaning>
Storage::Column DenseStorage<T, Meaning>::column(int j, VectorXd& room) const {
  if constexpr (std::is_same_v<Meaning, AsStored<double>>) {
    (void)room;
    return Column(start(j), rows());
  } else {
    constexpr int kBlock = 8;  // compilers vectorise an inner loop of fixed length
    const T* from = start(j);
    room.resize(rows());
    double* to = room.data();
    int i = 0;
    for (; i + kBlock <= rows(); i += kBlock)
      for (int k = 0; k < kBlock; ++k) to[i + k] = meaning_(from[i + k]);
    for (; i < rows(); ++i) to[i] = meaning_(from[i]);
    return Column(to, rows());
  }
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::copy(int j, bool centred, double factor, float* out) const {
  VectorXd room;
  Storage::copy(column(j, room), centred, factor, out);
}

template <class T, class Meaning>
double DenseStorage<T, Meaning>::dot(int j, const VectorXd& v) const {
  VectorXd room;
  return column(j, room).dot(v);
}

// Prefetches: reading scattered columns is otherwise half as fast as reading consecutive ones. GCC
// takes a function that only prefetches for one without effect and removes its calls.
template <class T, class Meaning>
void DenseStorage<T, Meaning>::dots(const ColumnList& columns, int begin, int end, const VectorXd& v,
                           double* out) const {
  VectorXd room;
  for (int k = begin; k < end; ++k) {
#ifdef __GNUC__
    if (columns.scattered() && k + kAhead < columns.size()) {
      const T* next = start(columns[k + kAhead]);
      for (int i = 0; i < std::min(rows(), kFetched); i += kCacheLine) __builtin_prefetch(next + i);
    }
#endif
    out[k - begin] = column(columns[k], room).dot(v);
  }
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::moments(int begin, int end, const VectorXd& v, const VectorXd& used,
                              Moments* out) const {
  VectorXd room;
  for (int j = begin; j < end; ++j) {
    const Column x = column(j, room);
    out[j - begin] = used.size() > 0 ? moments_of<true>(x, v.data(), used.data())
                                     : moments_of<false>(x, v.data(), nullptr);
  }
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::add(int j, double factor, VectorXd& out) const {
  VectorXd room;
  out += factor * column(j, room);
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::add_at(int j, double factor, const std::vector<int>& rows,
                             const std::vector<int>&, double* out) const {
  const T* x = start(j);
  for (std::size_t k = 0; k < rows.size(); ++k) out[k] += factor * meaning_(x[rows[k]]);
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::add_weighted(int j, double factor, const VectorXd& h, VectorXd& out) const {
  VectorXd room;
  out.array() += factor * h.array() * column(j, room).array();
}

template <class T, class Meaning>
double DenseStorage<T, Meaning>::weighted_square(int j, const VectorXd& h) const {
  VectorXd room;
  return column(j, room).cwiseAbs2().dot(h);
}

// Computes all three in one pass, limited only by memory bandwidth.
template <class T, class Meaning>
template <bool kSomeRows>
Storage::Moments DenseStorage<T, Meaning>::moments_of(const Column& column, const double* v,
                                             const double* used) {
  const double* x = column.data();
  const auto rows = static_cast<int>(column.size());
  Eigen::Array4d dot = Eigen::Array4d::Zero(), sum = dot, squares = dot;
  int i = 0;
  for (; i + 4 <= rows; i += 4) {
    Eigen::Array4d four = Packet(x + i);
    dot += four * Packet(v + i);
    if (kSomeRows) four *= Packet(used + i);
    sum += four;
    squares += four * four;
  }
  Moments m{dot.sum(), sum.sum(), squares.sum()};
  for (; i < rows; ++i) {
    const double counted = kSomeRows ? used[i] * x[i] : x[i];
    m.dot += x[i] * v[i];
    m.sum += counted;
    m.squares += counted * counted;
  }
  return m;
}

template class DenseStorage<double>;
template class DenseStorage<float>;
template class DenseStorage<std::int32_t>;
template class DenseStorage<std::int16_t>;
template class DenseStorage<std::uint16_t>;
template class DenseStorage<std::uint8_t>;
template class DenseStorage<double, Scaled<double>>;
template class DenseStorage<float, Scaled<float>>;
template class DenseStorage<std::int32_t, Scaled<std::int32_t>>;
template class DenseStorage<std::int16_t, Scaled<std::int16_t>>;
template class DenseStorage<std::uint16_t, Scaled<std::uint16_t>>;
template class DenseStorage<std::uint8_t, Scaled<std::uint8_t>>;

}  // namespace n2gfl
