#pragma once

/// `SLUICE_HAS_TSAN` is defined where the thread sanitizer looks on, whichever compiler it is of.
#ifdef __SANITIZE_THREAD__
#define SLUICE_HAS_TSAN
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SLUICE_HAS_TSAN
#endif
#endif
