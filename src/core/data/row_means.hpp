// What all features of a row share, such as the gain of a scanner or the size of a head: the mean
// of the row.
#pragma once

#include "data/design.hpp"
#include "poll.hpp"
#include "types.hpp"

namespace n2gfl {

VectorXd row_means(const Design& x, Poll& poll);

// How much the row means m explain of the columns, both without what a constant and the covariates
// explain, over the rows with weight: the share of the columns' variance that the regressions of
// each column on m explain,
//
//   sum_j cov(x_j, m)^2 / var(m)  /  sum_j var(x_j),
//
// 0 if nothing is left of m; and the smallest mean. Of many columns and rows an even selection is
// enough: a fit must not wait for advice.
struct RowMeanShare {
  double share = 0, smallest = 0;
};

RowMeanShare share_of_row_means(const Design& x, const VectorXd& weights,
                                const MatrixXd& covariates);

}  // namespace n2gfl
