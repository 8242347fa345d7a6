//! Changes to structured output when a reply is restored.

named! {
    /// A change to a reply that does not affect the values of its structured output.
    AnswerChange {
        /// Text next to structured output that came as a call was removed.
        DropText = "drop-text",
        /// Further calls to the function after the one with the structured output were removed.
        DropCall = "drop-call",
        /// The structured output was extracted from a Markdown fence.
        RemoveFence = "remove-fence",
    }
}
