//! A large request may allocate at most a quarter of its size in addition to its input and output text.

use toolwire::{apply_deferred_loading, DeferredOptions};

use crate::{content, counting::allocated_by};

#[test]
fn large_request_allocates_at_most_a_quarter_of_its_size() {
    let options = DeferredOptions::default();
    for (name, messages) in content::CONTENTS {
        let text = content::request(messages, content::SIZE);
        let (answer, plain) = allocated_by(|| apply_deferred_loading(&text, &options).expect("a request").request);
        let (reported, with_report) = allocated_by(|| apply_deferred_loading(&text, &options).expect("a request"));
        assert_eq!(answer, reported.request, "{name}");
        assert!(answer.len() < text.len(), "{name}: tools are hidden, so the text is new");
        for (form, bytes) in [("plain", plain), ("with report", with_report)] {
            let beyond = bytes - answer.len();
            println!("{name}, {form}: {} bytes in, {} out, {beyond} more", text.len(), answer.len());
            assert!(beyond <= text.len() / 4, "{name}, {form}: {beyond} bytes beyond a text of {}", text.len());
        }
    }
}

/// If nothing changes, no output text is allocated.
#[test]
fn unchanged_request_allocates_almost_nothing() {
    for (name, messages) in content::CONTENTS {
        let text = content::request(messages, content::SIZE);
        let sent = apply_deferred_loading(&text, &DeferredOptions::default()).expect("a request").request.into_owned();
        let (again, bytes) =
            allocated_by(|| apply_deferred_loading(&sent, &DeferredOptions::default()).expect("a request").request);
        assert_eq!(again.as_ptr(), sent.as_ptr(), "{name}: the same text");
        println!("{name}, unchanged: {} bytes in, {bytes} more", sent.len());
        assert!(bytes <= sent.len() / 4, "{name}: {bytes} bytes for a text of {}", sent.len());
    }
}
