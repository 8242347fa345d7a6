//! Cache of rewritten tool lists. Agents send the same tools with every request; a repeated list only has to be looked
//! up.

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

/// Maximum size of the cached text in bytes, before and after rewriting.
const MAX_TEXT: usize = 8 * 1024 * 1024;

/// Maximum total size in bytes: the text, the reports, and the restore maps with the schemas that repair calls. A list
/// with many small schemas takes several times the size of its text.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of attempts to acquire the lock (about 100 µs). After that, the list is rewritten without the cache.
const LOOKS: usize = 10_000;

/// Caches the rewritten `tools` of requests, for requests that repeat them. A list is identified by its bytes; the
/// least recently used list is removed first.
///
/// One cache serves any number of threads: clones share their content.
/// [`ExchangeOptions::tool_list_cache`](crate::ExchangeOptions::tool_list_cache) is the maximum number of lists.
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
pub struct ToolListCache(Arc<spin::Mutex<Vec<Arc<CachedList>>>>);

/// The key of the cache: a list, and everything that its rewriting depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CacheKey<'q> {
    /// The list as JSON text.
    pub(super) list: Cow<'q, str>,
    pub(super) options: Cow<'q, ToolsOptions>,
    /// Pattern of the names that the model accepts.
    pub(super) shape: Option<NamePattern>,
    /// Names that are already planned.
    pub(super) names: Cow<'q, Names>,
    /// The new names of namespaced tools whose flat names collide with other tools of the request; `None` if the list
    /// plans the names of namespaced tools itself.
    pub(super) flat: Option<Map<(Text<'static>, Text<'static>), Text<'static>>>,
}

impl CacheKey<'_> {
    pub(super) fn into_owned(self) -> CacheKey<'static> {
        let CacheKey { list, options, shape, names, flat } = self;
        CacheKey {
            list: Cow::Owned(list.into_owned()),
            options: Cow::Owned(options.into_owned()),
            shape,
            names: Cow::Owned(names.into_owned()),
            flat,
        }
    }
}

/// A cached list.
#[derive(Debug)]
pub(super) struct CachedList {
    pub(super) key: CacheKey<'static>,
    /// The rewritten list as JSON text; `None` if the list is unchanged.
    pub(super) text: Option<String>,
    pub(super) sent: SentList,
    size: Size,
}

/// The result of rewriting a list, without its text.
#[derive(Clone, Debug)]
pub(super) struct SentList {
    /// True if no tool is left.
    pub(super) emptied: bool,
    pub(super) quarantined: Vec<Quarantined>,
    /// Shared, because the changes take most of the memory and are nearly always the same.
    pub(super) changes: Arc<Vec<ToolChange>>,
    pub(super) restore_map: RestoreMap,
    pub(super) names: Names,
    pub(super) accepted: Set<String>,
}

/// The size of a list, as counted for each limit.
#[derive(Clone, Copy, Debug)]
struct Size {
    text: usize,
    all: usize,
}

impl Size {
    const ROOM: Size = Size { text: MAX_TEXT, all: MAX_BYTES };

    /// Returns the difference, or `None` if it is negative.
    fn less(self, other: Size) -> Option<Size> {
        Some(Size { text: self.text.checked_sub(other.text)?, all: self.all.checked_sub(other.all)? })
    }
}

impl CachedList {
    fn new(key: CacheKey<'static>, text: Option<String>, sent: SentList) -> CachedList {
        let written = key.list.len().saturating_add(text.as_ref().map_or(0, String::len));
        let size = Size { text: written, all: written.saturating_add(sent.bytes()) };
        CachedList { key, text, sent, size }
    }
}

impl SentList {
    /// Returns the approximate size of a result without its text, in bytes.
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
    /// Returns the number of cached lists.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.lock().len()
    }

    /// Returns true if no list is cached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Removes all lists.
    pub fn clear(&self) {
        let gone = core::mem::take(&mut *self.0.lock());
        drop(gone);
    }

    /// Locks the lists. Returns `None` if other threads hold the lock for longer than it takes to rewrite a list. (In a
    /// forked process, the thread that holds the lock may no longer exist.)
    fn patient(&self) -> Option<spin::MutexGuard<'_, Vec<Arc<CachedList>>>> {
        (0..LOOKS).find_map(|_| {
            let lists = self.0.try_lock();
            if lists.is_none() {
                core::hint::spin_loop();
            }
            lists
        })
    }

    fn find(&self, key: &CacheKey<'_>) -> Option<Arc<CachedList>> {
        let mut lists = self.patient()?;
        let place = lists.iter().rposition(|sent| sent.key == *key)?;
        // The most recently used list is the last one.
        lists.get_mut(place..)?.rotate_left(1);
        lists.last().cloned()
    }

    fn keep(&self, sent: Arc<CachedList>, max_lists: usize) {
        if Size::ROOM.less(sent.size).is_none() {
            return;
        }
        let mut gone = Vec::new();
        let Some(mut lists) = self.patient() else { return };
        // Another thread may have rewritten the same list.
        lists.retain(|other| other.key != sent.key);
        lists.push(sent);
        let mut room = Size::ROOM;
        let fits = |sent: &Arc<CachedList>| {
            room = room.less(sent.size)?;
            Some(())
        };
        let left = lists.iter().rev().take(max_lists).map_while(fits).count();
        let surplus = lists.len().saturating_sub(left);
        gone.extend(lists.drain(..surplus));
        // Removed lists are freed after the lock is released.
        drop(lists);
    }
}

/// Looks up the list of one request.
#[derive(Clone, Copy)]
pub(crate) struct Lookup<'c> {
    cache: &'c ToolListCache,
    max_lists: usize,
    /// The list that was found. The request borrows its text.
    found: &'c OnceCell<Arc<CachedList>>,
}

/// Holds the list that was found for as long as the request borrows from it.
#[derive(Debug, Default)]
pub(crate) struct FoundList(OnceCell<Arc<CachedList>>);

impl<'c> Lookup<'c> {
    /// Returns a look-up in a cache of at most `max_lists` lists, or `None` if `max_lists` is 0.
    #[cfg(feature = "search")]
    pub(crate) fn new(cache: &'c ToolListCache, max_lists: usize, found: &'c FoundList) -> Option<Lookup<'c>> {
        (max_lists > 0).then_some(Lookup { cache, max_lists, found: &found.0 })
    }

    /// Returns the cached result for the same list.
    pub(super) fn find(&self, key: &CacheKey<'_>) -> Option<&'c CachedList> {
        let sent = self.cache.find(key)?;
        Some(self.found.get_or_init(|| sent))
    }

    /// Adds a result to the cache.
    pub(super) fn keep(&self, key: CacheKey<'static>, text: Option<String>, sent: SentList) {
        self.cache.keep(Arc::new(CachedList::new(key, text, sent)), self.max_lists);
    }
}

/// Returns a list as JSON text: the original text, if it is not parsed yet.
pub(super) fn text_of<'n>(tools: &'n Node<'_>) -> Cow<'n, str> {
    match tools.data() {
        Data::Verbatim(text) => Cow::Borrowed(text),
        _ => Cow::Owned(json::write(tools)),
    }
}
