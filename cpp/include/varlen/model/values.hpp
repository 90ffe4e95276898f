// Rows with an owner, and what their elements are as far as one has to know to put them together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "varlen/cast.hpp"
#include "varlen/model/memory.hpp"
#include "varlen/views.hpp"

namespace varlen {

/// Values of a column. Rows move by width; what the elements are, those know who derive from this.
class Values {
 public:
  Values() = default;
  Values(const Values&) = delete;
  Values& operator=(const Values&) = delete;
  virtual ~Values() = default;

  [[nodiscard]] const Rows& rows() const noexcept { return rows_; }
  /// For conversions; none where there is none.
  [[nodiscard]] virtual std::optional<Type> type() const = 0;
  [[nodiscard]] virtual std::int64_t element_bytes() const = 0;
  /// Of one row: () for plain numbers.
  [[nodiscard]] virtual std::vector<std::int64_t> row_shape() const = 0;
  /// What errors call the elements.
  [[nodiscard]] virtual std::string element_name() const = 0;
  [[nodiscard]] virtual bool same_element(const Values& other) const = 0;
  /// As many elements a row, in the same shape.
  [[nodiscard]] virtual bool same_row(const Values& other) const = 0;
  [[nodiscard]] bool matches(const Values& other) const { return same_element(other) && same_row(other); }

  /// Uninitialised, for `count` rows like these; `out` is where they are written.
  [[nodiscard]] virtual std::shared_ptr<Values> make(std::int64_t count, std::byte*& out) const = 0;
  /// Rows [begin, end) of these, shared.
  [[nodiscard]] virtual std::shared_ptr<const Values> part(Range rows) const = 0;

 protected:
  Rows rows_;
};

/// Elements of a known width, by name ("F32", as a file's header has it).
struct Element {
  std::string_view name;  ///< of static storage
  std::int64_t bytes = 1;
  std::optional<Type> type;
};

/// The element of a type.
[[nodiscard]] Element element_of(Type type) noexcept;

/// Values in memory that an owner keeps alive: a map's, a Buffer's.
class ElementValues final : public Values {
 public:
  /// `shape` is that of a row.
  ElementValues(Element element, std::vector<std::int64_t> shape, const std::byte* data, std::int64_t count,
                std::shared_ptr<const void> owner);
  /// A copy of `count` rows.
  static std::shared_ptr<ElementValues> copy(Element element, std::vector<std::int64_t> shape,
                                             const void* data, std::int64_t count);

  [[nodiscard]] const Element& element() const noexcept { return element_; }

  [[nodiscard]] std::optional<Type> type() const override { return element_.type; }
  [[nodiscard]] std::int64_t element_bytes() const override { return element_.bytes; }
  [[nodiscard]] std::vector<std::int64_t> row_shape() const override { return shape_; }
  [[nodiscard]] std::string element_name() const override { return std::string(element_.name); }
  [[nodiscard]] bool same_element(const Values& other) const override;
  [[nodiscard]] bool same_row(const Values& other) const override;
  [[nodiscard]] std::shared_ptr<Values> make(std::int64_t count, std::byte*& out) const override;
  [[nodiscard]] std::shared_ptr<const Values> part(Range rows) const override;

 private:
  Element element_;
  std::vector<std::int64_t> shape_;
  std::shared_ptr<const void> owner_;
};

}  // namespace varlen
