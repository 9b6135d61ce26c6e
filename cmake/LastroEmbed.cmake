# SPDX-License-Identifier: MIT
# Files that become part of a library: each is prepared by lastro-embed (JSON: minified with its numbers' text kept,
# {"$fragment": "NAME"} replaced by schemas/fragments/NAME.json) and pulled in by the assembler.
#
#   lastro_embed(TARGET contract_x=JSON:schemas/x.json embedded_y=RAW:some/file …)
#
# The target gets embedded.h:  extern const char SYMBOL[];  (NUL-terminated)  extern const size_t SYMBOL_size;
enable_language(ASM)

set(LASTRO_FRAGMENTS ${CMAKE_SOURCE_DIR}/schemas/fragments)

function(lastro_embed target)
  set(dir ${CMAKE_CURRENT_BINARY_DIR}/embed_${target})
  file(GLOB fragments CONFIGURE_DEPENDS ${LASTRO_FRAGMENTS}/*.json)
  set(header "/* Made by the build. */\n#pragma once\n#include <stddef.h>\n")
  set(asm "/* Made by the build. */\n.section .rodata\n")
  set(blobs "")
  foreach(item IN LISTS ARGN)
    string(REGEX MATCH "^([a-z0-9_]+)=(JSON|RAW):(.+)$" ok "${item}")
    if(NOT ok)
      message(FATAL_ERROR "lastro_embed: '${item}' is not SYMBOL=JSON:FILE or SYMBOL=RAW:FILE")
    endif()
    set(symbol ${CMAKE_MATCH_1})
    string(TOLOWER ${CMAKE_MATCH_2} mode)
    cmake_path(ABSOLUTE_PATH CMAKE_MATCH_3 BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE source)
    set(blob ${dir}/${symbol}.blob)
    add_custom_command(OUTPUT ${blob}
      COMMAND lastro-embed ${mode} ${source} ${LASTRO_FRAGMENTS} ${blob}
      DEPENDS lastro-embed ${source} ${fragments} VERBATIM)
    list(APPEND blobs ${blob})
    string(APPEND header "extern const char ${symbol}[];\nextern const size_t ${symbol}_size;\n")
    string(APPEND asm ".balign 8\n.global ${symbol}\n.hidden ${symbol}\n.type ${symbol}, %object\n${symbol}:\n"
      ".incbin \"${blob}\"\n${symbol}_end:\n.byte 0\n.size ${symbol}, ${symbol}_end - ${symbol}\n"
      ".balign 8\n.global ${symbol}_size\n.hidden ${symbol}_size\n.type ${symbol}_size, %object\n"
      "${symbol}_size:\n.quad ${symbol}_end - ${symbol}\n.size ${symbol}_size, 8\n")
  endforeach()
  string(APPEND asm ".section .note.GNU-stack,\"\",%progbits\n")
  file(MAKE_DIRECTORY ${dir})
  file(CONFIGURE OUTPUT ${dir}/embedded.h CONTENT "${header}" @ONLY)
  file(CONFIGURE OUTPUT ${dir}/embedded.s CONTENT "${asm}" @ONLY)
  set_source_files_properties(${dir}/embedded.s PROPERTIES OBJECT_DEPENDS "${blobs}" LANGUAGE ASM
    COMPILE_OPTIONS "-w;-fno-lto")
  add_custom_target(${target}_blobs DEPENDS ${blobs})
  add_dependencies(${target} ${target}_blobs)
  target_sources(${target} PRIVATE ${dir}/embedded.s)
  target_include_directories(${target} PRIVATE ${dir})
endfunction()
