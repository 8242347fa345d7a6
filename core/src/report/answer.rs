//! What is said of the answer to a response format when it is restored.

named! {
    /// What was changed of a reply beside the values of its answer.
    AnswerChange {
        /// Text beside an answer that came as a call was left out.
        DropText = "drop-text",
        /// Calls of the function behind the one that is the answer were left out.
        DropCall = "drop-call",
        /// The answer was taken out of a Markdown fence.
        RemoveFence = "remove-fence",
    }
}
