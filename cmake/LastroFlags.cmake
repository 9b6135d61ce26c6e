# SPDX-License-Identifier: MIT
# One place for what every compilation of ours gets.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
                    -Wvla -Wformat=2 -Wundef -fno-common -fvisibility=hidden -fno-omit-frame-pointer)
if(LASTRO_WERROR)
  add_compile_options(-Werror)
endif()
add_compile_definitions(_GNU_SOURCE)
add_link_options(-Wl,-z,relro,-z,now)
if(LASTRO_SANITIZE)
  add_compile_options(-fsanitize=${LASTRO_SANITIZE} -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${LASTRO_SANITIZE})
else()
  add_link_options(-Wl,--as-needed)
  if(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_definitions(_FORTIFY_SOURCE=2)
    add_compile_options(-fstack-protector-strong)
  endif()
endif()
