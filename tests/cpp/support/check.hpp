// A test runner in one header: TEST(noun, law) { CHECK(...); CHECK_EQ(a, b); }
// The binary runs every test whose "noun.law" begins with its argument, and fails if there is none.
#pragma once

#include <iostream>
#include <string>
#include <vector>

namespace varlen::test {

struct Case {
  std::string name;
  void (*run)();
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Registration {
  Registration(const char* noun, const char* law, void (*run)()) {
    cases().push_back({std::string(noun) + "." + law, run});
  }
};

inline void fail(const char* file, int line, const std::string& text) {
  ++failures();
  std::cerr << file << ":" << line << ": " << text << "\n";
}

template <class A, class B>
void check_eq(const A& a, const B& b, const char* text, const char* file, int line) {
  if (a == b) return;
  std::cerr << "  left " << a << ", right " << b << "\n";
  fail(file, line, text);
}

inline int run_all(const char* filter) {
  int ran = 0;
  for (const Case& test : cases()) {
    if (filter != nullptr && !test.name.starts_with(filter)) continue;
    const int n_before = failures();
    test.run();
    ++ran;
    std::cout << (failures() == n_before ? "ok   " : "FAIL ") << test.name << "\n";
  }
  std::cout << ran << " tests, " << failures() << " failed checks\n";
  return ran > 0 && failures() == 0 ? 0 : 1;
}

}  // namespace varlen::test

#define TEST(noun, law)                                                                   \
  static void noun##_##law();                                                             \
  static const varlen::test::Registration noun##_##law##_case(#noun, #law, noun##_##law); \
  static void noun##_##law()
#define CHECK(condition) \
  if (!(condition)) varlen::test::fail(__FILE__, __LINE__, "CHECK(" #condition ")")
#define CHECK_EQ(a, b) varlen::test::check_eq((a), (b), "CHECK_EQ(" #a ", " #b ")", __FILE__, __LINE__)
