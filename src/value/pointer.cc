#include "value/pointer.h"

namespace sluice::value {

std::string join_pointer(std::string_view pointer, std::string_view key) {
    auto joined = std::string{pointer} + '/';
    for (auto letter : key) {
        if (letter == '~') {
            joined += "~0";
        } else if (letter == '/') {
            joined += "~1";
        } else {
            joined += letter;
        }
    }
    return joined;
}

} // namespace sluice::value
