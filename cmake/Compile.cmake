# How everything is compiled: warnings, sanitizers, and what makes the build quicker where it is installed.

find_program(CCACHE ccache)
if(CCACHE)
    if(CMAKE_UNITY_BUILD)
        # A batch names its sources by their whole paths: what another clone compiled would depend on that clone's.
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
    else()
        # Paths relative to the tree, so that one clone finds what another has compiled.
        set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
    endif()
endif()

add_library(sluice_options INTERFACE)
# Settings are structs filled by name: what is left out keeps its default, on purpose.
target_compile_options(sluice_options INTERFACE -Wall -Wextra -Wno-missing-field-initializers -Wpedantic
                                                -Wnon-virtual-dtor -Werror -fno-omit-frame-pointer -pthread)
target_compile_definitions(sluice_options INTERFACE $<$<CONFIG:Debug>:_GLIBCXX_ASSERTIONS>)

if(CMAKE_UNITY_BUILD)
    # Sources that are compiled together see each other's private names; other builds hold them to the rule.
    target_compile_options(sluice_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
else()
    target_compile_options(sluice_options INTERFACE -Wshadow)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # GCC 12 sees overlaps in the concatenation of strings that are not there.
    target_compile_options(sluice_options INTERFACE -Wno-restrict)
    if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
        # It clears and copies what has a few hundred bytes by an instruction that takes thirty cycles to begin.
        target_compile_options(sluice_options INTERFACE -mmemset-strategy=unrolled_loop:512:noalign,libcall:-1:noalign
                                                        -mmemcpy-strategy=unrolled_loop:256:noalign,libcall:-1:noalign)
    endif()
else()
    # The standard library of GCC 12 sorts with the help of what it has deprecated itself.
    target_compile_options(sluice_options INTERFACE -Wno-deprecated-declarations)
endif()

find_program(MOLD mold)
if(MOLD)
    target_link_options(sluice_options INTERFACE -fuse-ld=mold)
endif()

if(SLUICE_SANITIZE)
    target_compile_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all)
    target_link_options(sluice_options INTERFACE -fsanitize=${SLUICE_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Instrumented code hides from GCC what is initialized, and Boost has fences that TSan does not know.
        target_compile_options(sluice_options INTERFACE -Wno-maybe-uninitialized -Wno-tsan)
    endif()
endif()
