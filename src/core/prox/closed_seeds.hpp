// Seeds of a search whose surplus cannot leave them: no path with free capacity leads from a
// closed seed to a node outside the closed seeds. They are on the seeds' side of the minimum cut,
// and a search need not enter them. In a search that starts from the flow of a similar problem
// most seeds are closed. Without this, the search would move their surplus to and fro until it
// knows that it cannot leave, and destroy the flow among them, which is still nearly optimal.
#pragma once

#include <cstddef>
#include <vector>

#include "graph/max_flow.hpp"
#include "poll.hpp"

namespace n2gfl {

class ClosedSeeds {
 public:
  ClosedSeeds(const Network& network, Poll& poll)
      : net_(&network), poll_(&poll), closed_(network.nodes(), 0) {}

  // Finds the closed seeds among the candidates, which all have a surplus (or a deficit, if the
  // search starts from deficits).
  void find(const std::vector<int>& candidates, Grow grow) {
    clear();
    candidates_ = candidates;
    for (int i : candidates_) closed_[i] = 1;
    const int sign = static_cast<int>(grow);
    open_.clear();
    for (int i : candidates_)
      if (leads_out(i, sign)) open(i);
    for (std::size_t h = 0; h < open_.size(); ++h) open_those_that_lead_to(open_[h], sign);
  }

  void clear() {
    for (int i : candidates_) closed_[i] = 0;
    candidates_.clear();
  }

  bool contains(int i) const { return closed_[i] != 0; }

 private:
  bool leads_out(int i, int sign) const {
    (*poll_)();
    bool out = false;  // no early end: the processor cannot predict which arc it would be
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      out |= (closed_[u.head] == 0) & (sign * u.flow < u.capacity);
    }
    return out;
  }

  void open_those_that_lead_to(int i, int sign) {
    (*poll_)();
    for (int a = net_->begin(i); a < net_->end(i); ++a) {
      const Arc& u = net_->arc(a);
      if (closed_[u.head] != 0 && -sign * u.flow < u.capacity) open(u.head);
    }
  }

  void open(int i) {
    closed_[i] = 0;
    open_.push_back(i);
  }

  const Network* net_;
  Poll* poll_;
  std::vector<char> closed_;  // per node
  std::vector<int> candidates_, open_;
};

}  // namespace n2gfl
