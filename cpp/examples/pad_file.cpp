// Opens a file, takes some of its rows, and pads every key of them: what a server without Python does.
//
//   pad_file FILE MAX_LEN ROW...
#include <cstdint>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "varlen/model/batch_plan.hpp"
#include "varlen/model/file.hpp"

namespace {

std::string text_of(const std::vector<std::int64_t>& shape) {
  std::string text = "(";
  for (const std::int64_t size : shape) text += (text.size() == 1 ? "" : ", ") + std::to_string(size);
  return text + ")";
}

template <class T>
void print_numbers(const std::byte* data, std::int64_t count, std::int64_t a_line) {
  for (std::int64_t i = 0; i < count; ++i) {
    T number;
    std::memcpy(&number, data + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    if constexpr (sizeof(T) == 1) {
      std::cout << ' ' << static_cast<int>(number);
    } else {
      std::cout << ' ' << number;
    }
    if ((i + 1) % a_line == 0) std::cout << '\n';
  }
}

void print(varlen::Type type, const std::byte* data, std::int64_t count, std::int64_t a_line) {
  switch (type) {
    case varlen::Type::i32:
      return print_numbers<std::int32_t>(data, count, a_line);
    case varlen::Type::i64:
      return print_numbers<std::int64_t>(data, count, a_line);
    case varlen::Type::f32:
      return print_numbers<float>(data, count, a_line);
    case varlen::Type::f64:
      return print_numbers<double>(data, count, a_line);
    case varlen::Type::b1:
    case varlen::Type::u8:
      return print_numbers<std::uint8_t>(data, count, a_line);
    default:
      std::cout << " ...\n";
  }
}

void run(const std::string& path, std::int64_t max_len, const std::vector<std::int64_t>& rows) {
  const varlen::Joint file = varlen::open_joint(path);
  std::cout << file.size() << " rows, " << file.depth() << " levels\n";
  std::vector<varlen::BatchKey> keys;
  for (std::size_t c = 0; c < file.data().columns.size(); ++c) {
    const varlen::Column& column = file.data().columns[c];
    std::cout << column.name << ": dim " << file.dim(c) << ", " << column.values->element_name() << ", "
              << column.values->rows().count << " rows\n";
    keys.push_back(varlen::key_of(file, column.name));
  }

  varlen::BatchOptions options;
  options.max_len = max_len;
  const varlen::Batcher batcher({{file, path}}, std::move(keys), options);
  varlen::BatchRequest request;
  request.rows = rows.data();
  request.n = static_cast<std::int64_t>(rows.size());
  varlen::BatchPlan plan(batcher, request);
  std::vector<varlen::Buffer> memory;
  for (varlen::BatchOutput& output : plan.outputs()) {
    output.data = memory.emplace_back(output.bytes).data();
  }
  plan.run();

  for (const varlen::BatchOutput& output : plan.outputs()) {
    const auto type =
        output.key < 0 ? varlen::Type::b1 : batcher.keys()[static_cast<std::size_t>(output.key)].fill->type();
    std::cout << output.name << ' ' << text_of(output.shape) << '\n';
    std::int64_t count = 1;
    for (const std::int64_t size : output.shape) count *= size;
    if (type && count > 0) print(*type, output.data, count, output.shape.back());
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 3) {
    std::cerr << "usage: pad_file FILE MAX_LEN ROW...\n";
    return 2;
  }
  try {
    std::vector<std::int64_t> rows;
    for (int i = 3; i < count; ++i) rows.push_back(std::stoll(arguments[i]));
    run(arguments[1], std::stoll(arguments[2]), rows);
  } catch (const std::exception& error) {
    std::cerr << "pad_file: " << error.what() << '\n';
    return 1;
  }
}
