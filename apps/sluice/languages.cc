#include "sluice/languages.h"

#include "workflow/dag/operator.h"
#include "workflow/dag/vocabulary.h"

namespace sluice::app {

trigger::Vocabulary make_vocabulary() {
    auto vocabulary = trigger::Vocabulary{};
    workflow::dag::add_vocabulary(vocabulary, workflow::dag::built_in_operators());
    return vocabulary;
}

} // namespace sluice::app
