//! Tool lists as they were sent: agents send the same tools with every request, and a list that comes again is only
//! looked up.

use alloc::{borrow::Cow, string::String, sync::Arc, vec::Vec};
use core::cell::OnceCell;

use super::{quarantine::Quarantined, restore::RestoreMap, sanitize_list::ToolChange};
use crate::{
    collections::{Map, Set},
    dialect::surface::NamePattern,
    json::{self, Data, Node, Text},
    names::Names,
    options::ToolsOptions,
};

/// How much text is kept, in bytes, as it came and as it was sent.
const MOST_TEXT: usize = 8 * 1024 * 1024;

/// How much is kept in all, in bytes: the text, the reports and the way back with the schemas that repair calls. Lists
/// with many small schemas take a multiple of their text.
const MOST_BYTES: usize = 32 * 1024 * 1024;

/// How often a lock is tried before a list is made anew: some 100 µs.
const LOOKS: usize = 10_000;

/// What `tools` of requests became, for requests that repeat them. A list is known by its bytes; the list that was used
/// longest ago goes first.
///
/// One serves as many threads as there are: copies share what they hold.
/// [`ExchangeOptions::tool_list_cache`](crate::ExchangeOptions::tool_list_cache) says how many lists are kept.
///
/// ```
/// use toolwire::{Exchange, ExchangeOptions, ToolListCache};
/// let cache = ToolListCache::default();
/// let url = "https://api.moonshot.ai/v1/chat/completions";
/// let body = r#"{"model":"kimi-k3","messages":[],"tools":[{"name":"look.up","inputSchema":{}}]}"#;
/// for _ in 0..2 {
///     let exchange = Exchange::open_cached(url, body, &ExchangeOptions::default(), &cache)?.expect("with tools");
///     assert!(exchange.request().contains("look_up"));
/// }
/// assert_eq!(cache.len(), 1);
/// # Ok::<(), toolwire::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolListCache(Arc<spin::Mutex<Vec<Arc<KeptList>>>>);

/// A list, and all that its rewriting depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Question<'q> {
    /// As JSON text.
    pub(super) list: Cow<'q, str>,
    pub(super) options: Cow<'q, ToolsOptions>,
    /// What tools may be called.
    pub(super) shape: Option<NamePattern>,
    /// The names that are given already.
    pub(super) names: Cow<'q, Names>,
    /// The names of tools in namespaces that differ because of the tools of other lists; `None`: the list plans its
    /// own.
    pub(super) flat: Option<Map<(Text<'static>, Text<'static>), Text<'static>>>,
}

impl Question<'_> {
    /// To be kept.
    pub(super) fn into_owned(self) -> Question<'static> {
        let Question { list, options, shape, names, flat } = self;
        Question {
            list: Cow::Owned(list.into_owned()),
            options: Cow::Owned(options.into_owned()),
            shape,
            names: Cow::Owned(names.into_owned()),
            flat,
        }
    }
}

/// A list that is kept.
#[derive(Debug)]
pub(super) struct KeptList {
    pub(super) question: Question<'static>,
    /// What it became, as JSON text; `None`: it stayed as it was.
    pub(super) text: Option<String>,
    pub(super) sent: SentList,
    size: Size,
}

/// What became of a list, beside its text.
#[derive(Clone, Debug)]
pub(super) struct SentList {
    /// Nothing is left of it.
    pub(super) emptied: bool,
    pub(super) quarantined: Vec<Quarantined>,
    /// Shared: they are most of what is kept, and nearly always stay as they are.
    pub(super) changes: Arc<Vec<ToolChange>>,
    pub(super) restore_map: RestoreMap,
    pub(super) names: Names,
    pub(super) accepted: Set<String>,
}

/// What a list takes of each limit.
#[derive(Clone, Copy, Debug)]
struct Size {
    text: usize,
    all: usize,
}

impl Size {
    const ROOM: Size = Size { text: MOST_TEXT, all: MOST_BYTES };

    /// What is left of it; `None`: too little.
    fn less(self, other: Size) -> Option<Size> {
        Some(Size { text: self.text.checked_sub(other.text)?, all: self.all.checked_sub(other.all)? })
    }
}

impl KeptList {
    fn new(question: Question<'static>, text: Option<String>, sent: SentList) -> KeptList {
        let written = question.list.len().saturating_add(text.as_ref().map_or(0, String::len));
        let size = Size { text: written, all: written.saturating_add(sent.bytes()) };
        KeptList { question, text, sent, size }
    }
}

impl SentList {
    /// What is kept of a list beside its text, in bytes, roughly.
    fn bytes(&self) -> usize {
        let quarantined = |tool: &Quarantined| size_of::<Quarantined>() + tool.pointer.len() + tool.message.len();
        let change = |about: &ToolChange| {
            let change = &about.change;
            let output = change.output_pointer.as_ref().map_or(0, String::len);
            size_of::<ToolChange>() + about.tool.len() + change.pointer.len() + output + change.message.len()
        };
        let names = |name: &String| 2 * size_of::<String>() + name.len();
        self.quarantined.iter().map(quarantined).sum::<usize>()
            + self.changes.iter().map(change).sum::<usize>()
            + self.accepted.iter().map(names).sum::<usize>()
            + self.restore_map.bytes()
    }
}

impl ToolListCache {
    /// How many lists it holds.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Whether it holds none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets all lists.
    pub fn clear(&self) {
        let gone = core::mem::take(&mut *self.0.lock());
        drop(gone);
    }

    /// The lists, unless others hold them for longer than making one anew takes. (In a process that was forked, the
    /// thread that holds them may not be there any more.)
    fn patient(&self) -> Option<spin::MutexGuard<'_, Vec<Arc<KeptList>>>> {
        (0..LOOKS).find_map(|_| {
            let lists = self.0.try_lock();
            if lists.is_none() {
                core::hint::spin_loop();
            }
            lists
        })
    }

    fn find(&self, question: &Question<'_>) -> Option<Arc<KeptList>> {
        let mut lists = self.patient()?;
        let place = lists.iter().rposition(|sent| sent.question == *question)?;
        // The last one is the one used last.
        lists.get_mut(place..)?.rotate_left(1);
        lists.last().cloned()
    }

    fn keep(&self, sent: Arc<KeptList>, most: usize) {
        if Size::ROOM.less(sent.size).is_none() {
            return;
        }
        let mut gone = Vec::new();
        let Some(mut lists) = self.patient() else { return };
        // Another thread may have had the same one to make.
        lists.retain(|other| other.question != sent.question);
        lists.push(sent);
        let mut room = Size::ROOM;
        let fits = |sent: &Arc<KeptList>| {
            room = room.less(sent.size)?;
            Some(())
        };
        let left = lists.iter().rev().take(most).map_while(fits).count();
        let surplus = lists.len().saturating_sub(left);
        gone.extend(lists.drain(..surplus));
        // What goes is freed when nobody waits for it.
        drop(lists);
    }
}

/// Where the list of one request is looked up.
pub(crate) struct Lookup<'c> {
    cache: &'c ToolListCache,
    most: usize,
    /// What was found: the request borrows its text.
    found: &'c OnceCell<Arc<KeptList>>,
}

/// What holds a list that was found, for as long as the request that borrows from it is there.
#[derive(Debug, Default)]
pub(crate) struct Found(OnceCell<Arc<KeptList>>);

impl<'c> Lookup<'c> {
    /// A look-up among the lists used last; `None` if none are kept.
    #[cfg(feature = "search")]
    pub(crate) fn new(cache: &'c ToolListCache, most: usize, found: &'c Found) -> Option<Lookup<'c>> {
        (most > 0).then_some(Lookup { cache, most, found: &found.0 })
    }

    /// What became of the same list before.
    pub(super) fn find(&self, question: &Question<'_>) -> Option<&'c KeptList> {
        let sent = self.cache.find(question)?;
        Some(self.found.get_or_init(|| sent))
    }

    /// Keeps what became of a list.
    pub(super) fn keep(&self, question: Question<'static>, text: Option<String>, sent: SentList) {
        self.cache.keep(Arc::new(KeptList::new(question, text, sent)), self.most);
    }
}

/// A list as JSON text: as it is spelled, if it is text still.
pub(super) fn text_of<'n>(tools: &'n Node<'_>) -> Cow<'n, str> {
    match tools.data() {
        Data::Verbatim(text) => Cow::Borrowed(text),
        _ => Cow::Owned(json::write(tools)),
    }
}
