# What the tree is held to, as targets: check_layers is a part of every full build, check_headers of `make check`.

find_package(Python3 REQUIRED COMPONENTS Interpreter)

file(GLOB_RECURSE layered CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/src/*.h ${PROJECT_SOURCE_DIR}/src/*.cc ${PROJECT_SOURCE_DIR}/src/CMakeLists.txt
     ${PROJECT_SOURCE_DIR}/apps/*.h ${PROJECT_SOURCE_DIR}/apps/*.cc ${PROJECT_SOURCE_DIR}/apps/CMakeLists.txt)
add_custom_command(
    OUTPUT ${CMAKE_BINARY_DIR}/check_layers.stamp
    COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/check_layers.py ${PROJECT_SOURCE_DIR}
    COMMAND ${CMAKE_COMMAND} -E touch ${CMAKE_BINARY_DIR}/check_layers.stamp
    DEPENDS ${layered} ${PROJECT_SOURCE_DIR}/tools/check_layers.py
    COMMENT "Checking that includes follow the layers"
    VERBATIM)
add_custom_target(check_layers ALL DEPENDS ${CMAKE_BINARY_DIR}/check_layers.stamp)

# Each header compiles alone: sluice_module() adds its own.
add_custom_target(check_headers)
add_custom_target(all_headers)

if(BUILD_TESTING)
    foreach(check check_layers check_docs)
        add_test(NAME ${check}_test COMMAND ${Python3_EXECUTABLE} ${PROJECT_SOURCE_DIR}/tools/${check}_test.py)
    endforeach()
endif()
