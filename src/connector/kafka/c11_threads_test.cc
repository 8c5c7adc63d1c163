// The thread sanitizer does not know the threads and locks of C11, which librdkafka uses: a thread
// that it has not seen begin crashes it. Under the sanitizer they are therefore made of those that
// it knows. In glibc both kinds have the same layout.
#include "base/sanitizer.h"

#ifdef SLUICE_HAS_TSAN

#include <cerrno>
#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

#include <pthread.h>
#include <threads.h>

static_assert(sizeof(thrd_t) == sizeof(pthread_t));
static_assert(sizeof(mtx_t) <= sizeof(pthread_mutex_t));
static_assert(sizeof(cnd_t) <= sizeof(pthread_cond_t));

namespace {

struct Begin {
    thrd_start_t run;
    void* with;
};

void* run(void* opaque) {
    auto begin = *std::unique_ptr<Begin>{static_cast<Begin*>(opaque)};
    return reinterpret_cast<void*>(static_cast<std::intptr_t>(begin.run(begin.with)));
}

pthread_mutex_t* of(mtx_t* lock) {
    return reinterpret_cast<pthread_mutex_t*>(lock);
}

pthread_cond_t* of(cnd_t* condition) {
    return reinterpret_cast<pthread_cond_t*>(condition);
}

int outcome(int code) {
    return code == 0 ? thrd_success : code == ETIMEDOUT ? thrd_timedout : thrd_error;
}

} // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t start, void* with) {
    auto begin = std::make_unique<Begin>(Begin{start, with});
    auto code = pthread_create(thread, nullptr, run, begin.get());
    if (code == 0) {
        std::ignore = begin.release();
    }
    return outcome(code);
}

int thrd_join(thrd_t thread, int* result) {
    void* value = nullptr;
    auto code = pthread_join(thread, &value);
    if (result != nullptr) {
        *result = static_cast<int>(reinterpret_cast<std::intptr_t>(value));
    }
    return outcome(code);
}

int thrd_detach(thrd_t thread) {
    return outcome(pthread_detach(thread));
}

int mtx_init(mtx_t* lock, int type) {
    auto attributes = pthread_mutexattr_t{};
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(
        &attributes, (type & mtx_recursive) != 0 ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL);
    return outcome(pthread_mutex_init(of(lock), &attributes));
}

void mtx_destroy(mtx_t* lock) {
    pthread_mutex_destroy(of(lock));
}

int mtx_lock(mtx_t* lock) {
    return outcome(pthread_mutex_lock(of(lock)));
}

int mtx_trylock(mtx_t* lock) {
    auto code = pthread_mutex_trylock(of(lock));
    return code == EBUSY ? thrd_busy : outcome(code);
}

int mtx_unlock(mtx_t* lock) {
    return outcome(pthread_mutex_unlock(of(lock)));
}

int cnd_init(cnd_t* condition) {
    return outcome(pthread_cond_init(of(condition), nullptr));
}

void cnd_destroy(cnd_t* condition) {
    pthread_cond_destroy(of(condition));
}

int cnd_signal(cnd_t* condition) {
    return outcome(pthread_cond_signal(of(condition)));
}

int cnd_broadcast(cnd_t* condition) {
    return outcome(pthread_cond_broadcast(of(condition)));
}

int cnd_wait(cnd_t* condition, mtx_t* lock) {
    return outcome(pthread_cond_wait(of(condition), of(lock)));
}

int cnd_timedwait(cnd_t* condition, mtx_t* lock, const timespec* until) {
    return outcome(pthread_cond_timedwait(of(condition), of(lock), until));
}

} // extern "C"

#endif
