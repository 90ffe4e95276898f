# The core as a C++ library of its own: find_package(varlen) gives varlen::varlen. Its component is `library`, which
# wheels leave out.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set_target_properties(varlen_kernels PROPERTIES EXPORT_NAME varlen OUTPUT_NAME varlen)
target_compile_features(varlen_kernels PUBLIC cxx_std_20)
set(VARLEN_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/varlen)
set(VARLEN_PACKAGE_FILES ${CMAKE_CURRENT_BINARY_DIR}/package)

configure_package_config_file(cpp/varlenConfig.cmake.in ${VARLEN_PACKAGE_FILES}/varlenConfig.cmake
  INSTALL_DESTINATION ${VARLEN_PACKAGE_DIR} NO_SET_AND_CHECK_MACRO NO_CHECK_REQUIRED_COMPONENTS_MACRO)
string(REGEX MATCH "^[0-9.]*[0-9]" VARLEN_PACKAGE_VERSION "${VARLEN_VERSION}")
write_basic_package_version_file(${VARLEN_PACKAGE_FILES}/varlenConfigVersion.cmake
  VERSION ${VARLEN_PACKAGE_VERSION} COMPATIBILITY SameMinorVersion)

install(TARGETS varlen_kernels EXPORT varlenTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library)
install(EXPORT varlenTargets NAMESPACE varlen:: DESTINATION ${VARLEN_PACKAGE_DIR} COMPONENT library)
install(FILES ${VARLEN_PACKAGE_FILES}/varlenConfig.cmake ${VARLEN_PACKAGE_FILES}/varlenConfigVersion.cmake
  DESTINATION ${VARLEN_PACKAGE_DIR} COMPONENT library)
install(DIRECTORY cpp/include/varlen DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")
