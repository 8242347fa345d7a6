//! Changes to the answer to a response format when a reply is restored.

named! {
    /// A change to a reply, other than to the values of its answer.
    AnswerChange {
        /// Text next to an answer that came as a call was removed.
        DropText = "drop-text",
        /// Calls of the function after the one with the answer were removed.
        DropCall = "drop-call",
        /// The answer was extracted from a Markdown fence.
        RemoveFence = "remove-fence",
    }
}
