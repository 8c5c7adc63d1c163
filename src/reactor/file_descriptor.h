#pragma once

#include <utility>

#include <unistd.h>

namespace sluice::reactor {

/// Owns a file descriptor and closes it.
class FileDescriptor {
public:
    FileDescriptor() = default;
    explicit FileDescriptor(int raw) : raw_(raw) {}
    FileDescriptor(FileDescriptor&& other) noexcept : raw_(std::exchange(other.raw_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&& other) noexcept {
        std::swap(raw_, other.raw_);
        other.close();
        return *this;
    }
    ~FileDescriptor() { close(); }

    int raw() const { return raw_; }
    bool is_open() const { return raw_ >= 0; }

    void close() {
        if (is_open()) {
            ::close(std::exchange(raw_, -1));
        }
    }

private:
    int raw_ = -1;
};

} // namespace sluice::reactor
