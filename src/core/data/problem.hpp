// The problem of a path, prepared from data and settings: which rows and signs the view of X has,
// what is subtracted from the response, loss, profile and model. It owns what the model refers to,
// except the graph. Answers of solvers come back from here on the scale of the user's X.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "data/design.hpp"
#include "data/model.hpp"
#include "graph/graph.hpp"
#include "loss/loss.hpp"
#include "loss/profile.hpp"
#include "poll.hpp"
#include "sign.hpp"
#include "types.hpp"

namespace n2gfl {

// The covariates alone explain the response, so that no loss is left for X.
struct NothingLeft : std::invalid_argument {
  NothingLeft() : std::invalid_argument("the unpenalised part fits the response without error") {}
};

// The loss of the model without features is infinite: the offset is beyond the family's range.
struct Overflow : std::invalid_argument {
  Overflow() : std::invalid_argument("the loss without features is infinite") {}
};

struct ProblemSettings {
  std::string family = "gaussian";  // a name in families.cpp
  Sign sign = Sign::nonnegative;
  bool standardize = false, intercept = true;
  int threads = 1;
};

struct Inputs {
  Design design;
  MatrixXd response;  // one row per observation
  VectorXd weights, offset;
  MatrixXd covariates;
  VectorXd factor;  // penalty factors
  ProblemSettings settings;
};

// How many features have a strong effect of their own, by direction.
struct Effects {
  int against = 0, along = 0;
};

// The coefficients without penalty.
struct Unpenalised {
  double intercept = 0;
  VectorXd covariates;
};

class Problem {
 public:
  Problem(Inputs inputs, const Graph& graph, Poll& poll);

  Problem(const Problem&) = delete;
  Problem& operator=(const Problem&) = delete;

  Model& model() { return *model_; }
  const Loss& loss() const { return *loss_; }

  // The loss with intercept and offset only, at which the deviance ratio is zero.
  double null_loss() const { return null_loss_; }

  // Features whose t statistic, on the residuals of the model without features, exceeds `least`.
  // `against` counts those with the sign that the model excludes (for free signs: negative ones).
  // The statistics come from the gradient and the norms that the model has already.
  Effects strong_effects(double least) const;

  // What was estimated of the effects of sites, or null.
  const SiteEffects* sites() const { return design_.sites(); }

  // Products X'v so far, counted in whole passes over X.
  double passes() const { return design_.passes(); }

  // The coefficients of intercept and covariates for given coordinates in the profile's basis.
  Unpenalised unpenalised_at(const VectorXd& coordinates) const;

  // Coefficients of the columns of X as the user gave it.
  std::vector<double> on_scale_of_x(const std::vector<int>& index, std::vector<double> value) const;

  double deviance_ratio(double loss) const;

 private:
  bool has_constant() const { return settings_.intercept || loss_->ignores_constants(); }
  MatrixXd unpenalised(const MatrixXd& covariates) const;
  void standardise(VectorXd& factor);
  void find_null_loss(const VectorXd& offset);

  ProblemSettings settings_;
  Design design_;
  std::unique_ptr<Loss> loss_;
  double mean_;  // what the loss took from the intercept
  Profile profile_;
  std::unique_ptr<Model> model_;  // made last, from the prepared design
  double null_loss_ = 0;
};

}  // namespace n2gfl
