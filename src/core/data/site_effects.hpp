// Effects of sites (scanners, studies) on location and scale of every column of X, by the
// parametric empirical Bayes estimate of Johnson, Li and Rabinovic (2007), known as ComBat:
//
//   x_ij = a_j + z_i'b_j + sd_j (g_sj + sqrt(d_sj) e_ij)    for a row i of site s,
//
// where z are covariates whose effects are preserved. All columns together give the prior of the
// g_sj (normal) and of the d_sj (inverse gamma) of a site. Without its effects a row is
//
//   a_j + z_i'b_j + (x_ij - a_j - z_i'b_j - sd_j g_sj) / sqrt(d_sj)
//     = scale_sj x_ij + shift_sj + (1 - scale_sj) z_i'b_j
//
// so a view needs two numbers for each column and site, and the b_j. A row whose site is not known
// stays as it is: the site counts as one with the pooled mean and variance.
#pragma once

#include <stdexcept>
#include <vector>

#include "types.hpp"

namespace n2gfl {

// A site cannot be estimated: R checks the number of rows before, so this is about the values.
struct NoSiteVariance : std::invalid_argument {
  NoSiteVariance() : std::invalid_argument("fewer than two columns vary within every site") {}
};

struct Sites {
  std::vector<int> of_row;  // 0, ..., count - 1, or `count` for a site that is not known
  int count = 0;
  int reference = -1;        // the site to whose location and scale the others are brought, or -1
  std::vector<bool> used;    // the rows from which effects are estimated; their sites are known
  MatrixXd preserved;        // z, one row per row of X
};

class SiteEffects {
 public:
  SiteEffects(Sites sites, int cols);

  // Takes column j into account. May be called for different columns at the same time.
  void see(int j, const VectorXd& x);

  // Estimates the effects, after all columns have been seen.
  void estimate();

  // v_i *= scale_sj for all rows i
  void scale_rows(int j, VectorXd& v) const;

  // out += factor * (what is added to column j besides its scaled values)
  void add_shift(int j, double factor, VectorXd& out) const;

  // The product of that with v, from the sums of v that all columns share.
  double shift_dot(int j, const VectorXd& sums) const;
  VectorXd sums(const VectorXd& v) const;

  // One row per known site; slopes are the b_j.
  VectorXd scale(int j) const { return scale_.col(j).head(sites_.count); }
  VectorXd shift(int j) const { return shift_.col(j).head(sites_.count); }
  VectorXd slopes(int j) const { return slopes_.col(j); }

 private:
  int site(int k) const { return sites_.of_row[static_cast<std::size_t>(k)]; }
  int begin(int s) const { return starts_[static_cast<std::size_t>(s)]; }
  int size(int s) const { return begin(s + 1) - begin(s); }
  void order_rows();
  void project_covariates();
  bool varies(const VectorXd& values, const VectorXd& means) const;
  void shrink(int s, const std::vector<int>& columns);
  void finish();

  Sites sites_;
  std::vector<int> rows_, starts_;  // the rows used, site by site
  MatrixXd centred_, estimator_;    // z of these rows less its site's mean; (z'z)^-1 z'
  MatrixXd site_means_;             // of z
  // One column per column of X, one row per site, the last row for the rows without one. Until
  // finish() they hold estimates: the d_sj and the g_sj.
  MatrixXd scale_, shift_;
  MatrixXd slopes_;      // b_j
  VectorXd mean_, sd_;   // a_j, sd_j; sd_j = 0 if the column does not vary within every site
};

}  // namespace n2gfl
