//! Cancelled calls. Since MCP 2026-07-28, the end of its stream cancels a call; older servers receive a message.

use tokio::task::AbortHandle;

use super::Shared;

impl Shared {
    /// Ends the task if the call was cancelled before the task began.
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

    /// Returns true if the server needs no message for this.
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

    /// Forgets a modern call that was cancelled before it was sent. Returns true if it was.
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
