#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "resp/reply.h"

namespace sluice::resp {

struct Limits {
    std::size_t reply_bytes_max = 1024UL * 1024 * 1024;
    std::size_t elements_max = 16UL * 1024 * 1024;
    std::size_t depth_max = 32;
    std::size_t line_bytes_max = 64UL * 1024; ///< Of simple strings and errors.
};

/// Reads RESP2 and RESP3 as they arrive, without copying texts and without looking at any byte
/// twice: it goes on where it stopped.
class Parser {
public:
    explicit Parser(Limits limits = {}) : limits_(limits) {}

    /// `data` is what has come so far, from the first byte of the reply on; it may lie elsewhere
    /// than the last time. True when a reply is complete. Corrupt when it is none: the connection
    /// is of no use then.
    Result<bool> feed(std::string_view data);
    /// Once complete: the same data as was fed last.
    Reply reply(std::string_view data) const { return Reply{nodes_.data(), data.data(), 0}; }
    /// How many bytes the reply has taken; until it is complete, how many are understood.
    std::size_t consumed() const { return at_; }
    /// At least so many bytes are needed before feeding again helps.
    std::size_t needed() const { return needed_; }
    /// For the next reply.
    void reset();

private:
    /// A list that is not complete yet.
    struct Open {
        std::uint32_t node;
        std::size_t missing;
        bool is_attribute;
    };
    enum class Step : std::uint8_t { More, Element, Done };
    struct Line {
        std::string_view text;
        std::size_t next;
        bool is_whole;
    };

    Result<Step> read_element(std::string_view data);
    Result<Step> read_bulk(std::string_view data, const Line& line, Kind kind);
    Result<Step> read_list(const Line& line, Kind kind, std::size_t parts);
    Result<Step> read_scalar(char mark, const Line& line);
    Result<Line> read_line(std::string_view data) const;
    Result<std::int64_t> read_number(std::string_view text) const;
    Step finish(const Node& node, std::size_t next);
    Step close();

    Limits limits_;
    std::vector<Node> nodes_;
    std::vector<Open> open_;
    std::size_t at_ = 0;
    std::size_t needed_ = 0;
};

} // namespace sluice::resp
