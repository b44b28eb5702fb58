#include "prox/closed_seeds.hpp"

#include <cstddef>
#include <vector>

namespace n2gfl {

ClosedSeeds::ClosedSeeds(const Network& network, Poll& poll)
    : net_(&network), poll_(&poll), closed_(network.nodes(), 0) {}

void ClosedSeeds::find(const std::vector<int>& candidates, Grow grow) {
  clear();
  candidates_ = candidates;
  for (int i : candidates_) closed_[i] = 1;
  const int sign = static_cast<int>(grow);
  open_.clear();
  for (int i : candidates_)
    if (leads_out(i, sign)) open(i);
  for (std::size_t h = 0; h < open_.size(); ++h) open_those_that_lead_to(open_[h], sign);
}

void ClosedSeeds::clear() {
  for (int i : candidates_) closed_[i] = 0;
  candidates_.clear();
}

bool ClosedSeeds::leads_out(int i, int sign) const {
  (*poll_)();
  bool out = false;  // no early end: the processor cannot predict which arc it would be
  for (int a = net_->begin(i); a < net_->end(i); ++a) {
    const Arc& u = net_->arc(a);
    out |= (closed_[u.head] == 0) & (sign * u.flow < u.capacity);
  }
  return out;
}

void ClosedSeeds::open_those_that_lead_to(int i, int sign) {
  (*poll_)();
  for (int a = net_->begin(i); a < net_->end(i); ++a) {
    const Arc& u = net_->arc(a);
    if (closed_[u.head] != 0 && -sign * u.flow < u.capacity) open(u.head);
  }
}

void ClosedSeeds::open(int i) {
  closed_[i] = 0;
  open_.push_back(i);
}

}  // namespace n2gfl
