// Which rows a trial sets aside, such that a weight of two is two rows.
#pragma once

#include <cstdint>
#include <vector>

#include "matrix.hpp"

namespace planewise {

class SetAside {
  public:
    // `targets` numbers per row.
    SetAside(const Matrix &matrix, const double *target, std::size_t targets, const std::vector<double> &weight);

    // By row, what part of its weight is set aside: each of the rows it stands for goes by itself. Of equal rows as
    // much as of one with their weight, so it does not matter whether a row is given twice or has a weight of two.
    void draw(double share, std::uint64_t noise, std::vector<double> &part) const;

  private:
    struct Alike {  // equal in all columns and targets
        std::uint64_t key;
        std::uint32_t first, last;  // in `rows_`
        double count;               // how many rows of weight one they are
    };
    std::vector<std::uint32_t> rows_;
    std::vector<double> count_;  // by row: of how many rows of weight one
    std::vector<Alike> groups_;
};

}  // namespace planewise
