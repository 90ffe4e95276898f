#include "varlen/model/values.hpp"

#include <cstring>
#include <utility>

#include "varlen/header.hpp"

namespace varlen {

Element element_of(Type type) noexcept {
  constexpr Tag tags[] = {Tag::boolean, Tag::i8,  Tag::i16, Tag::i32,  Tag::i64, Tag::u8, Tag::u16,
                          Tag::u32,     Tag::u64, Tag::f16, Tag::bf16, Tag::f32, Tag::f64};
  const TagName& tag = kTags[static_cast<std::size_t>(tags[static_cast<std::size_t>(type)])];
  return {tag.name, tag.bytes, type};
}

ElementValues::ElementValues(Element element, std::vector<std::int64_t> shape, const std::byte* data,
                             std::int64_t count, std::shared_ptr<const void> owner)
    : element_(element), shape_(std::move(shape)), owner_(std::move(owner)) {
  std::int64_t width = element.bytes;
  for (const std::int64_t size : shape_) width *= size;
  rows_ = {data, count, width};
}

std::shared_ptr<ElementValues> ElementValues::copy(Element element, std::vector<std::int64_t> shape,
                                                   const void* data, std::int64_t count) {
  std::int64_t width = element.bytes;
  for (const std::int64_t size : shape) width *= size;
  auto memory = std::make_shared<Buffer>(buffer_of(count, width));
  std::byte* const to = memory->data();
  if (memory->size() > 0) std::memcpy(to, data, static_cast<std::size_t>(memory->size()));
  return std::make_shared<ElementValues>(element, std::move(shape), to, count, std::move(memory));
}

bool ElementValues::same_element(const Values& other) const {
  const auto* const peer = dynamic_cast<const ElementValues*>(&other);
  return peer != nullptr && peer->element_.name == element_.name;
}

bool ElementValues::same_row(const Values& other) const {
  const auto* const peer = dynamic_cast<const ElementValues*>(&other);
  return peer != nullptr && peer->shape_ == shape_;
}

std::shared_ptr<Values> ElementValues::make(std::int64_t count, std::byte*& out) const {
  auto memory = std::make_shared<Buffer>(buffer_of(count, rows_.width));
  out = memory->data();
  return std::make_shared<ElementValues>(element_, shape_, out, count, std::move(memory));
}

std::shared_ptr<const Values> ElementValues::part(Range rows) const {
  return std::make_shared<ElementValues>(element_, shape_, rows_.data + rows.begin * rows_.width, rows.size(),
                                         owner_);
}

}  // namespace varlen
