// read_images() for R: copies the values of images into one matrix.
#include <RcppEigen.h>

#define RNIFTI_NIFTILIB_VERSION 2  // reads NIfTI-1 too
#include "RNifti.h"
#include "RNiftiAPI.h"

#include "data/resample.hpp"
#include "volume_store.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <zlib.h>

#include "glue.h"

using Store = Rcpp::XPtr<n2gfl::VolumeStoreBase>;
using Image = Rcpp::XPtr<RNifti::NiftiImage>;

namespace {

std::vector<char> as_flags(const Rcpp::LogicalVector& flags) {
  return std::vector<char>(flags.begin(), flags.end());
}

RNifti::NiftiImage read_image(const std::string& path, int volume) {
  if (volume == 0) return RNifti::NiftiImage(path);
  return RNifti::NiftiImage(path, std::vector<RNifti::NiftiImage::dim_t>(1, volume - 1));
}

template <class Stored>
void copy_scaled(const RNifti::NiftiImage& image, const RNifti::NiftiImageData& data, double* to) {
  const Stored* from = static_cast<const Stored*>(image->data);
  std::copy(from, from + data.size(), to);
  if (!data.isScaled()) return;
  for (std::size_t k = 0; k < data.size(); ++k) to[k] = to[k] * data.slope + data.intercept;
}

// RNifti looks up the type at every value; here the common types are looked up once.
void copy_values(const RNifti::NiftiImage& image, const RNifti::NiftiImageData& data, double* to) {
  switch (image->datatype) {
    case DT_UINT8: return copy_scaled<std::uint8_t>(image, data, to);
    case DT_INT16: return copy_scaled<std::int16_t>(image, data, to);
    case DT_UINT16: return copy_scaled<std::uint16_t>(image, data, to);
    case DT_FLOAT32: return copy_scaled<float>(image, data, to);
    case DT_FLOAT64: return copy_scaled<double>(image, data, to);
    default: std::copy(data.begin(), data.end(), to);
  }
}

// Is `sum` the checksum of the bytes before the data and of the data, as stored at the end of the
// gzip file? niftilib does not check it if a file is damaged in the middle. Computing it for the
// unpacked bytes takes less than a tenth of the time of unpacking them again.
bool has_sum(const RNifti::NiftiImage& image, const Rcpp::RawVector& before, double sum) {
  const uLong start = crc32_z(crc32_z(0, nullptr, 0), before.begin(), before.size());
  return crc32_z(start, static_cast<const Bytef*>(image->data), image->nvox * image->nbyper) == sum;
}

// Calls visit(values, count) for a volume from read_nifti_cpp() or for an R vector.
template <class Visit>
auto visit_values(SEXP volume, Visit visit) {
  if (TYPEOF(volume) != EXTPTRSXP)
    return visit(static_cast<const double*>(REAL(volume)), Rf_xlength(volume));
  const Image image(volume);
  return visit(static_cast<const float*>((*image)->data), static_cast<R_xlen_t>((*image)->nvox));
}

}  // namespace

// The values of a file or of one of its volumes (counted from 1; 0 for all). Plain floats stay in
// RNifti's memory and are returned as a pointer, unless R `numbers` are requested. Returns NULL if
// the unpacked file does not have the checksum `sum` (not checked if NA); `before` are the bytes
// before the data.
// [[Rcpp::export(rng = false)]]
SEXP read_nifti_cpp(const std::string& path, int volume, bool numbers,
                    const Rcpp::RawVector& before, double sum) {
  RNifti::NiftiImage image = read_image(path, volume);
  const RNifti::NiftiImageData data = image.data();
  if (data.isEmpty()) Rcpp::stop("there are no data");
  if (!std::isnan(sum) && !has_sum(image, before, sum)) return R_NilValue;
  if (!numbers && image->datatype == DT_FLOAT32 && !data.isScaled())
    return Image(new RNifti::NiftiImage(image));
  Rcpp::NumericVector values(Rcpp::no_init(data.size()));
  copy_values(image, data, values.begin());
  return values;
}

// R does not know how large an image is, and would not free hundreds of them in time.
// [[Rcpp::export(rng = false)]]
void free_volume_cpp(SEXP volume) {
  if (TYPEOF(volume) == EXTPTRSXP) Image(volume).release();
}

// [[Rcpp::export(rng = false)]]
SEXP store_new_cpp(int images, int voxels, bool narrow) {
  if (narrow) return Store(new n2gfl::VolumeStore<float>(images, voxels));
  return Store(new n2gfl::VolumeStore<double>(images, voxels));
}

// Adds the next image at the voxels of `index`, counted from 1. Returns the number of values that
// are not finite; they are stored as 0 if `zero`.
// [[Rcpp::export(rng = false)]]
int store_add_cpp(SEXP store, SEXP volume, const Rcpp::IntegerVector& index, bool zero) {
  const Store to(store);
  if (index.size() != to->voxels()) Rcpp::stop("an image has other voxels than the store");
  return visit_values(volume, [&](const auto* values, R_xlen_t count) {
    if (index.size() && index[index.size() - 1] > count) Rcpp::stop("an image has other voxels");
    return to->add(values, index.begin(), zero);
  });
}

// [[Rcpp::export(rng = false)]]
Rcpp::List store_scan_cpp(SEXP store) {
  std::vector<char> varies;
  std::vector<int> bad;
  Store(store)->scan(varies, bad);
  return Rcpp::List::create(Rcpp::Named("varies") = Rcpp::LogicalVector(varies.begin(), varies.end()),
                            Rcpp::Named("bad") = bad);
}

// [[Rcpp::export(rng = false)]]
int store_count_bad_cpp(SEXP store, int image, const Rcpp::LogicalVector& wanted) {
  return Store(store)->count_bad(image - 1, as_flags(wanted));
}

// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix store_take_cpp(SEXP store, const Rcpp::LogicalVector& keep,
                                   const Rcpp::CharacterVector& subjects) {
  const Store from(store);
  Rcpp::NumericMatrix x(Rcpp::no_init(from->images(), Rcpp::sum(keep)));
  from->take(as_flags(keep), x.begin());
  x.attr("dimnames") = Rcpp::List::create(subjects, R_NilValue);
  return x;
}

// total += volume, in place; values that are not finite count as 0.
// [[Rcpp::export(rng = false)]]
void add_volume_cpp(Rcpp::NumericVector total, SEXP volume) {
  double* sum = total.begin();
  const R_xlen_t size = total.size();
  visit_values(volume, [&](const auto* values, R_xlen_t count) {
    if (count != size) Rcpp::stop("an image has other voxels");
    // Most of an image is background: zeros are skipped.
    for (R_xlen_t k = 0; k < size; ++k)
      if (values[k] != 0 && std::isfinite(values[k])) sum[k] += values[k];
  });
}

// The mean of the values of each block; block numbers count from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector block_means_cpp(SEXP volume, const Rcpp::IntegerVector& block, int blocks) {
  Rcpp::NumericVector mean(blocks);
  std::vector<double> sum(blocks, 0.0), share(blocks, 0.0);
  const int* of = block.begin();
  visit_values(volume, [&](const auto* values, R_xlen_t count) {
    if (count != block.size()) Rcpp::stop("an image has other voxels");
    for (R_xlen_t k = 0; k < count; ++k) {
      sum[of[k] - 1] += values[k];
      share[of[k] - 1] += 1;
    }
  });
  for (int b = 0; b < blocks; ++b) mean[b] = sum[b] / share[b];
  return mean;
}

// A volume of size `dim` on a grid of size `new_dim`; `map` is a matrix with four columns that takes
// indices of the new grid to indices of the old one, both counted from 0.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector resample_cpp(SEXP volume, const Rcpp::IntegerVector& dim,
                                 const Rcpp::NumericMatrix& map,
                                 const Rcpp::IntegerVector& new_dim) {
  const n2gfl::GridSize size = {dim[0], dim[1], dim[2]};
  const n2gfl::GridSize new_size = {new_dim[0], new_dim[1], new_dim[2]};
  n2gfl::GridMap rows;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j) rows[i][j] = map(i, j);
  Rcpp::NumericVector out(
      Rcpp::no_init(static_cast<R_xlen_t>(new_size[0]) * new_size[1] * new_size[2]));
  visit_values(volume, [&](const auto* values, R_xlen_t count) {
    if (count != static_cast<R_xlen_t>(size[0]) * size[1] * size[2])
      Rcpp::stop("an image has other voxels");
    n2gfl::resample(values, size, rows, new_size, out.begin());
  });
  return out;
}

// Mean, standard deviation, minimum, maximum and mean absolute value of each row, as the columns of a
// matrix, in one pass along the columns of x (Welford's recurrence).
// [[Rcpp::export(rng = false)]]
Rcpp::NumericMatrix row_stats_cpp(const Eigen::Map<Eigen::MatrixXd> x) {
  Eigen::ArrayXd mean = Eigen::ArrayXd::Zero(x.rows()), squares = mean, size = mean, step(x.rows());
  Eigen::ArrayXd low = x.col(0), high = low;
  for (Eigen::Index j = 0; j < x.cols(); ++j) {
    const auto column = x.col(j).array();
    step = column - mean;
    mean += step / static_cast<double>(j + 1);
    squares += step * (column - mean);
    size += column.abs();
    low = low.min(column);
    high = high.max(column);
  }
  const double voxels = static_cast<double>(x.cols());
  Rcpp::NumericMatrix stats(static_cast<int>(x.rows()), 5);
  Eigen::Map<Eigen::ArrayXXd> to(stats.begin(), x.rows(), 5);
  to << mean, (squares / (voxels - 1)).sqrt(), low, high, size / voxels;
  return stats;
}
