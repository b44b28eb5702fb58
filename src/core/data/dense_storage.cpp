#include "data/dense_storage.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace n2gfl {

template <class T, class Meaning>
Storage::Column DenseStorage<T, Meaning>::column(int j, VectorXd& room) const {
  if constexpr (!kAsDouble) room.resize(rows());
  return Column(values_of(start(j), rows(), room.data()), rows());
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::copy(int j, bool centred, double factor, float* out) const {
  VectorXd room;
  Storage::copy(column(j, room), centred, factor, out);
}

template <class T, class Meaning>
double DenseStorage<T, Meaning>::dot(int j, const VectorXd& v) const {
  return dot_of(start(j), v.data());
}

// Eight sums side by side, whatever the type: so results do not depend on it. They are no array,
// and no vectors of Eigen, because compilers keep only such variables in registers here.
template <class T, class Meaning>
double DenseStorage<T, Meaning>::dot_of(const T* x, const double* v) const {
  double a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0;
  const int n = rows();
  int i = 0;
  for (; i + 8 <= n; i += 8) {
    a += meaning_(x[i]) * v[i];
    b += meaning_(x[i + 1]) * v[i + 1];
    c += meaning_(x[i + 2]) * v[i + 2];
    d += meaning_(x[i + 3]) * v[i + 3];
    e += meaning_(x[i + 4]) * v[i + 4];
    f += meaning_(x[i + 5]) * v[i + 5];
    g += meaning_(x[i + 6]) * v[i + 6];
    h += meaning_(x[i + 7]) * v[i + 7];
  }
  double dot = ((a + e) + (c + g)) + ((b + f) + (d + h));
  for (; i < n; ++i) dot += meaning_(x[i]) * v[i];
  return dot;
}

// Prefetches: reading scattered columns is otherwise half as fast as reading consecutive ones. GCC
// takes a function that only prefetches for one without effect and removes its calls.
template <class T, class Meaning>
void DenseStorage<T, Meaning>::dots(const ColumnList& columns, int begin, int end,
                                    const VectorXd& v, double* out) const {
  for (int k = begin; k < end; ++k) {
#ifdef __GNUC__
    if (columns.scattered() && k + kAhead < columns.size()) {
      const T* next = start(columns[k + kAhead]);
      for (int i = 0; i < std::min(rows(), kFetched); i += kCacheLine) __builtin_prefetch(next + i);
    }
#endif
    out[k - begin] = dot_of(start(columns[k]), v.data());
  }
}

template <class T, class Meaning>
void DenseStorage<T, Meaning>::moments(int begin, int end, const VectorXd& v,
                                       const VectorXd& used, Moments* out) const {
  for (int j = begin; j < end; ++j)
    out[j - begin] = used.size() > 0 ? moments_of<true>(start(j), v.data(), used.data())
                                     : moments_of<false>(start(j), v.data(), nullptr);
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
void DenseStorage<T, Meaning>::add_weighted(int j, double factor, const VectorXd& h,
                                            VectorXd& out) const {
  VectorXd room;
  out.array() += factor * h.array() * column(j, room).array();
}

template <class T, class Meaning>
double DenseStorage<T, Meaning>::weighted_square(int j, const VectorXd& h) const {
  VectorXd room;
  return column(j, room).cwiseAbs2().dot(h);
}

namespace {

using Packet = Eigen::Map<const Eigen::Array4d>;

// Computes all three in one pass, limited only by memory bandwidth.
template <bool kSomeRows>
struct MomentSums {
  // All counts but the last are multiples of 4.
  void add(const double* x, const double* v, const double* used, int count) {
    Eigen::Array4d dots = dot, sums = sum, of_squares = squares;
    int i = 0;
    for (; i + 4 <= count; i += 4) {
      Eigen::Array4d four = Packet(x + i);
      dots += four * Packet(v + i);
      if (kSomeRows) four *= Packet(used + i);
      sums += four;
      of_squares += four * four;
    }
    dot = dots, sum = sums, squares = of_squares;
    for (; i < count; ++i) {
      const double counted = kSomeRows ? used[i] * x[i] : x[i];
      rest.dot += x[i] * v[i];
      rest.sum += counted;
      rest.squares += counted * counted;
    }
  }

  Eigen::Array4d dot = Eigen::Array4d::Zero(), sum = dot, squares = dot;
  Storage::Moments rest{0, 0, 0};
};

}  // namespace

template <class T, class Meaning>
template <bool kSomeRows>
Storage::Moments DenseStorage<T, Meaning>::moments_of(const T* x, const double* v,
                                                      const double* used) const {
  constexpr int kAtOnce = kAsDouble ? std::numeric_limits<int>::max() : 256;
  alignas(16) double room[kAsDouble ? 1 : kAtOnce];
  MomentSums<kSomeRows> sums;
  for (int i = 0; i < rows();) {
    const int count = std::min(rows() - i, kAtOnce);
    sums.add(values_of(x + i, count, room), v + i, kSomeRows ? used + i : nullptr, count);
    i += count;
  }
  return {sums.dot.sum() + sums.rest.dot, sums.sum.sum() + sums.rest.sum,
          sums.squares.sum() + sums.rest.squares};
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
template class DenseStorage<double, ScaledOrMissing<double>>;
template class DenseStorage<float, ScaledOrMissing<float>>;
template class DenseStorage<std::int32_t, ScaledOrMissing<std::int32_t>>;
template class DenseStorage<std::int16_t, ScaledOrMissing<std::int16_t>>;
template class DenseStorage<std::uint16_t, ScaledOrMissing<std::uint16_t>>;
template class DenseStorage<std::uint8_t, ScaledOrMissing<std::uint8_t>>;

}  // namespace n2gfl
