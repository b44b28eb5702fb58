#include "solve/penalty_kinds.hpp"

#include <stdexcept>

#include "solve/fused_kind.hpp"
#include "solve/laplacian_kind.hpp"

namespace n2gfl {

namespace {

template <class Kind>
std::unique_ptr<PenaltyKind> make(Model& model) {
  return std::make_unique<Kind>(model);
}

struct Entry {
  PenaltyType type;
  const char* name;
  std::unique_ptr<PenaltyKind> (*make)(Model&);
};

const Entry kEntries[] = {
    {PenaltyType::fused, "fused", make<FusedKind>},
    {PenaltyType::laplacian, "laplacian", make<LaplacianKind>},
};

}  // namespace

PenaltyType penalty_named(const std::string& name) {
  for (const Entry& entry : kEntries)
    if (name == entry.name) return entry.type;
  throw std::invalid_argument("unknown penalty '" + name + "'");
}

std::unique_ptr<PenaltyKind> make_penalty_kind(PenaltyType type, Model& model) {
  for (const Entry& entry : kEntries)
    if (type == entry.type) return entry.make(model);
  throw std::invalid_argument("a penalty without a line in penalty_kinds.cpp");
}

}  // namespace n2gfl
