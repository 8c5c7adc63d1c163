#include "server/stepfunctions/internal/machines.h"

// TagResource, UntagResource, ListTagsForResource: of machines and activities.
namespace sluice::server::stepfunctions {

namespace {

/// Where the tags of a resource are, and what to do to them.
struct Tagged {
    std::string_view kind;
    Document document;

    Value tags() const { return value_in(document.content, "tags"); }
};

std::expected<Tagged, Fault> find_tagged(const World& world, const Call& call) {
    auto text = text_in(call.body, "resourceArn");
    auto arn = TRY(Arn::parse(text));
    auto is_activity = arn.kind == Arn::Kind::Activity;
    if (!is_activity && (arn.kind != Arn::Kind::StateMachine || !arn.qualifier.empty())) {
        return refuse("InvalidArn", "Invalid Arn: 'Resource type not valid in this context: {}'",
                      text);
    }
    auto kind = is_activity ? Activity::kind : StateMachine::kind;
    auto document = world.services.documents->find(kind, call.space, arn.name);
    if (!document) {
        return refuse("ResourceNotFound", "Resource not found: '{}'", text);
    }
    return Tagged{.kind = kind, .document = *std::move(document)};
}

Answer keep_tags(World& world, Tagged tagged, Value tags) {
    tagged.document.content = tagged.document.content.with("tags", std::move(tags));
    TRY(or_fault(world.services.documents->put(tagged.kind, std::move(tagged.document))));
    return Value::object({});
}

Answer tag(World& world, const Call& call) {
    auto lock = std::lock_guard{world.changes};
    auto tagged = TRY(find_tagged(world, call));
    auto tags = TRY(with_tags(tagged.tags(), value_in(call.body, "tags")));
    return keep_tags(world, std::move(tagged), std::move(tags));
}

Answer untag(World& world, const Call& call) {
    auto lock = std::lock_guard{world.changes};
    auto tagged = TRY(find_tagged(world, call));
    auto tags = tagged.tags();
    for (const auto& key : value_in(call.body, "tagKeys").as_list()) {
        if (key.is_string() && tags.is_map()) {
            tags = tags.without(key.as_string());
        }
    }
    return keep_tags(world, std::move(tagged), std::move(tags));
}

Answer list_tags(World& world, const Call& call) {
    auto tagged = TRY(find_tagged(world, call));
    return Value::object({{"tags", tags_view(tagged.tags())}});
}

} // namespace

std::vector<Operation> tag_operations() {
    auto list = [](std::string_view name) {
        return Parameter{.name = name, .kind = Parameter::Kind::List, .need = required};
    };
    return {{"TagResource", changes, {arn_parameter("resourceArn"), list("tags")}, tag},
            {"UntagResource", changes, {arn_parameter("resourceArn"), list("tagKeys")}, untag},
            {"ListTagsForResource", reads, {arn_parameter("resourceArn")}, list_tags}};
}

} // namespace sluice::server::stepfunctions
