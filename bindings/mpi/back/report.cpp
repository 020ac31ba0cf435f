// SPDX-License-Identifier: BSD-3-Clause
#include "report.hpp"

#include <array>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "real.hpp"

namespace tutti::mpi::report {
namespace {

enum Field : std::uint8_t { calls_by_mpi, calls_by_tutti, time_by_mpi, time_by_tutti, bytes, saved };
constexpr std::size_t fields = 6;
constexpr std::size_t rows = static_cast<std::size_t>(kinds) * forms * size_classes;
constexpr std::size_t visits = rows * fields, visiting = visits + 1, first_reason = visits + 2,
                      numbers = first_reason + reasons;

/// All there is to say, as a list of numbers that are added up over the ranks. Relaxed: they are read at the end.
std::array<std::atomic<std::int64_t>, numbers>& counted() {
  static auto& all = *std::make_unique<std::array<std::atomic<std::int64_t>, numbers>>().release();
  return all;
}

void add(std::size_t index, std::int64_t amount) { counted()[index].fetch_add(amount, std::memory_order_relaxed); }

std::size_t row_of(Kind kind, Form form, int size_class) {
  return ((static_cast<std::size_t>(kind) * forms + static_cast<std::size_t>(form)) * size_classes +
          static_cast<std::size_t>(size_class)) *
         fields;
}

constexpr std::array<std::string_view, reasons> why{"of one rank",           "between hosts",
                                                    "with a GPU runtime",    "between two groups",
                                                    "without shared memory", "with ranks of another world"};

std::string size_name(int size_class) {
  if (size_class == 0) return "any";
  const Count least = smallest_of(size_class);
  if (least >= 1 << 20) return std::to_string(least >> 20) + "M";
  return least >= 1024 ? std::to_string(least >> 10) + "K" : std::to_string(least);
}

struct Totals {
  std::vector<std::int64_t> sum, least, most;
  int ranks = 1, rank = 0;
};

/// The times of both sides of each row, for how uneven the ranks are.
std::vector<std::int64_t> times_of(const std::vector<std::int64_t>& all) {
  std::vector<std::int64_t> times(rows);
  for (std::size_t row = 0; row < rows; ++row)
    times[row] = all[row * fields + time_by_mpi] + all[row * fields + time_by_tutti];
  return times;
}

Totals add_up() {
  Totals totals;
  std::vector<std::int64_t> mine;
  for (const auto& number : counted()) mine.push_back(number.load(std::memory_order_relaxed));
  const std::vector<std::int64_t> times = times_of(mine);
  totals.sum.resize(numbers);
  totals.least.resize(rows);
  totals.most.resize(rows);
  real.Comm_size(MPI_COMM_WORLD, &totals.ranks);
  real.Comm_rank(MPI_COMM_WORLD, &totals.rank);
  real.Allreduce(mine.data(), totals.sum.data(), static_cast<int>(numbers), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  real.Allreduce(times.data(), totals.least.data(), static_cast<int>(rows), MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD);
  real.Allreduce(times.data(), totals.most.data(), static_cast<int>(rows), MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
  return totals;
}

double milliseconds(std::int64_t sum, int ranks) { return static_cast<double>(sum) / ranks / 1e6; }

void print_row(const Totals& totals, std::size_t row) {
  const std::int64_t* one = &totals.sum[row * fields];
  if (one[calls_by_mpi] + one[calls_by_tutti] == 0) return;
  const auto of_collective = row / size_classes;
  std::string name(name_of(static_cast<Kind>(of_collective / forms)));
  if (static_cast<Form>(of_collective % forms) == Form::starting) name.insert(0, 1, 'i');
  const int size = static_cast<int>(row % size_classes);
  const double uneven = totals.most[row] == 0 ? 0
                                              : 100.0 * static_cast<double>(totals.most[row] - totals.least[row]) /
                                                    static_cast<double>(totals.most[row]);
  std::fprintf(stderr, "%-22s %5s %10lld %10lld %9.1f %11.3f %11.3f %11.3f %6.0f %%\n", name.c_str(),
               size_name(size).c_str(), static_cast<long long>(one[calls_by_mpi] / totals.ranks),
               static_cast<long long>(one[calls_by_tutti] / totals.ranks),
               static_cast<double>(one[bytes]) / totals.ranks / 1e6, milliseconds(one[time_by_mpi], totals.ranks),
               milliseconds(one[time_by_tutti], totals.ranks), milliseconds(one[saved], totals.ranks), uneven);
}

}  // namespace

void call(Kind kind, Form form, int size_class, Side side, const Cost& cost) {
  const std::size_t row = row_of(kind, form, size_class), of_side = static_cast<std::size_t>(side);
  add(row + calls_by_mpi + of_side, 1);
  add(row + time_by_mpi + of_side, cost.nanoseconds);
  add(row + bytes, std::max<Count>(cost.bytes, 0));
  add(row + saved, cost.saved);
}

void more(Kind kind, Form form, int size_class, Side side, std::int64_t nanoseconds) {
  add(row_of(kind, form, size_class) + time_by_mpi + static_cast<std::size_t>(side), nanoseconds);
}

void passed_on(Reason reason) { add(first_reason + static_cast<std::size_t>(reason), 1); }

void visited(std::int64_t nanoseconds) {
  add(visits, 1);
  add(visiting, nanoseconds);
}

void print() {
  const Totals totals = add_up();
  if (totals.rank != 0) return;
  std::fprintf(stderr, "tutti: collectives of %d ranks; calls, MB and ms are the mean of a rank\n", totals.ranks);
  std::fprintf(stderr, "%-22s %5s %10s %10s %9s %11s %11s %11s %8s\n", "collective", "from", "by MPI", "by Tutti", "MB",
               "ms in MPI", "ms in Tutti", "ms saved", "uneven");
  for (std::size_t row = 0; row < rows; ++row) print_row(totals, row);
  std::fprintf(stderr, "The MPI was visited %lld times while Tutti waited, %.3f ms.\n",
               static_cast<long long>(totals.sum[visits] / totals.ranks),
               milliseconds(totals.sum[visiting], totals.ranks));
  for (std::size_t i = 0; i < why.size(); ++i)
    if (totals.sum[first_reason + i] > 0)
      std::fprintf(stderr, "Passed on: communicators %s (%lld, counted on each rank).\n", std::string(why[i]).c_str(),
                   static_cast<long long>(totals.sum[first_reason + i]));
}

}  // namespace tutti::mpi::report
