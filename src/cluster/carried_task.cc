#include "cluster/carried_task.h"

#include <utility>

#include "value/archive.h"

namespace sluice::cluster {

namespace {

using connector::poll::Question;
using connector::poll::Task;

constexpr auto question_format = std::uint8_t{1};
constexpr auto tasks_format = std::uint8_t{1};

template <typename Archive>
void fields_of(Archive& archive, Question& question) {
    archive("space", question.space)("function", question.function)("most", question.most)(
        "wait", question.wait);
}

template <typename Archive>
void fields_of(Archive& archive, Task& task) {
    archive("token", task.token)("function", task.function)("run", task.run)("key", task.key)(
        "input", task.input)("attempt", task.attempt)("offer", task.offer)("lease", task.lease)(
        "lease_time", task.lease_time)("time_left", task.time_left)("trace", task.trace);
}

} // namespace

std::string encode_question(const Question& question) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(question_format);
    auto writer = value::ArchiveWriter{out};
    auto copy = question; // Fields are listed once for both ways.
    fields_of(writer, copy);
    return bytes;
}

Result<Question> decode_question(std::string_view bytes) {
    auto in = Decoder{bytes};
    TRY(in.format(question_format, "question for tasks"));
    auto question = Question{};
    auto reader = value::ArchiveReader{in};
    fields_of(reader, question);
    TRY(reader.status());
    return question;
}

std::string encode_tasks(const std::vector<Task>& tasks) {
    auto bytes = std::string{};
    auto out = Encoder{bytes};
    out.u8(tasks_format);
    out.varint(tasks.size());
    auto writer = value::ArchiveWriter{out};
    for (auto task : tasks) {
        fields_of(writer, task);
    }
    return bytes;
}

Result<std::vector<Task>> decode_tasks(std::string_view bytes) {
    auto in = Decoder{bytes};
    TRY(in.format(tasks_format, "tasks of another process"));
    auto tasks = std::vector<Task>{};
    auto count = TRY(in.varint());
    auto reader = value::ArchiveReader{in};
    for (auto at = std::uint64_t{0}; at < count; ++at) {
        fields_of(reader, tasks.emplace_back());
        TRY(reader.status());
    }
    return tasks;
}

} // namespace sluice::cluster
