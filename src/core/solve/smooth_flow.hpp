// Brings the flow of region pursuit close to that of new penalties, where fusion is strong and
// flows travel far: sweeps over all edges are then much faster than a search that moves the excess
// of every node to a distant deficit.
#pragma once

#include <cstddef>
#include <memory>

#include "data/lazy_gradient.hpp"
#include "data/model.hpp"
#include "data/regions.hpp"
#include "graph/network.hpp"
#include "solve/balance_sweeps.hpp"

namespace n2gfl {

class SmoothFlow {
 public:
  SmoothFlow(const Model& model, Network& network, LazyGradient& gradient, const Regions& regions);

  void set_penalties(double lambda1, double lambda2);

  bool is_strong() const { return strong_; }

  // At the start of a row, after gradient.predict(): sweeps if there is much excess.
  void start_row();

  // Later in the row: sweeps if there are so many seeds that the search would be slow.
  bool help_search(std::size_t seeds);

 private:
  static constexpr double kStrong = 0.2;     // lambda2 w / lambda1 from which flows travel far
  static constexpr double kPoor = 0.05;      // of lambda1: a typical error of a poor prediction
  static constexpr double kManySeeds = 0.1;  // of all nodes
  static constexpr double kMuchExcess = 1e-3;    // of lambda1 d, from which on sweeps pay
  static constexpr double kLittleExcess = 3e-4;  // of lambda1 d, that the search removes as fast
  static constexpr double kStalled = 0.95;   // share that is left after useless sweeps
  static constexpr int kMostSweeps = 200, kSweepsAtOnce = 5;

  double mean_weight();
  double predicted_excess() const;
  bool prediction_is_poor() const;
  void sweep();
  void load();

  const Model* model_;
  Network* net_;
  LazyGradient* gradient_;
  const Regions* regions_;
  std::unique_ptr<BalanceSweeps> sweeps_;  // made when first needed
  double lambda1_ = 0;
  double unit_ = 0;          // a typical capacity
  double scale_ = 0;         // lambda1 d
  double mean_weight_ = -1;  // of the graph's edges; negative: not known yet
  bool strong_ = false;
};

}  // namespace n2gfl
