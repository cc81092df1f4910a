#include "grow.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>

#include "route.hpp"

namespace planewise {

namespace {

constexpr std::size_t chunk_rows = 4096;

struct Node {
    std::size_t begin = 0, end = 0;  // its rows in the shared list
    std::int32_t parent = -1, depth = 0;
    std::vector<std::int64_t> sum;
    std::shared_ptr<const Ranking> ranking;  // its parent's order of features
    NodePlanes planes;
    double expected = 0;                 // gain seen by the sample, scaled to all rows
    double gain = 0, chance = 0;         // gain on all rows; what the best of all random cuts would have gained
    double earned = 0;                   // gain less what ordering categories gains by chance
    std::vector<std::int32_t> children;  // by code
    Bounds bounds;
    Path path;

    std::size_t rows() const { return end - begin; }
};

template <class S>
class Grower {
  public:
    Grower(const Matrix &matrix, const S &statistics, const GrowOptions &options, Threads &threads,
           const std::function<bool()> &stop, std::vector<std::uint32_t> rows)
        : matrix_(matrix),
          statistics_(statistics),
          options_(options),
          threads_(threads),
          stop_(stop),
          rows_(std::move(rows)) {
        if ((options_.interactions != nullptr && options_.interactions->columns() != matrix.columns) ||
            (!options_.monotone.empty() && options_.monotone.size() != matrix.columns))
            throw std::invalid_argument("constraints of another number of columns than the table has");
        if (rows_.empty()) {
            rows_.resize(matrix.rows);
            std::iota(rows_.begin(), rows_.end(), 0u);
        }
        spare_.resize(rows_.size());
        code_.resize(rows_.size());
        options_.choose.luck = 2 * std::log(std::max(1.0, cuts_a_node()));
        desks_.resize(static_cast<std::size_t>(threads.count()));
    }

    Grown<S> run() {
        plant();
        std::vector<std::int32_t> fresh{0}, open;
        std::int64_t leaves = 1;
        while (!fresh.empty() || !open.empty()) {
            if (stop_()) throw Interrupted{};
            threads_.each(fresh.size(), search_cost(fresh),
                          [&](std::size_t k, int thread) { search(fresh[k], desk_of(thread), thread == 0); });
            for (std::int32_t id : fresh)
                if (node(id).planes.size() > 0) open.push_back(id);
            fresh.clear();
            if (options_.max_leaf_nodes > 0) {
                // The better half of the open nodes, the largest gain first; equal ones in order of birth. One at a
                // time would leave nothing to do side by side, and search children that never get a turn.
                std::sort(open.begin(), open.end(), [&](std::int32_t a, std::int32_t b) {
                    return node(a).expected > node(b).expected || (node(a).expected == node(b).expected && a < b);
                });
                const auto half = open.begin() + static_cast<std::ptrdiff_t>((open.size() + 1) / 2);
                const std::vector<std::int32_t> better(open.begin(), half);
                open.erase(open.begin(), half);
                route(better, leaves, fresh);
                if (leaves >= options_.max_leaf_nodes) break;
            } else {
                route(open, leaves, fresh);
                open.clear();
            }
        }
        return finish();
    }

  private:
    // What one thread needs to search a node.
    struct Desk {
        Desk(const Matrix &matrix, const S &statistics, const GrowOptions &options)
            : sample(matrix), proposer(matrix), chooser(statistics, options.choose) {}
        Sample sample;
        Proposer proposer;
        Chooser<S> chooser;
        Directions directions;
        Ranking offered;
        std::vector<std::size_t> order;
        std::vector<double> gain;  // of the features in order, rounded
        std::vector<Plane> planes;
    };

    Node &node(std::int32_t id) { return nodes_[static_cast<std::size_t>(id)]; }

    // Made by the thread that needs it: most levels of small trees are searched by one.
    Desk &desk_of(int thread) {
        auto &desk = desks_[static_cast<std::size_t>(thread)];
        if (!desk) desk = std::make_unique<Desk>(matrix_, statistics_, options_);
        return *desk;
    }

    Threads::Cost search_cost(const std::vector<std::int32_t> &ids) {
        std::size_t cost = 0;
        for (std::int32_t id : ids)
            if (may_split(node(id))) cost += std::min(node(id).rows(), options_.max_rows_per_node);
        return 2 * cost * candidates_per_node();
    }

    // How many cuts a node may try: candidates times edges.
    double cuts_a_node() const { return static_cast<double>(candidates_per_node()) * (options_.choose.n_bins - 1); }
    std::size_t candidates_per_node() const {
        std::size_t features = 0;
        for (double scale : matrix_.scale) features += scale > 0;
        if (!options_.features.empty()) features = std::min(features, options_.features.size());
        if (options_.max_features > 0) features = std::min(features, options_.max_features);
        if (options_.root_features > 0) features = std::min(features, options_.root_features);
        const std::size_t drawn = static_cast<std::size_t>(options_.draw.n_projections) * options_.draw.rounds.size();
        return features + drawn;
    }
    // What the best of so many random cuts would gain by chance.
    double chance_gain(const Node &here, double gain, double cells) const {
        return (statistics_.dof(here.sum.data()) + options_.choose.luck) *
               statistics_.chance(here.sum.data(), gain, cells);
    }

    void plant() {
        Node root;
        root.end = rows_.size();
        root.sum.assign(statistics_.channels(), 0);
        for (std::uint32_t row : rows_) statistics_.add(statistics_.data()[row], root.sum.data());
        auto all = std::make_shared<Ranking>();
        *all = options_.features;
        if (all->empty())
            for (std::size_t j = 0; j < matrix_.columns; ++j) all->push_back(static_cast<std::int32_t>(j));
        const auto constant = [&](std::int32_t j) { return !(matrix_.scale[static_cast<std::size_t>(j)] > 0); };
        all->erase(std::remove_if(all->begin(), all->end(), constant), all->end());
        root.ranking = all;
        if (options_.interactions != nullptr) root.path = Path(*options_.interactions);
        total_weight_ = statistics_.weight(root.sum.data());
        nodes_.push_back(std::move(root));
    }

    bool may_split(const Node &here) const {
        const double impurity = statistics_.impurity(here.sum.data());
        return (options_.max_depth == 0 || here.depth < options_.max_depth) &&
               static_cast<std::int64_t>(here.rows()) >= options_.min_samples_split &&
               static_cast<std::int64_t>(here.rows()) >= 2 * options_.choose.min_samples_leaf && impurity > 0 &&
               impurity > options_.min_loss * statistics_.weight(here.sum.data()) &&
               // All it could ever gain is its impurity: less than chance gains would be pruned anyway.
               impurity > options_.prune_margin * chance_gain(here, impurity, 2);
    }

    // Which features the node looks at: the better half of its share by the parent's ranking, the rest at random.
    void offer(const Node &here, Random &random, Ranking &offered) const {
        const Ranking &known = *here.ranking;
        offered = known;
        if (here.path.is_limited())
            offered.erase(std::remove_if(offered.begin(), offered.end(),
                                         [&](std::int32_t feature) { return !here.path.allows(feature); }),
                          offered.end());
        const std::size_t share = options_.max_features;
        if (share == 0 || share >= offered.size() || here.parent < 0) return;
        for (std::size_t k = share / 2; k < share; ++k)
            std::swap(offered[k], offered[k + random.below(static_cast<std::uint32_t>(offered.size() - k))]);
        offered.resize(share);
    }

    // Only the calling thread may ask whether to stop: the answer may come from Python.
    void search(std::int32_t id, Desk &desk, bool may_ask) {
        Node &here = node(id);
        if (!may_split(here)) return;
        Random random(options_.seed, static_cast<std::uint64_t>(id));
        desk.sample.draw(&rows_[here.begin], here.rows(), options_.max_rows_per_node, random.next());
        offer(here, random, desk.offered);
        desk.sample.gather(desk.offered);
        desk.chooser.open(desk.sample);
        desk.chooser.bound(here.bounds, options_.monotone);
        desk.chooser.follow(here.path);
        desk.directions.clear();
        const TwoValued &two_valued = matrix_.two_valued;
        const bool as_bits = two_valued.words > 0 && desk.chooser.can_measure_bits();
        if (as_bits) desk.chooser.add_bits(desk.sample, two_valued);
        for (std::size_t k = 0; k < desk.offered.size(); ++k) {
            if (may_ask && k % 64 == 0 && stop_()) throw Interrupted{};
            Proposer::add_axis(matrix_, desk.offered[k], desk.directions);
            if (as_bits && two_valued.has(static_cast<std::size_t>(desk.offered[k])))
                desk.chooser.measure_bit(two_valued, desk.directions, k);
            else
                desk.chooser.measure(desk.sample, matrix_, desk.directions, k);
        }
        auto ranking = rank(desk, here.ranking);
        if (options_.root_features > 0 && here.parent < 0) ranking = keep_best(desk);
        const std::size_t axes = desk.directions.size();
        Ranking usable;
        for (std::size_t k : desk.order)  // categories have no place on a line with numbers
            if (!matrix_.is_categorical(static_cast<std::size_t>(desk.offered[k]))) usable.push_back(desk.offered[k]);
        DrawOptions draw = options_.draw;
        if (draw.rows_per_projection > 0)
            draw.n_projections = static_cast<int>(std::min<double>(
                draw.n_projections, statistics_.count(here.sum.data()) / draw.rows_per_projection + 1));
        desk.proposer.draw(usable, draw, random, desk.directions, options_.known, here.path);
        if (options_.draw.axes != Axes::all) leave_out_axes(desk);
        for (std::size_t d = axes; d < desk.directions.size(); ++d) {
            if (may_ask && stop_()) throw Interrupted{};
            desk.chooser.measure(desk.sample, matrix_, desk.directions, d);
        }
        const double grown = static_cast<double>(here.rows()) / static_cast<double>(desk.sample.size());
        desk.chooser.choose(desk.sample, desk.directions, grown, desk.planes);
        here.ranking = std::move(ranking);
        for (const Plane &plane : desk.planes) {
            here.planes.directions.add(desk.directions, plane.direction);
            here.planes.threshold.push_back(plane.threshold);
            here.planes.set.push_back(plane.set);
            if (!plane.set.empty()) {  // +-[category in set] >= +-1/2
                here.planes.directions.coefficient.back() = plane.set_right ? 1 : -1;
                here.planes.directions.weight.back() = plane.set_right ? 1.0f : -1.0f;
                here.planes.threshold.back() = plane.set_right ? 0.5f : -0.5f;
            }
            here.planes.missing_right.push_back(plane.missing_right);
            here.planes.gain.push_back(plane.gain * grown);
            // The order was learned from the sample, and says nothing of the other rows.
            here.planes.by_chance.push_back(plane.by_chance / grown);
            here.expected += plane.gain * grown;
        }
    }

    // desk.order: the splittable offered features, best first. The children's ranking: those, then the rest as before.
    std::shared_ptr<const Ranking> rank(Desk &desk, const std::shared_ptr<const Ranking> &before) const {
        desk.order.clear();
        for (std::size_t k = 0; k < desk.offered.size(); ++k)
            if (desk.chooser.splittable(k)) desk.order.push_back(k);
        desk.gain.resize(desk.offered.size());
        for (std::size_t k : desk.order) desk.gain[k] = Cut::roughly(desk.chooser.gain(k));
        std::sort(desk.order.begin(), desk.order.end(), [&](std::size_t a, std::size_t b) {
            return desk.gain[a] > desk.gain[b] || (desk.gain[a] == desk.gain[b] && a < b);
        });
        if (options_.max_features == 0 || options_.max_features >= before->size())
            return before;  // every node looks at all of them anyway
        auto after = std::make_shared<Ranking>();
        std::vector<char> seen(matrix_.columns, 0);
        for (std::size_t k : desk.order) after->push_back(desk.offered[k]);
        for (std::int32_t feature : desk.offered) seen[static_cast<std::size_t>(feature)] = 1;
        for (std::int32_t feature : *before)
            if (!seen[static_cast<std::size_t>(feature)]) after->push_back(feature);
        return after;
    }

    // At the root: the best features, which are all that the tree may use; the others are no candidates any more.
    std::shared_ptr<const Ranking> keep_best(Desk &desk) const {
        for (std::size_t k = options_.root_features; k < desk.order.size(); ++k) desk.chooser.leave_out(desk.order[k]);
        desk.order.resize(std::min(desk.order.size(), options_.root_features));
        auto best = std::make_shared<Ranking>();
        for (std::size_t k : desk.order) best->push_back(desk.offered[k]);
        return best;
    }

    // Single features that are no candidates here: all, or those outside of the drawn subspace. Categories stay.
    void leave_out_axes(Desk &desk) const {
        const Ranking &drawn = desk.proposer.subspace();
        for (std::size_t k : desk.order) {
            const std::int32_t feature = desk.offered[k];
            if (matrix_.is_categorical(static_cast<std::size_t>(feature))) continue;
            if (options_.draw.axes == Axes::none || std::find(drawn.begin(), drawn.end(), feature) == drawn.end())
                desk.chooser.leave_out(k);
        }
    }

    // ------------------------------------------------------------------------------------------------ rows to children
    struct Piece {
        std::int32_t id;
        std::size_t begin, end;
        std::vector<std::int64_t> sums;  // by code
        std::vector<std::size_t> place;  // where this piece's next row of a code goes
    };

    void route(const std::vector<std::int32_t> &ids, std::int64_t &leaves, std::vector<std::int32_t> &fresh) {
        std::vector<Piece> pieces;
        std::size_t rows = 0;
        for (std::int32_t id : ids) rows += node(id).rows();
        for (std::int32_t id : ids)
            for (std::size_t begin = node(id).begin; begin < node(id).end; begin += chunk_rows)
                pieces.push_back({id, begin, std::min(begin + chunk_rows, node(id).end), {}, {}});
        const std::size_t width = statistics_.channels();
        threads_.each(pieces.size(), rows * (8 + width), [&](std::size_t k, int) {
            Piece &piece = pieces[k];
            const NodePlanes &planes = node(piece.id).planes;
            compute_codes(matrix_, planes, &rows_[piece.begin], piece.end - piece.begin, &code_[piece.begin]);
            // Neighbouring rows often have one code, and would wait for each other's sum: two sets take turns.
            const std::size_t set = width << planes.size();
            piece.sums.assign(2 * set, 0);
            for (std::size_t i = piece.begin; i < piece.end; ++i)
                statistics_.add(statistics_.data()[rows_[i]], &piece.sums[i % 2 * set + code_[i] * width]);
            for (std::size_t c = 0; c < set; ++c) piece.sums[c] += piece.sums[set + c];
            piece.sums.resize(set);
        });
        for (std::size_t first = 0; first < pieces.size();) {
            std::size_t last = first;
            while (last < pieces.size() && pieces[last].id == pieces[first].id) ++last;
            branch(&pieces[first], &pieces[0] + last, leaves, fresh);
            first = last;
        }
        threads_.each(pieces.size(), 2 * rows, [&](std::size_t k, int) {
            Piece &piece = pieces[k];
            if (piece.place.empty()) return;
            const std::size_t kept = piece.place.size() - 1;  // bits of the planes that were kept
            for (std::size_t i = piece.begin; i < piece.end; ++i) spare_[piece.place[code_[i] & kept]++] = rows_[i];
        });
        threads_.each(pieces.size(), rows, [&](std::size_t k, int) {
            const Piece &piece = pieces[k];
            if (!piece.place.empty()) std::copy(&spare_[piece.begin], &spare_[0] + piece.end, &rows_[piece.begin]);
        });
    }

    // The cells a node's first planes make: sums by code, and the cell each code belongs to.
    struct Cells {
        std::vector<std::int64_t> rows, sums;
        std::vector<int> cell;
        std::int64_t count = 0;
        double score = 0;
    };

    Cells add_up(const Piece *first, const Piece *last, std::size_t planes) const {
        const std::size_t codes = std::size_t{1} << planes, width = statistics_.channels();
        Cells out;
        out.rows.assign(codes, 0);
        out.sums.assign(codes * width, 0);
        for (const Piece *piece = first; piece < last; ++piece)
            for (std::size_t c = 0; c * width < piece->sums.size(); ++c) {
                const std::size_t to = c & (codes - 1);
                for (std::size_t k = 0; k < width; ++k) out.sums[to * width + k] += piece->sums[c * width + k];
            }
        for (std::size_t c = 0; c < codes; ++c) out.rows[c] = statistics_.rows(&out.sums[c * width]);
        out.cell = merge_small_cells(out.rows, options_.choose.min_samples_leaf);
        for (std::size_t c = 0; c < codes; ++c) {
            if (out.cell[c] < 0 || static_cast<std::size_t>(out.cell[c]) == c) continue;
            for (std::size_t k = 0; k < width; ++k)
                out.sums[static_cast<std::size_t>(out.cell[c]) * width + k] += out.sums[c * width + k];
        }
        for (std::size_t c = 0; c < codes; ++c)
            if (out.cell[c] == static_cast<int>(c)) ++out.count, out.score += statistics_.score(&out.sums[c * width]);
        return out;
    }

    // Decides the children of one node from the sums of its pieces, or leaves it a leaf.
    void branch(Piece *first, Piece *last, std::int64_t &leaves, std::vector<std::int32_t> &fresh) {
        const std::int32_t id = first->id;
        std::size_t planes = node(id).planes.size();
        Cells cells = add_up(first, last, planes);
        // Where leaves run out, the node's first planes may still fit.
        while (planes > 1 && options_.max_leaf_nodes > 0 && leaves + cells.count - 1 > options_.max_leaf_nodes)
            cells = add_up(first, last, --planes);
        node(id).planes.keep(planes);
        const std::int64_t children = cells.count;
        const double gain = gain_of(node(id), cells);
        node(id).gain = gain;
        const std::vector<double> &by_chance = node(id).planes.by_chance;
        node(id).earned = gain - std::accumulate(by_chance.begin(), by_chance.end(), 0.0);
        node(id).chance = chance_gain(node(id), gain, static_cast<double>(children));
        if (!accept(node(id), children, leaves)) {
            node(id).planes = NodePlanes{};
            return;
        }
        leaves += children - 1;
        make_children(id, cells, fresh);
        place_rows(first, last, cells);
        if constexpr (S::can_be_bounded)
            if (!options_.monotone.empty()) {
                const std::vector<std::int32_t> &child = node(id).children;
                const auto bounds = bounds_below(node(id), node(child[0]).sum.data(), node(child[1]).sum.data());
                node(child[0]).bounds = bounds.first;
                node(child[1]).bounds = bounds.second;
            }
    }

    // What the cells gain; of constrained ones only what their bounds leave.
    double gain_of(const Node &here, const Cells &cells) const {
        if constexpr (S::can_be_bounded)
            if (!options_.monotone.empty()) {
                if (cells.count < 2) return 0.0;
                const std::int64_t *left = cells.sums.data(), *right = left + statistics_.channels();
                const auto bounds = bounds_below(here, left, right);
                return statistics_.bounded_score(left, bounds.first) + statistics_.bounded_score(right, bounds.second) -
                       statistics_.bounded_score(here.sum.data(), here.bounds);
            }
        return cells.score - statistics_.score(here.sum.data());
    }

    // Children in the order of their codes; codes that were joined share one.
    void make_children(std::int32_t id, const Cells &cells, std::vector<std::int32_t> &fresh) {
        const std::size_t codes = cells.cell.size(), width = statistics_.channels();
        std::vector<std::int32_t> child(codes, id);
        std::size_t at = node(id).begin;
        const Path path = path_below(node(id));
        for (std::size_t c = 0; c < codes; ++c) {
            if (cells.cell[c] != static_cast<int>(c)) continue;
            Node next;
            next.parent = id;
            next.depth = node(id).depth + 1;
            next.ranking = node(id).ranking;
            next.path = path;
            next.sum.assign(&cells.sums[c * width], &cells.sums[c * width] + width);
            next.begin = at;
            for (std::size_t from = 0; from < codes; ++from)
                if (cells.cell[from] == static_cast<int>(c)) child[from] = static_cast<std::int32_t>(nodes_.size());
            at += static_cast<std::size_t>(statistics_.rows(next.sum.data()));
            next.end = at;
            fresh.push_back(static_cast<std::int32_t>(nodes_.size()));
            nodes_.push_back(std::move(next));
        }
        node(id).children = std::move(child);
    }

    static Path path_below(const Node &here) {
        Path path = here.path;
        const std::vector<std::int32_t> &used = here.planes.directions.feature;  // by all of its planes
        path.use(used.data(), used.size());
        return path;
    }

    // Where each piece's rows go: into the segment of their child, code by code, in their order.
    void place_rows(Piece *first, Piece *last, const Cells &cells) {
        const std::size_t codes = cells.cell.size(), width = statistics_.channels();
        const std::vector<std::int32_t> &child = node(first->id).children;
        std::vector<std::size_t> next_place(codes, 0);
        for (std::size_t c = 0; c < codes; ++c) {
            if (cells.cell[c] < 0) continue;
            next_place[c] = node(child[c]).begin;
            for (std::size_t before = 0; before < c; ++before)
                if (cells.cell[before] == cells.cell[c]) next_place[c] += static_cast<std::size_t>(cells.rows[before]);
        }
        for (Piece *piece = first; piece < last; ++piece) {
            piece->place = next_place;
            for (std::size_t c = 0; c * width < piece->sums.size(); ++c)
                next_place[c & (codes - 1)] += static_cast<std::size_t>(statistics_.rows(&piece->sums[c * width]));
        }
    }

    // Where a plane points along a constrained column, no value on its lower side may pass the middle of both sides.
    std::pair<Bounds, Bounds> bounds_below(const Node &here, const std::int64_t *left,
                                           const std::int64_t *right) const {
        const Directions &plane = here.planes.directions;
        const int sign =
            sign_of(options_.monotone, plane.feature.data(), plane.coefficient.data(), plane.feature.size());
        return here.bounds.parted(sign, statistics_.bounded_value(left, here.bounds),
                                  statistics_.bounded_value(right, here.bounds));
    }

    bool accept(const Node &here, std::int64_t children, std::int64_t leaves) const {
        if (children < 2) return false;
        if (!(here.earned > 1e-10 * std::fabs(statistics_.impurity(here.sum.data())))) return false;
        if (here.earned < options_.min_impurity_decrease * total_weight_) return false;
        if (here.earned <= options_.choose.min_split_gain * static_cast<double>(children - 1)) return false;
        if (here.earned <= options_.choose.noise_margin * here.chance) return false;
        return options_.max_leaf_nodes == 0 || leaves + children - 1 <= options_.max_leaf_nodes;
    }

    // ------------------------------------------------------------------------------------------------ the flat tree
    Grown<S> finish() {
        // Level by level, so that parents come before children whatever the order of growth was.
        std::vector<std::int32_t> order{0}, number(nodes_.size(), 0);
        for (std::size_t k = 0; k < order.size(); ++k)
            for (std::int32_t child : node(order[k]).children) {
                if (child == order[k] || number[static_cast<std::size_t>(child)] > 0) continue;
                number[static_cast<std::size_t>(child)] = static_cast<std::int32_t>(order.size());
                order.push_back(child);
            }
        Grown<S> out;
        Forest &tree = out.tree;
        tree.n_values = tree.n_outputs = statistics_.outputs();
        tree.value.resize(order.size() * tree.n_values);
        for (std::size_t k = 0; k < order.size(); ++k) write(order[k], number, k, tree);
        tree.close_tree();
        out.leaf.assign(matrix_.rows, -1);
        for (std::size_t id = 0; id < nodes_.size(); ++id) {
            if (!nodes_[id].children.empty()) continue;
            for (std::size_t i = nodes_[id].begin; i < nodes_[id].end; ++i) out.leaf[rows_[i]] = number[id];
        }
        if (options_.prune_margin > 0) prune(number, out);
        return out;
    }

    void write(std::int32_t id, const std::vector<std::int32_t> &number, std::size_t at, Forest &tree) {
        const Node &here = node(id);
        const bool leaf = here.children.empty();
        tree.parent.push_back(here.parent < 0 ? -1 : number[static_cast<std::size_t>(here.parent)]);
        tree.depth.push_back(here.depth);
        tree.rows.push_back(static_cast<std::int64_t>(here.rows()));
        tree.weight.push_back(statistics_.weight(here.sum.data()));
        tree.impurity.push_back(statistics_.impurity(here.sum.data()));
        tree.gain.push_back(leaf ? 0.0 : here.gain);
        const double *above =
            at == 0 ? nullptr : &tree.value[static_cast<std::size_t>(tree.parent[at]) * tree.n_values];
        statistics_.value(here.sum.data(), &tree.value[at * tree.n_values], above, at == 0 ? 0.0 : options_.smoothing);
        if (leaf) {
            tree.children.push_back(static_cast<std::int32_t>(at));
        } else {
            for (std::int32_t child : here.children) tree.children.push_back(number[static_cast<std::size_t>(child)]);
            const Directions &from = here.planes.directions;
            for (std::size_t k = 0; k < here.planes.size(); ++k) {
                tree.threshold.push_back(here.planes.threshold[k]);
                tree.missing_right.push_back(here.planes.missing_right[k]);
                tree.plane_gain.push_back(here.planes.gain[k]);
                for (std::uint32_t t = from.begin(k); t < from.end(k); ++t) {
                    tree.term_feature.push_back(from.feature[t]);
                    tree.term_coefficient.push_back(from.coefficient[t]);
                    tree.term_weight.push_back(from.weight[t]);
                }
                tree.term_start.push_back(static_cast<std::int32_t>(tree.term_feature.size()));
                const auto &set = here.planes.set[k];
                tree.set_category.insert(tree.set_category.end(), set.begin(), set.end());
                tree.set_start.push_back(static_cast<std::int32_t>(tree.set_category.size()));
            }
        }
        tree.child_start.push_back(static_cast<std::int32_t>(tree.children.size()));
        tree.plane_start.push_back(static_cast<std::int32_t>(tree.threshold.size()));
    }

    // A subtree is kept when its gains are worth more than what chance would have given its planes.
    void prune(const std::vector<std::int32_t> &number, Grown<S> &out) const {
        std::vector<double> worth(nodes_.size(), 0.0);
        std::vector<char> cut(nodes_.size(), 0);
        for (std::size_t id = nodes_.size(); id-- > 0;) {
            const Node &here = nodes_[id];
            if (!here.children.empty()) {
                worth[id] +=
                    here.earned - options_.prune_margin * here.chance * static_cast<double>(here.planes.size());
                if (!(worth[id] > 0)) worth[id] = 0, cut[static_cast<std::size_t>(number[id])] = 1;
            }
            if (here.parent >= 0) worth[static_cast<std::size_t>(here.parent)] += worth[id];
        }
        const std::vector<std::int32_t> moved = out.tree.prune(cut);
        for (std::int32_t &leaf : out.leaf)
            if (leaf >= 0) leaf = moved[static_cast<std::size_t>(leaf)];
    }

    const Matrix &matrix_;
    const S &statistics_;
    GrowOptions options_;
    Threads &threads_;
    const std::function<bool()> &stop_;
    std::vector<std::unique_ptr<Desk>> desks_;
    std::vector<Node> nodes_;
    std::vector<std::uint32_t> rows_, spare_;
    std::vector<std::uint8_t> code_;
    double total_weight_ = 0;
};

}  // namespace

template <class S>
Grown<S> grow(const Matrix &matrix, const S &statistics, const GrowOptions &options, Threads &threads,
              const std::function<bool()> &stop, std::vector<std::uint32_t> rows) {
    return Grower<S>(matrix, statistics, options, threads, stop, std::move(rows)).run();
}

template Grown<Gradients> grow(const Matrix &, const Gradients &, const GrowOptions &, Threads &,
                               const std::function<bool()> &, std::vector<std::uint32_t>);
template Grown<ClassCounts> grow(const Matrix &, const ClassCounts &, const GrowOptions &, Threads &,
                                 const std::function<bool()> &, std::vector<std::uint32_t>);

}  // namespace planewise
