// SPDX-License-Identifier: BSD-3-Clause
#include "synthetic.hpp"

#include <algorithm>
#include <stdexcept>

#include "collectives/collective.hpp"
#include "tune/table.hpp"

namespace tutti::tuner {

Candidate steady(const std::string& algorithm, double time) {
  return {algorithm, {}, std::vector<double>(9, time), false};
}

Measurements lawful() {
  const tune::Table standard = tune::Table::parse(tune::Table::standard({}));
  Measurements found;
  found.machine = "Imaginary, 4 cores, single copy";
  found.date = "2026-01-02 03:04 UTC";
  found.version = "0";
  for (const Form& form : forms())
    for (const Rank ranks : {2, 4})
      for (const Count bytes : form.kind == Kind::barrier ? std::vector<Count>{0} : sizes) {
        const CallShape shape(form.kind, ranks, bytes);
        const Count volume = bytes * (form.all_input || form.all_output ? ranks : 1);
        const std::string name = tune::text_of(standard.choose(shape.of(0), form.kind, shape.table_bytes(), true));
        const double time = 1000 + static_cast<double>(volume) + 10 * static_cast<double>(ranks);
        found.points.push_back({form.kind, ranks, bytes, {steady(name, time)}});
      }
  for (const Count bytes : sizes) found.combining.push_back({bytes, 1});
  return found;
}

Point& point_of(Measurements& measurements, Kind kind, Rank ranks, Count bytes) {
  const Point* found = measurements.at(kind, ranks, bytes);
  if (found == nullptr) throw std::logic_error("no such point");
  return measurements.points[static_cast<std::size_t>(found - measurements.points.data())];
}

Folder::Folder() {
  std::string name = (std::filesystem::temp_directory_path() / "tutti-test-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder for the test");
  path_ = name;
  setenv("XDG_CACHE_HOME", path_.c_str(), 1);
  unsetenv("TUTTI_TABLE");
}

Folder::~Folder() {
  unsetenv("XDG_CACHE_HOME");
  std::filesystem::remove_all(path_);
}

}  // namespace tutti::tuner
