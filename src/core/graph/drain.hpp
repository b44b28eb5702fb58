// One step of draining: a node sends its excess to some of its neighbours (or takes what it lacks
// from them), in proportion to the free capacity of the edges. If all nodes of a connected set do
// so in the reverse order of a search, the whole excess collects at the first node.
#pragma once

#include <cmath>

#include "graph/network.hpp"

namespace n2gfl {

// The free capacity of an arc for an excess (amount > 0) or for a lack (amount < 0).
inline double room_for(const Arc& u, double amount) {
  return amount > 0 ? u.capacity - u.flow : u.capacity + u.flow;
}

// `leads_down(arc)` says which arcs may be used. Returns the amount that does not fit.
template <class LeadsDown>
double drain(Network& net, int i, double amount, LeadsDown leads_down) {
  double total = 0;
  for (int a = net.begin(i); a < net.end(i); ++a)
    if (leads_down(net.arc(a))) total += room_for(net.arc(a), amount);
  const bool fill = total <= std::fabs(amount);
  for (int a = net.begin(i); a < net.end(i); ++a) {
    Arc& u = net.arc(a);
    if (!leads_down(u)) continue;
    const double room = room_for(u, amount);
    if (room <= 0) continue;
    const double sent = fill ? std::copysign(room, amount) : amount * (room / total);
    const double flow = std::fmax(-u.capacity, std::fmin(u.capacity, u.flow + sent));
    net.set_flow_only(u, fill ? std::copysign(u.capacity, amount) : flow);
    net.add_outflow(i, sent);
    net.add_outflow(u.head, -sent);
  }
  return fill ? std::fabs(amount) - total : 0;
}

}  // namespace n2gfl
