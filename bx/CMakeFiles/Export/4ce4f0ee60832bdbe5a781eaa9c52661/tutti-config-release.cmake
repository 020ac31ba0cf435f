#----------------------------------------------------------------
# Generated CMake target import file for configuration "Release".
#----------------------------------------------------------------

# Commands may need to know the format version.
set(CMAKE_IMPORT_FILE_VERSION 1)

# Import target "tutti::tutti" for configuration "Release"
set_property(TARGET tutti::tutti APPEND PROPERTY IMPORTED_CONFIGURATIONS RELEASE)
set_target_properties(tutti::tutti PROPERTIES
  IMPORTED_LOCATION_RELEASE "${_IMPORT_PREFIX}/lib/libtutti.so.0.1.0"
  IMPORTED_SONAME_RELEASE "libtutti.so.0.1"
  )

list(APPEND _cmake_import_check_targets tutti::tutti )
list(APPEND _cmake_import_check_files_for_tutti::tutti "${_IMPORT_PREFIX}/lib/libtutti.so.0.1.0" )

# Commands beyond this point should not need to know the version.
set(CMAKE_IMPORT_FILE_VERSION)
