// The tables that a library of tensors hands to C by DLPack 1: the fields that are used here, in their order.
#pragma once

#include <cstdint>

namespace varlen::bindings {

struct DlDevice {
  std::int32_t type;
  std::int32_t index;
};
constexpr std::int32_t kDlCpu = 1;
constexpr std::int32_t kDlCuda = 2;

struct DlType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};
constexpr std::uint8_t kDlInt = 0;
constexpr std::uint8_t kDlUint = 1;
constexpr std::uint8_t kDlFloat = 2;
constexpr std::uint8_t kDlBfloat = 4;
constexpr std::uint8_t kDlComplex = 5;
constexpr std::uint8_t kDlBool = 6;

struct DlTensor {
  void* data;
  DlDevice device;
  std::int32_t ndim;
  DlType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements
  std::uint64_t byte_offset;
};

struct DlVersion {
  std::uint32_t major;
  std::uint32_t minor;
};

/// A tensor and what is to be done when it is no longer needed.
struct DlManagedTensor {
  DlVersion version;
  void* context;
  void (*deleter)(DlManagedTensor* self);
  std::uint64_t flags;
  DlTensor tensor;
};

/// What the type of tensors has as `__dlpack_c_exchange_api__`.
struct DlExchange {
  DlVersion version;
  DlExchange* older;
  /// Fresh memory beside what the prototype says of device, dtype and shape.
  int (*allocate)(DlTensor* prototype, DlManagedTensor** out, void* error,
                  void (*set_error)(void* error, const char* kind, const char* message));
  void* managed_from_object;
  int (*object_from_managed)(DlManagedTensor* stolen, void** object);
  int (*view)(void* object, DlTensor* out);  ///< lives as long as the object; may be missing
  int (*stream)(std::int32_t device_type, std::int32_t device_index, void** out);  ///< the current one
};

}  // namespace varlen::bindings
