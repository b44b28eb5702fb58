// The penalties by name. A new one needs a class like LaplacianKind, a name in this enum, and a
// line in penalty_kinds.cpp.
#pragma once

#include <memory>
#include <string>

#include "data/model.hpp"
#include "solve/penalty_kind.hpp"

namespace n2gfl {

enum class PenaltyType { fused, laplacian };

PenaltyType penalty_named(const std::string& name);

std::unique_ptr<PenaltyKind> make_penalty_kind(PenaltyType type, Model& model);

}  // namespace n2gfl
