// read_images() for R: values of images on their way into one matrix.
#include <RcppEigen.h>

#include "RNifti.h"
#include "RNiftiAPI.h"

#include <n2gfl/volume_store.hpp>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "glue.h"

using Store = Rcpp::XPtr<n2gfl::VolumeStoreBase>;

namespace {

std::vector<char> as_flags(const Rcpp::LogicalVector& flags) {
  return std::vector<char>(flags.begin(), flags.end());
}

int put(SEXP store, int image, std::vector<double> values, bool zero) {
  const Store to(store);
  if (static_cast<int>(values.size()) != to->voxels())
    Rcpp::stop("an image has other voxels than the store");
  int bad = 0;
  for (double& value : values) {
    if (std::isfinite(value)) continue;
    ++bad;
    if (zero) value = 0;
  }
  to->put(image - 1, values.data());
  return bad;
}

template <class Value>
void add(Rcpp::NumericVector& total, const Value* values) {
  for (R_xlen_t k = 0; k < total.size(); ++k)
    if (std::isfinite(values[k])) total[k] += values[k];
}

}  // namespace

// [[Rcpp::export(rng = false)]]
SEXP store_new_cpp(int images, int voxels, bool narrow) {
  if (narrow) return Store(new n2gfl::VolumeStore<float>(images, voxels));
  return Store(new n2gfl::VolumeStore<double>(images, voxels));
}

// The number of values that are not finite; they are stored as 0 if `zero`.
// [[Rcpp::export(rng = false)]]
int store_put_cpp(SEXP store, int image, const Rcpp::NumericVector& values, bool zero) {
  return put(store, image, std::vector<double>(values.begin(), values.end()), zero);
}

// Is it an image whose values are used as they are stored?
// [[Rcpp::export(rng = false)]]
bool is_plain_nifti_cpp(SEXP image) {
  const RNifti::NiftiImage nifti(image, true, true);
  const bool scaled = nifti->scl_slope != 0 && (nifti->scl_slope != 1 || nifti->scl_inter != 0);
  return !scaled && nifti->data != nullptr && nifti->datatype == DT_FLOAT32;
}

// The same for a plain image in RNifti's memory; `index` counts voxels from 1.
// [[Rcpp::export(rng = false)]]
int store_put_nifti_cpp(SEXP store, int number, SEXP image, const Rcpp::IntegerVector& index,
                        bool zero) {
  const RNifti::NiftiImage nifti(image, true, true);
  const float* data = static_cast<const float*>(nifti->data);
  std::vector<double> values(index.size());
  for (R_xlen_t k = 0; k < index.size(); ++k) values[k] = data[index[k] - 1];
  return put(store, number, std::move(values), zero);
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

// total += values, in place; values that are not finite count as 0.
// [[Rcpp::export(rng = false)]]
void add_cpp(Rcpp::NumericVector total, const Rcpp::NumericVector& values) {
  add(total, values.begin());
}

// [[Rcpp::export(rng = false)]]
void add_nifti_cpp(Rcpp::NumericVector total, SEXP image) {
  const RNifti::NiftiImage nifti(image, true, true);
  if (static_cast<R_xlen_t>(nifti->nvox) != total.size()) Rcpp::stop("an image has other voxels");
  add(total, static_cast<const float*>(nifti->data));
}

// Means of the values of each block; block numbers count from 1.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector block_means_cpp(const Rcpp::NumericVector& values,
                                    const Rcpp::IntegerVector& block, int blocks) {
  std::vector<double> count(blocks, 0.0);
  Rcpp::NumericVector sum(blocks);
  for (R_xlen_t k = 0; k < values.size(); ++k) {
    sum[block[k] - 1] += values[k];
    count[block[k] - 1] += 1;
  }
  for (int b = 0; b < blocks; ++b) sum[b] /= count[b];
  return sum;
}

// How many columns of x have a weighted correlation with y whose t statistic is below -limit, and how
// many above limit.
// [[Rcpp::export(rng = false)]]
Rcpp::NumericVector count_effects_cpp(const SEXP x, const Eigen::VectorXd& y,
                                      const Eigen::VectorXd& weights, double limit) {
  const n2gfl::Design design = as_design(x);
  const Eigen::VectorXd w = weights / weights.sum();
  const double used = (weights.array() > 0).count();
  const Eigen::VectorXd residual = y.array() - y.dot(w);
  const Eigen::VectorXd along = w.cwiseProduct(residual);
  const double spread = along.dot(residual);
  double negative = 0, positive = 0;
  for (int j = 0; j < design.cols(); ++j) {
    const double mean = design.dot(j, w);
    const double variance = design.weighted_square(j, w) - mean * mean;
    if (!(variance > 1e-12 * mean * mean) || used < 3) continue;
    const double r = design.dot(j, along) / std::sqrt(variance * spread);
    const double t = r * std::sqrt((used - 2) / std::max(1e-300, 1 - r * r));
    negative += t < -limit;
    positive += t > limit;
  }
  return Rcpp::NumericVector::create(negative, positive);
}
