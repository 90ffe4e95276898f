// Joints against plain lists: views, rows picked anew, other shapes; damaged levels are refused.
#include <algorithm>
#include <string>

#include "check.hpp"
#include "joint_draw.hpp"
#include "varlen/model/dense.hpp"
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
using varlen::test::z;

DrawnJoint drawn_joint() {
  return DrawnJoint(static_cast<int>(draw(0, 3)), draw(0, 8), 4, draw(0, 1) == 0);
}

template <class Body>
Fault fault_in(Body body) {
  try {
    body();
  } catch (const Error& error) {
    return error.fault();
  }
  varlen::test::fail(__FILE__, __LINE__, "not refused");
  return Fault::system;
}

}  // namespace

TEST(joint_model, slices_and_picks_as_lists_do) {
  for (int turn = 0; turn < 400; ++turn) {
    const DrawnJoint sample = drawn_joint();
    const Lists complete = lists_of(sample.joint);
    const std::int64_t n = sample.joint.size();
    const std::int64_t begin = draw(0, n);
    const std::int64_t end = draw(begin, n);
    const Joint slice = sample.joint.slice(begin, end);
    Ints indices(z(end - begin));
    for (std::size_t k = 0; k < indices.size(); ++k) indices[k] = begin + static_cast<std::int64_t>(k);
    CHECK(lists_of(slice) == complete.take(indices));
    CHECK(lists_of(Joint::from_data(slice.compact())) == complete.take(indices));
    CHECK(lists_of(slice.settle_levels()) == complete.take(indices));
    if (slice.size() == 0) continue;
    Ints index(z(draw(0, 9)));
    for (auto& i : index) i = draw(-slice.size(), slice.size() - 1);
    const Lists rows = lists_of(slice.take(index.data(), std::ssize(index)));
    CHECK(rows == lists_of(slice).take(index));
    const Joint row = slice.row(-1);
    CHECK_EQ(row.depth(), slice.depth() - 1);
    if (row.depth() < 0) continue;
    CHECK_EQ(row.size(), lists_of(slice).lengths[0].back());
    CHECK(lists_of(row.unsqueeze()).lengths == lists_of(slice.slice(-1, slice.size())).lengths);
  }
}

TEST(joint_model, puts_parts_together_as_lists_are) {
  for (int turn = 0; turn < 300; ++turn) {
    const DrawnJoint sample = drawn_joint();
    const std::int64_t n = sample.joint.size();
    const Lists complete = lists_of(sample.joint);
    const std::int64_t a = draw(0, n);
    const std::int64_t b = draw(0, n);
    const Joint first = sample.joint.slice(a, n);
    const Joint last = sample.joint.slice(0, b);
    Lists want = complete.take({});
    complete.append_to(want, a, n);
    complete.append_to(want, 0, b);
    CHECK(lists_of(varlen::joint_concat({&first, &last}, false)) == want);
    const Joint stack = varlen::joint_concat({&first, &last}, true);
    CHECK_EQ(stack.depth(), sample.joint.depth() + 1);
    CHECK((lists_of(stack).lengths[0] == Ints{n - a, b}));
    CHECK(lists_of(stack.slice(0, 1).squeeze()) == lists_of(first));
    CHECK(lists_of(sample.joint.unsqueeze().squeeze()) == complete);
  }
  const DrawnJoint flat(1, 3, 2, true);
  const DrawnJoint deep(2, 3, 2, true);
  CHECK(fault_in([&] { (void)varlen::joint_concat({&flat.joint, &deep.joint}, false); }) == Fault::value);
  CHECK(fault_in([] { (void)varlen::joint_concat({}, false); }) == Fault::value);
}

TEST(joint_model, fills_what_lies_below_when_it_is_flattened) {
  for (int turn = 0; turn < 300; ++turn) {
    const DrawnJoint sample(static_cast<int>(draw(1, 3)), draw(0, 6), 3, draw(0, 1) == 0);
    const Lists complete = lists_of(sample.joint);
    const int depth = sample.joint.depth();
    const bool repeat = turn % 2 == 0;
    const Joint flat = sample.joint.flatten(repeat ? varlen::FillMode::repeat : varlen::FillMode::first);
    const Lists got = lists_of(flat);
    CHECK_EQ(flat.depth(), depth - 1);
    const auto& parents = complete.keys.at(std::string("k") + std::to_string(depth - 1)).second;
    std::vector<std::int32_t> want;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      for (std::int64_t k = 0; k < complete.lengths.back()[i]; ++k)
        want.push_back(k == 0 || repeat ? parents[i] : 0);
    }
    CHECK(got.keys.at(std::string("k") + std::to_string(depth - 1)).second == want);
    CHECK(got.keys.at(std::string("k") + std::to_string(depth)).second ==
          complete.keys.at(std::string("k") + std::to_string(depth)).second);
    CHECK_EQ(got.keys.at(std::string("k") + std::to_string(depth)).first, depth - 1);
  }
}

TEST(joint_model, shares_levels_and_values_of_the_whole) {
  const DrawnJoint sample(2, 5, 3, true);
  const Joint& joint = sample.joint;
  const Joint selection = joint.select({"k2", "k0"});
  CHECK(selection.level(1).is(joint.level(1)));
  CHECK(selection.values(0) == joint.values(2));
  CHECK_EQ(joint.select({"k1"}).depth(), 1);
  const Joint with_names = selection.rename({"a", "b"});
  CHECK_EQ(with_names.data().find("a"), 0);
  CHECK(with_names.values(0) == joint.values(2));
  const Joint extension = joint.with_column("new", 0, joint.values(0), nullptr);
  CHECK_EQ(extension.data().find("new"), 3);
  CHECK(extension.level(2).is(joint.level(2)));
}

TEST(joint_model, refuses_what_does_not_fit_together) {
  const DrawnJoint sample(1, 4, 3, true);
  const Joint& joint = sample.joint;
  CHECK(fault_in([&] { (void)joint.row(4); }) == Fault::index);
  CHECK(fault_in([&] { (void)joint.row(0).row(0).row(0); }) != Fault::system);
  CHECK(fault_in([&] { (void)joint.select({"none"}); }) == Fault::key);
  CHECK(fault_in([&] { (void)joint.rename({"a"}); }) == Fault::value);
  CHECK(fault_in([&] { (void)joint.with_column("x", 2, joint.values(0), nullptr); }) == Fault::value);
  CHECK(fault_in([&] { (void)joint.with_column("x", 0, joint.slice(0, 2).values(0), nullptr); }) ==
        Fault::value);
  CHECK(fault_in([&] { (void)joint.squeeze(); }) == Fault::value);
  const Ints far{4};
  CHECK(fault_in([&] { (void)joint.take(far.data(), 1); }) == Fault::index);
  auto data = std::make_shared<varlen::JointData>(joint.data());
  data->add_level(joint.level(1));
  CHECK((joint.level(1).total() == 4) || fault_in([&] { (void)Joint::make(data); }) == Fault::value);
}

TEST(joint_model, damaged_bounds_are_refused_or_never_used) {
  int n_refused = 0;
  for (int turn = 0; turn < 2000; ++turn) {
    const DrawnJoint sample(static_cast<int>(draw(1, 3)), draw(1, 6), 3, false);
    for (const auto& ends : sample.ends) {
      for (auto& end : *ends) {
        if (draw(0, 5) == 0) end = draw(0, 3) == 0 ? (draw(0, 1) == 0 ? INT64_MIN : INT64_MAX) : draw(-3, 30);
      }
    }
    try {
      const std::int64_t n = sample.joint.size();
      const Joint view = sample.joint.slice(draw(0, n), n);
      (void)lists_of(view);
      (void)view.flatten(varlen::FillMode::repeat);
      (void)varlen::joint_concat({&view, &view}, false);
      Ints index(z(view.size()));
      (void)view.take(index.data(), std::ssize(index));
      const varlen::DensePlan plan(view, {}, varlen::Side::right, true, true);
      for (const auto& entry : plan.entries()) {
        std::int64_t slots = 4;
        for (const std::int64_t size : plan.shape(entry.dim)) slots *= size;
        varlen::test::Bytes out(z(slots));
        plan.write(entry, {}, out.data());
      }
    } catch (const Error& error) {
      ++n_refused;
      CHECK(error.fault() == Fault::value);
    }
  }
  CHECK(n_refused > 200);
}
