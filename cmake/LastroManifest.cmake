# SPDX-License-Identifier: MIT
# build/manifest.json: the committed manifest plus the hashes of the plugins just built.
if(EXISTS ${CMAKE_SOURCE_DIR}/manifest.json AND TARGET lastro)
  get_property(plugins GLOBAL PROPERTY LASTRO_PLUGINS)
  set(shipped "")
  foreach(plugin IN LISTS plugins)
    get_target_property(where ${plugin} LIBRARY_OUTPUT_DIRECTORY)
    if(where STREQUAL "${CMAKE_BINARY_DIR}/plugins")
      list(APPEND shipped ${plugin})
    endif()
  endforeach()
  set(files "")
  foreach(plugin IN LISTS shipped)
    list(APPEND files $<TARGET_FILE:${plugin}>)
  endforeach()
  add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/manifest.json
    COMMAND lastro manifest hash --manifest ${CMAKE_SOURCE_DIR}/manifest.json --plugins ${CMAKE_BINARY_DIR}/plugins
            --output ${CMAKE_BINARY_DIR}/manifest.json
    DEPENDS lastro ${shipped} ${files} ${CMAKE_SOURCE_DIR}/manifest.json VERBATIM)
  add_custom_target(build_manifest ALL DEPENDS ${CMAKE_BINARY_DIR}/manifest.json)
endif()
