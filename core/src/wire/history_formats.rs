//! The reader and the writer of each format's history.
//!
//! This table is not part of the descriptions ([`super::Wire`]), because readers and writers use the descriptions.

use super::{anthropic, chat, converse, gemini, interactions, responses};
use crate::{
    options::Api,
    request::{
        reader::HistoryReader,
        writer::{same, HistoryWriter, InPlace, Messages, Settings},
    },
};

const BLOCKS: Messages =
    Messages { result: |outcome| same::result(outcome, "content"), calls: None, joins_texts: false, alternates: false };

pub(crate) const fn reader(api: Api) -> &'static HistoryReader {
    match api {
        Api::Anthropic => &HistoryReader {
            flatten: None,
            read: anthropic::reader::read,
            shared: &[(Api::OpenaiChat, anthropic::reader::all_mean_same_in_chat)],
        },
        Api::Bedrock => {
            &HistoryReader { flatten: None, read: |reader, _, _| converse::reader::read(reader), shared: &[] }
        }
        Api::Gemini | Api::GeminiJsonSchema => {
            &HistoryReader { flatten: None, read: |reader, _, _| gemini::reader::read(reader), shared: &[] }
        }
        Api::GeminiInteractions => &HistoryReader { flatten: None, read: interactions::reader::read, shared: &[] },
        Api::OpenaiResponses => {
            &HistoryReader { flatten: Some(responses::reader::flatten), read: responses::reader::read, shared: &[] }
        }
        _ => &HistoryReader { flatten: None, read: |reader, _, _| chat::reader::read(reader), shared: &[] },
    }
}

/// Requests are not translated to Bedrock Converse and Gemini `generateContent`, so these formats only have writers for
/// changed messages.
pub(crate) const fn writer(api: Api) -> &'static HistoryWriter {
    match api {
        Api::Anthropic => &HistoryWriter { write: anthropic::writer::write, in_place: InPlace::Messages(BLOCKS) },
        Api::Bedrock => &HistoryWriter {
            write: chat::writer::write,
            in_place: InPlace::Messages(Messages { result: converse::in_place::result, alternates: true, ..BLOCKS }),
        },
        Api::Gemini | Api::GeminiJsonSchema => &HistoryWriter {
            write: chat::writer::write,
            in_place: InPlace::Messages(Messages { result: gemini::in_place::result, ..BLOCKS }),
        },
        Api::GeminiInteractions => &HistoryWriter {
            write: interactions::writer::write,
            in_place: InPlace::Items(interactions::writer::replace),
        },
        Api::OpenaiResponses => {
            &HistoryWriter { write: responses::writer::write, in_place: InPlace::Items(responses::in_place::replace) }
        }
        _ => &HistoryWriter {
            write: chat::writer::write,
            in_place: InPlace::Messages(Messages {
                calls: Some((chat::writer::CALLS, chat::writer::is_entry)),
                joins_texts: true,
                ..BLOCKS
            }),
        },
    }
}

pub(crate) const fn settings(api: Api) -> Option<&'static Settings> {
    match api {
        Api::GeminiInteractions => Some(&Settings {
            holder: interactions::writer::HOLDER,
            move_to_request: interactions::writer::move_to_request,
            move_back: interactions::writer::move_back,
        }),
        _ => None,
    }
}
