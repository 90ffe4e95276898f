// Files that are opened without Python: written here byte by byte, whole or damaged.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "check.hpp"
#include "joint_draw.hpp"
#include "varlen/model/error.hpp"
#include "varlen/model/file.hpp"

namespace {

using varlen::Error;
using varlen::Fault;
using varlen::Joint;
using varlen::test::draw;
using varlen::test::DrawnJoint;
using varlen::test::Ints;
using varlen::test::Lists;
using varlen::test::lists_of;

/// A file of one tensor after another; gone with the object.
class TempFile {
 public:
  TempFile() {
    static int count = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("varlen_joint_file_" + std::to_string(draw(0, INT64_MAX - 1)) + "_" + std::to_string(count++)))
                .string();
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  ~TempFile() { std::remove(path_.c_str()); }

  template <class T>
  void add(const std::string& name, const char* dtype, const std::vector<T>& numbers) {
    const std::size_t begin = data_.size();
    data_.resize(begin + numbers.size() * sizeof(T));
    if (!numbers.empty()) std::memcpy(data_.data() + begin, numbers.data(), numbers.size() * sizeof(T));
    header_ += std::string(header_.empty() ? "{" : ",") + "\"" + name + "\":{\"dtype\":\"" + dtype +
               "\",\"shape\":[" + std::to_string(numbers.size()) + "],\"data_offsets\":[" +
               std::to_string(begin) + "," + std::to_string(data_.size()) + "]}";
  }
  [[nodiscard]] const std::string& path(std::size_t shift = 0) {
    std::string text = header_ + "}";
    while ((text.size() + 8) % 8 != shift) text += ' ';
    const auto size = static_cast<std::uint64_t>(text.size());
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(&size), 8);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.write(data_.data(), static_cast<std::streamsize>(data_.size()));
    return path_;
  }

 private:
  std::string path_;
  std::string header_;
  std::vector<char> data_;
};

Fault fault_of_opening(const std::string& path) {
  try {
    (void)varlen::open_joint(path);
  } catch (const Error& error) {
    return error.fault();
  }
  return Fault::type;
}

}  // namespace

TEST(joint_file, gives_what_was_written) {
  for (int turn = 0; turn < 60; ++turn) {
    const DrawnJoint sample(static_cast<int>(draw(0, 3)), draw(0, 6), 3, true);
    const Lists lists = lists_of(sample.joint);
    TempFile file;
    const bool narrow = turn % 3 == 0;
    const bool lengths_alone = turn % 5 == 0;
    for (int d = 1; d <= lists.depth(); ++d) {
      const std::string dim = std::string("dim") + std::to_string(d);
      const Ints& lengths = lists.lengths[static_cast<std::size_t>(d - 1)];
      Ints ends;
      for (const std::int64_t n : lengths) ends.push_back((ends.empty() ? 0 : ends.back()) + n);
      if (turn % 2 == 0) file.add(dim + "/lengths", "I64", lengths);
      if (turn % 2 == 0 && lengths_alone) continue;
      if (narrow) {
        file.add(dim + "/bounds", "I32", std::vector<std::int32_t>(ends.begin(), ends.end()));
      } else {
        file.add(dim + "/bounds", "I64", ends);
      }
    }
    for (const auto& [name, key] : lists.keys)
      file.add(std::string("dim") + std::to_string(key.first) + "/" + name, "I32", key.second);
    const Joint file_joint = varlen::open_joint(file.path(turn % 4 == 1 ? 4 : 0));
    CHECK(lists_of(file_joint) == lists);
    if (file_joint.size() > 0) CHECK(lists_of(file_joint.slice(1, 3)) == lists_of(sample.joint.slice(1, 3)));
  }
}

TEST(joint_file, what_does_not_nest_is_refused) {
  CHECK(fault_of_opening("/nowhere/at/all") == Fault::system);
  CHECK(fault_of_opening("/") == Fault::format);
  TempFile no_bounds;
  no_bounds.add("dim1/a", "I64", Ints{1, 2});
  CHECK(fault_of_opening(no_bounds.path()) == Fault::format);
  TempFile wrong_end;
  wrong_end.add("dim1/bounds", "I64", Ints{1, 3});
  wrong_end.add("dim1/a", "I64", Ints{1, 2});
  CHECK(fault_of_opening(wrong_end.path()) == Fault::format);
  TempFile cut;
  cut.add("dim0/a", "I64", Ints{1, 2});
  const std::string path = cut.path();
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 8);
  CHECK(fault_of_opening(path) == Fault::format);
  std::filesystem::resize_file(path, 3);
  CHECK(fault_of_opening(path) == Fault::format);
}

TEST(joint_file, falling_bounds_are_refused_where_they_are_read) {
  TempFile file;
  file.add("dim1/bounds", "I64", Ints{2, 5, 3, 6});
  file.add("dim1/a", "I32", std::vector<std::int32_t>{1, 2, 3, 4, 5, 6});
  const Joint joint = varlen::open_joint(file.path());
  CHECK_EQ(joint.row(0).size(), 2);
  const auto is_refused = [](const auto& read) {
    try {
      read();
    } catch (const Error& error) {
      return error.fault() == Fault::value;
    }
    return false;
  };
  CHECK(is_refused([&] { (void)joint.row(2); }));
  // First and last row of a slice fit, one between them does not.
  Ints bounds(4);
  CHECK(is_refused([&] { joint.bounds(1, bounds.data()); }));
  CHECK(is_refused([&] { (void)joint.level(1); }));
  CHECK(is_refused([&] { joint.slice(1, 4).bounds(1, bounds.data()); }));
  CHECK(!is_refused([&] { joint.slice(0, 2).bounds(1, bounds.data()); }));
  CHECK(!is_refused([&] { joint.slice(3, 4).bounds(1, bounds.data()); }));
}
