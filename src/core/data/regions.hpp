// The coefficients as a short list of regions: connected sets of features with one common value.
// All other features are zero. Regions are split into pieces and merged. Each stores the sum of
// its columns of X with the unpenalised part projected out, which is all that the contracted
// problem needs.
#pragma once

#include <cstddef>
#include <vector>

#include "data/model.hpp"
#include "types.hpp"

namespace n2gfl {

struct Region {
  std::vector<int> nodes;
  VectorXd column;      // sum of the nodes' columns, projected
  VectorXd projection;  // the part that was projected out, in the basis of the unpenalised part
  double value = 0;
  double factor = 0;    // sum of the nodes' penalty factors
  double tie = 0;       // of regions with equal values, the one with the larger tie should rise
  int content = 0;      // changes whenever the nodes change
  std::vector<int> border;  // arcs that leave the region
  int bordered = -1;    // the content that the border belongs to
  int losses = 0;       // pieces that left since the column was summed
  double lost = 0;      // the largest column among these
};

// A set of nodes that should leave its region (or the zero set) upwards or downwards.
struct Piece {
  std::vector<int> nodes;
  int parent = -1;
  int sign = 1;
  double gain = 0;       // remaining excess: the slope of the objective
  double threshold = 0;  // sum of lambda1 * u_i
};

class Regions {
 public:
  static constexpr int kZeroSet = -1;

  explicit Regions(const Model& model) : model_(&model), of_(model.features(), kZeroSet) {}

  int size() const { return static_cast<int>(list_.size()); }
  int of(int node) const { return of_[node]; }
  const Region& operator[](int k) const { return list_[k]; }
  double value_at(int node) const { return of_[node] < 0 ? 0.0 : list_[of_[node]].value; }
  void set_fused(bool fused);
  void set_tie(int k, double tie) { list_[k].tie = tie; }
  bool fused() const { return fused_; }

  void clear();

  int nonzero() const;

  VectorXd values() const;

  void set_values(const VectorXd& u, bool keep_ties);

  std::vector<double> ties() const;

  MatrixXd columns() const;

  // Merges the regions of each group; the regions of group -1 join the zero set.
  void merge(const std::vector<int>& group, int groups, const VectorXd& value);

  // Every piece becomes a region with the value of its parent; the rest of a parent is split into
  // its connected parts.
  void split(std::vector<Piece>& pieces);

  // The connected set of nodes around `start`; `inside(node)` must be true until `take(node)` is
  // called.
  template <class Inside, class Take>
  std::vector<int> grow(int start, Inside inside, Take take) const {
    std::vector<int> part(1, start);
    take(start);
    for (std::size_t h = 0; fused_ && h < part.size(); ++h) {
      const int i = part[h];
      for (int a = model_->graph.begin(i); a < model_->graph.end(i); ++a) {
        const int j = model_->graph.head(a);
        if (!inside(j)) continue;
        take(j);
        part.push_back(j);
      }
    }
    return part;
  }

 private:
  void assign(const std::vector<int>& nodes, int k);
  void find_borders();
  void append(std::vector<int> nodes, double value, double tie);
  void sum_columns(Region& region);
  void sum_factors(Region& region);
  static void take_off(Region& region, const Region& part);
  void absorb(Region& target, Region& other);
  void rebuild(int k);
  void drop_empty();

  static constexpr int kTaken = -2;
  static constexpr int kMostLosses = 50;
  static constexpr std::size_t kLittle = 4;  // less than a quarter is left
  static constexpr double kLittleLength = 10;
  const Model* model_;
  std::vector<Region> list_;
  std::vector<int> of_;
  int next_content_ = 0;
  bool fused_ = true;
};

}  // namespace n2gfl
