// SPDX-License-Identifier: BSD-3-Clause
// Making, attaching and mapping a segment; what attach refuses.
#include "host/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <functional>
#include <new>
#include <thread>

#include "base/random.hpp"
#include "base/sanitizers.hpp"
#include "child.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

using test::Child;

constexpr std::uint64_t job = 77;

std::string refusal(int descriptor, std::uint64_t of_job = job) {
  try {
    Segment::attach(descriptor, of_job);
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::system);
    return error.what();
  }
  return "accepted";
}

/// A sealed copy of a good segment's header in a file of `size` bytes, damaged by `damage`.
int forged(const std::function<void(Header&)>& damage, std::uint64_t size = std::uint64_t{64} << 30, int seals = -1) {
  const auto good = Segment::create(3, job);
  alignas(Header) std::byte bytes[sizeof(Header)];
  std::memcpy(bytes, good->at(0, sizeof bytes), sizeof bytes);
  damage(*std::launder(reinterpret_cast<Header*>(bytes)));
  const int descriptor = memfd_create("forged", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  EXPECT_EQ(ftruncate(descriptor, static_cast<off_t>(size)), 0);
  EXPECT_GT(pwrite(descriptor, bytes, std::min<std::size_t>(size, sizeof bytes), 0), -1);
  EXPECT_EQ(fcntl(descriptor, F_ADD_SEALS, seals < 0 ? F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL : seals), 0);
  return descriptor;
}

std::string refusal_of(const std::function<void(Header&)>& damage) { return refusal(forged(damage)); }

TEST(Segment, IsSeenByAllWhoAttach) {
  const auto made = Segment::create(4, job);
  EXPECT_EQ(made->capacity(), std::uint64_t{64} << 30) << made->why();
  const Offset place = made->allocate(100);
  std::memcpy(made->at(place, 100), "hello", 6);
  Child child([&] {
    const auto attached = Segment::attach(dup(made->descriptor()), job);
    if (attached->size() != 4 || attached->header().job != job) return false;
    return std::memcmp(attached->at(place, 100), "hello", 6) == 0;
  });
  EXPECT_TRUE(child.good());
}

TEST(Segment, CannotShrinkNorGrowAndIsClosedOnExec) {
  const auto made = Segment::create(2, job);
  EXPECT_NE(ftruncate(made->descriptor(), 4096), 0);
  EXPECT_NE(ftruncate(made->descriptor(), off_t{65} << 30), 0);
  EXPECT_EQ(fcntl(made->descriptor(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST(Segment, AttachRefusesWhatIsNoSegment) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_NE(refusal(ends[0]).find("not memory"), std::string::npos);
  close(ends[1]);
  EXPECT_NE(refusal(open("/proc/self/exe", O_RDONLY)).find("not sealed"), std::string::npos);
  EXPECT_NE(refusal(-1).find("refused"), std::string::npos);
  EXPECT_NE(refusal(forged([](Header&) {}, 64)).find("too short"), std::string::npos);
  EXPECT_NE(refusal(forged([](Header&) {}, std::uint64_t{64} << 30, F_SEAL_GROW)).find("not sealed"),
            std::string::npos);
  EXPECT_NE(refusal(forged([](Header&) {}), job + 1).find("another job"), std::string::npos);
  EXPECT_EQ(refusal(forged([](Header&) {})), "accepted");
}

TEST(Segment, AttachRefusesADamagedHeader) {
  EXPECT_NE(refusal_of([](Header& h) { h.magic++; }).find("start like"), std::string::npos);
  EXPECT_NE(refusal_of([](Header& h) { h.version++; }).find("wire version " + std::to_string(wire_version + 1)),
            std::string::npos);
  for (const std::int32_t size : {0, -1, 1 << 30, 4})
    EXPECT_NE(refusal_of([=](Header& h) { h.size = size; }), "accepted") << size;
  EXPECT_NE(refusal_of([](Header& h) { h.capacity /= 2; }).find("not the file's"), std::string::npos);
  for (Offset Header::*field : {&Header::processes, &Header::links, &Header::pairs, &Header::heap})
    for (const Offset wrong : {Offset{0}, Offset{4097}, ~Offset{0}})
      EXPECT_NE(refusal_of([=](Header& h) { h.*field = wrong; }).find("wrong places"), std::string::npos);
  const std::uint64_t tiny = 128 * 1024;
  EXPECT_NE(refusal(forged(
                        [=](Header& h) {
                          const Layout parts = layout(h.size, tiny);
                          h.capacity = tiny;
                          h.processes = parts.processes, h.links = parts.links;
                          h.pairs = parts.pairs, h.heap = parts.heap;
                        },
                        tiny))
                .find("too small"),
            std::string::npos);
}

TEST(Segment, RandomHeadersAreRefused) {
  const std::uint64_t seed = 20260101;
  RecordProperty("seed", static_cast<int>(seed));
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  base::Random random(seed);
  const auto good = Segment::create(3, job);
  constexpr std::size_t fixed = offsetof(Header, heap) + sizeof(Offset);
  for (int round = 0; round < 20000; ++round) {
    alignas(Header) std::byte bytes[sizeof(Header)];
    std::memcpy(bytes, good->at(0, sizeof bytes), sizeof bytes);
    const std::size_t place = random.below(fixed);
    bytes[place] ^= static_cast<std::byte>(1 + random.below(255));
    const Header& header = *std::launder(reinterpret_cast<const Header*>(bytes));
    ASSERT_NE(check(header, good->capacity(), job), "") << "byte " << place;
  }
}

TEST(Segment, RangesOutsideAreRefused) {
  const auto made = Segment::create(2, job);
  const std::uint64_t end = made->capacity();
  for (const auto& [offset, bytes] :
       {std::pair<Offset, std::size_t>{end, 0}, {end - 1, 2}, {~Offset{0}, 1}, {1, ~std::size_t{0}}, {0, end + 1}})
    EXPECT_THROW(made->at(offset, bytes), Error) << offset << " " << bytes;
  *made->at(end - 1, 1) = std::byte{1};
}

TEST(Segment, AddressesStayAndCrossingRangesAreContiguous) {
  const auto made = Segment::create(2, job);
  const Offset middle = 10 * window_bytes;
  std::byte* const low = made->at(middle - page, page);
  std::byte* const high = made->at(middle, page);
  std::byte* const both = made->at(middle - page, 2 * page);
  low[0] = std::byte{1}, high[0] = std::byte{2};
  EXPECT_EQ(both[0], std::byte{1});
  EXPECT_EQ(both[page], std::byte{2});
  both[2 * page - 1] = std::byte{3};
  EXPECT_EQ(high[page - 1], std::byte{3});
  EXPECT_EQ(made->at(middle - page, page), low);
  EXPECT_EQ(made->at(middle - page, 2 * page), both);
}

TEST(Segment, ThreadsMapTheSameWindowsOnce) {
  const auto made = Segment::create(2, job);
  constexpr int threads = 4, windows = 100;
  std::vector<std::vector<std::byte*>> seen(threads);
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t)
    all.emplace_back([&, t] {
      for (std::size_t w = 0; w < windows; ++w)
        seen[static_cast<std::size_t>(t)].push_back(made->at(w * window_bytes, 8));
    });
  for (auto& thread : all) thread.join();
  for (int t = 1; t < threads; ++t) EXPECT_EQ(seen[0], seen[static_cast<std::size_t>(t)]);
}

TEST(Segment, PairsLieApartAndAreZero) {
  const auto made = Segment::create(40, job);  // 1600 pairs: more than fit one window
  for (const auto& [receiver, sender] : {std::pair{0, 0}, {24, 3}, {24, 4}, {39, 39}}) {
    const Offset place = made->header().pairs + pair_offset(40, receiver, sender);
    EXPECT_LE(place + pair_bytes, made->header().heap);
    std::byte* const bytes = made->at(place, pair_bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(bytes) % page, 0u);
    for (std::size_t i = 0; i < pair_bytes; ++i) ASSERT_EQ(bytes[i], std::byte{0}) << receiver << " " << i;
    std::memset(bytes, 1, pair_bytes);
  }
}

TEST(Segment, ALargeJobGetsALargerFile) {
  const auto made = Segment::create(1000, job);
  EXPECT_EQ(made->capacity(), std::uint64_t{256} << 30);
  EXPECT_GT(made->capacity() - made->header().heap, made->capacity() / 2);
  EXPECT_THROW(Segment::create(0, job), Error);
  EXPECT_THROW(Segment::create(max_processes + 1, job), Error);
}

TEST(Segment, RespectsTheFileSizeLimit) {
  Child child([] {
    const rlimit limit{std::uint64_t{1} << 30, std::uint64_t{1} << 30};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto made = Segment::create(2, job);
    *made->at(made->capacity() - 1, 1) = std::byte{1};
    return made->capacity() == std::uint64_t{1} << 30 && made->why().find("ulimit -f") != std::string::npos;
  });
  EXPECT_TRUE(child.good());
  Child refused([] {
    const rlimit limit{1 << 19, 1 << 19};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      Segment::create(2, job);
    } catch (const Error& error) {
      return std::string(error.what()).find("raise the limit") != std::string::npos;
    }
    return false;
  });
  EXPECT_TRUE(refused.good());
}

// A sanitizer needs terabytes of address space for itself.
#if !defined(TUTTI_ADDRESS_SANITIZER) && !defined(TUTTI_THREAD_SANITIZER)
TEST(Segment, RespectsTheAddressSpaceLimit) {
  Child child([] {
    const rlimit limit{std::uint64_t{4} << 30, std::uint64_t{4} << 30};
    setrlimit(RLIMIT_AS, &limit);
    const auto mapped = Segment::create(2, job);  // windows: no need to have it all
    const auto local = Segment::local(2, job);
    return mapped->capacity() == std::uint64_t{64} << 30 && local->capacity() <= std::uint64_t{2} << 30 &&
           local->why().find("refused") != std::string::npos;
  });
  EXPECT_TRUE(child.good());
}
#endif

TEST(Segment, CostsWhatIsTouched) {
  const auto made = Segment::create(64, job);
  struct stat status {};
  ASSERT_EQ(fstat(made->descriptor(), &status), 0);
  EXPECT_LT(status.st_blocks * 512, 256 * 1024);
}

TEST(Segment, LeavesNothingInDevShm) {
  const auto made = Segment::create(2, job);
  std::ifstream maps("/proc/self/maps");
  std::string row;
  bool found = false;
  while (std::getline(maps, row)) {
    EXPECT_EQ(row.find("/dev/shm"), std::string::npos) << row;
    found = found || row.find("/memfd:tutti") != std::string::npos;
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace tutti::host
