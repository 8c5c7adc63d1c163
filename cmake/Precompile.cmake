# What nearly every source includes is parsed once for all of them, where sources are compiled together anyway and clang
# does it; the other builds hold each source to naming what it uses.

set(precompiled_headers
    <algorithm> <array> <atomic> <charconv> <chrono> <cmath> <condition_variable> <cstdint> <cstring> <deque> <expected>
    <filesystem> <fstream> <functional> <future> <map> <memory> <mutex> <optional> <ranges> <set> <span> <sstream> <string>
    <string_view> <thread> <tuple> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
set(precompiled_test_headers <gmock/gmock.h> <gtest/gtest.h> <rapidcheck.h> <rapidcheck/gtest.h>)

if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/precompiled.cc CONTENT "")
    foreach(kind library program)
        add_library(sluice_precompiled_${kind} OBJECT EXCLUDE_FROM_ALL ${CMAKE_BINARY_DIR}/precompiled.cc)
        target_link_libraries(sluice_precompiled_${kind} PRIVATE sluice_options fmt::fmt)
        target_precompile_headers(sluice_precompiled_${kind} PRIVATE ${precompiled_headers})
        # The same bytes each time, so that ccache knows them again.
        target_compile_options(sluice_precompiled_${kind} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endforeach()
    sluice_watch_for_fuzzers(sluice_precompiled_library)
    target_link_libraries(sluice_precompiled_program PRIVATE GTest::gmock GTest::gtest rapidcheck rapidcheck_gtest)
    target_precompile_headers(sluice_precompiled_program PRIVATE ${precompiled_test_headers})
endif()

# sluice_precompile(TARGET library|program): programs are mostly tests, and get what those include.
function(sluice_precompile target kind)
    if(TARGET sluice_precompiled_${kind})
        target_precompile_headers(${target} REUSE_FROM sluice_precompiled_${kind})
    endif()
endfunction()
