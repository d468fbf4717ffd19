//===- BackgroundWork.h - Work that its caller can leave --------*- C++ -*-===//

#ifndef GLOWISH_SUPPORT_BACKGROUNDWORK_H
#define GLOWISH_SUPPORT_BACKGROUNDWORK_H

#include "llvm/ADT/FunctionExtras.h"
#include "llvm/Support/Error.h"

namespace glowish {

/// Does \p work in another thread while this one waits, so that cancelling this
/// thread's task returns within hundredths of a second, whatever \p work does:
/// it is left behind then, is cancelled as well, and ends later, at the latest
/// when the process does. \p work owns all that it uses. Its progress is
/// reported by this thread. Of a task that is cancelled already, no work
/// begins. Without a task of this thread, \p work is done by this thread.
llvm::Error runCancellable(llvm::unique_function<llvm::Error()> work);

/// Calls \p function in the thread that waits for what this thread does, and
/// returns true; false if that thread has left. Where none waits, calls it
/// here. For what others see, as the names of files: nothing changes any more
/// once the caller has been told that the work is cancelled.
bool callInWaitingThread(llvm::function_ref<void()> function);

} // namespace glowish

#endif // GLOWISH_SUPPORT_BACKGROUNDWORK_H
