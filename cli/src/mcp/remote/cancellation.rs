//! Cancelled calls. Since MCP 2026-07-28, the end of its stream cancels a call; older servers receive a message.

use tokio::task::AbortHandle;

use super::Shared;

impl Shared {
    /// Records the task of a call, or ends the task if the call was already cancelled.
    pub(super) fn keep(&self, key: Option<String>, task: AbortHandle) {
        let Some(key) = key else { return };
        let mut state = self.state();
        match state.calls.get_mut(&key) {
            Some(call) if call.is_modern && call.is_cancelled => {
                task.abort();
                state.calls.remove(&key);
            }
            Some(call) => call.task = Some(task),
            None => {}
        }
    }

    /// Cancels a call. Returns true if the server needs no message for that.
    pub(super) fn cancel(&self, key: &str) -> bool {
        let mut state = self.state();
        let Some(call) = state.calls.get_mut(key) else { return false };
        call.is_cancelled = true;
        let is_modern = call.is_modern;
        if let Some(task) = call.task.take_if(|_| is_modern) {
            task.abort();
            state.calls.remove(key);
        }
        is_modern
    }

    /// Forgets a modern call if it was cancelled before it was sent. Returns true in this case.
    pub(super) fn forget_cancelled(&self, key: Option<&str>) -> bool {
        let Some(key) = key else { return false };
        let mut state = self.state();
        let is_cancelled = state.calls.get(key).is_some_and(|call| call.is_modern && call.is_cancelled);
        if is_cancelled {
            state.calls.remove(key);
        }
        is_cancelled
    }
}
