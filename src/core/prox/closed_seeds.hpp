// Seeds of a search whose surplus cannot leave them: no path with free capacity leads from a
// closed seed to a node outside the closed seeds. They are on the seeds' side of the minimum cut,
// and a search need not enter them. In a search that starts from the flow of a similar problem
// most seeds are closed. Without this, the search would move their surplus to and fro until it
// knows that it cannot leave, and destroy the flow among them, which is still nearly optimal.
#pragma once

#include <vector>

#include "graph/max_flow.hpp"
#include "graph/network.hpp"
#include "poll.hpp"

namespace n2gfl {

class ClosedSeeds {
 public:
  ClosedSeeds(const Network& network, Poll& poll);

  // Finds the closed seeds among the candidates, which all have a surplus (or a deficit, if the
  // search starts from deficits).
  void find(const std::vector<int>& candidates, Grow grow);

  void clear();

  bool contains(int i) const { return closed_[i] != 0; }

 private:
  bool leads_out(int i, int sign) const;
  void open_those_that_lead_to(int i, int sign);
  void open(int i);

  const Network* net_;
  Poll* poll_;
  std::vector<char> closed_;  // per node
  std::vector<int> candidates_, open_;
};

}  // namespace n2gfl
