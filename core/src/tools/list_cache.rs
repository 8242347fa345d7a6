//! Cache of rewritten tool lists. Agents send the same tools with every request; a repeated list only has to be looked
//! up.

use alloc::{borrow::Cow, boxed::Box, string::String, sync::Arc, vec::Vec};
use core::cell::OnceCell;

use super::{quarantine::Quarantined, sanitize_list::ToolChange};
use crate::{
    collections::Set,
    dialect::surface::NamePattern,
    json::{self, Data, Node},
    names::Names,
    options::ToolsOptions,
    reply::restore::RestoreMap,
    request::origins::Origins,
    wire::responses::namespaces::FlatNames,
};

/// Maximum size of the cached text in bytes, before and after rewriting.
const MAX_TEXT: usize = 8 * 1024 * 1024;

/// Maximum total size in bytes: the text, the reports, and the restore maps with the schemas that repair calls. A list
/// with many small schemas takes several times the size of its text.
const MAX_BYTES: usize = 32 * 1024 * 1024;

/// Maximum number of attempts to acquire the lock (about 100 µs). After that, the list is rewritten without the cache.
const LOCK_ATTEMPTS: usize = 10_000;

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

/// The key of the cache: a list, and everything else that its rewriting depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CacheKey<'q> {
    pub(crate) list: Cow<'q, str>,
    pub(crate) inputs: ListInputs<'q>,
}

/// The inputs of rewriting a list, except for the list. `rewrite_list` reads nothing else, and the key of the cache
/// contains the whole value, so a new input is part of the key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ListInputs<'q> {
    pub(crate) options: Cow<'q, ToolsOptions>,
    /// Pattern of the names that the model accepts.
    pub(crate) shape: NamePattern,
    /// Names that are already planned.
    pub(crate) names: Cow<'q, Names>,
    /// Flat names of the list's namespaced tools; `None` if the list plans these names itself.
    pub(crate) flat: Option<Cow<'q, FlatNames>>,
    /// JSON Pointer to the list, the prefix of all pointers in reports.
    pub(crate) pointer: &'static str,
}

impl CacheKey<'_> {
    fn into_owned(self) -> CacheKey<'static> {
        let CacheKey { list, inputs: ListInputs { options, shape, names, flat, pointer } } = self;
        let inputs = ListInputs {
            options: Cow::Owned(options.into_owned()),
            shape,
            names: Cow::Owned(names.into_owned()),
            flat: flat.map(|flat| Cow::Owned(flat.into_owned())),
            pointer,
        };
        CacheKey { list: Cow::Owned(list.into_owned()), inputs }
    }
}

#[derive(Debug)]
pub(crate) struct CachedList {
    pub(crate) key: CacheKey<'static>,
    /// The rewritten list as JSON text; `None` if the list is unchanged.
    pub(crate) text: Option<String>,
    pub(crate) sent: SentList,
    size: Size,
}

/// The result of rewriting a list, without its text.
#[derive(Clone, Debug)]
pub(crate) struct SentList {
    /// True if no tool is left.
    pub(crate) emptied: bool,
    pub(crate) quarantined: Vec<Quarantined>,
    /// Shared, because the changes take most of the memory and are nearly always the same.
    pub(crate) changes: Arc<Vec<ToolChange>>,
    pub(crate) reported: ReportedChanges,
    pub(crate) restore_map: RestoreMap,
    pub(crate) names: Names,
    pub(crate) accepted: Set<String>,
}

/// The changes of a list, with the pointers that the last request reported.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReportedChanges(Arc<spin::Mutex<Option<Reported>>>);

type Reported = (Origins, Arc<Vec<ToolChange>>);

impl ReportedChanges {
    /// Returns the changes with pointers into the given request. Requests that repeat a list usually hide the same
    /// tools, so most requests share one copy.
    pub(crate) fn of(&self, mut changes: Arc<Vec<ToolChange>>, origins: &Origins) -> Arc<Vec<ToolChange>> {
        if origins.is_empty() || changes.is_empty() {
            return changes;
        }
        let known = self.0.try_lock().and_then(|last| {
            let (known, reported) = last.as_ref()?;
            known.is_same_for_list(origins).then(|| Arc::clone(reported))
        });
        if let Some(reported) = known {
            return reported;
        }
        let is_cached = Arc::get_mut(&mut changes).is_none();
        Arc::make_mut(&mut changes)
            .iter_mut()
            .for_each(|tool_change| origins.to_given(&mut tool_change.change.pointer));
        if let Some(mut last) = self.0.try_lock().filter(|_| is_cached) {
            *last = Some((origins.of_list(), Arc::clone(&changes)));
        }
        changes
    }
}

/// The size of a list, as counted for each limit.
#[derive(Clone, Copy, Debug)]
struct Size {
    text: usize,
    all: usize,
}

impl Size {
    const MAX: Size = Size { text: MAX_TEXT, all: MAX_BYTES };

    fn subtract(self, other: Size) -> Option<Size> {
        Some(Size { text: self.text.checked_sub(other.text)?, all: self.all.checked_sub(other.all)? })
    }
}

impl CachedList {
    fn new(key: CacheKey<'static>, text: Option<String>, sent: SentList) -> CachedList {
        let written = key.list.len().saturating_add(text.as_ref().map_or(0, String::len));
        let ListInputs { names, flat, .. } = &key.inputs;
        let inputs_bytes = names.bytes().saturating_add(flat.as_ref().map_or(0, |flat| flat.bytes()));
        let size = Size { text: written, all: written.saturating_add(sent.bytes()).saturating_add(inputs_bytes) };
        CachedList { key, text, sent, size }
    }
}

impl SentList {
    fn bytes(&self) -> usize {
        let quarantined = |tool: &Quarantined| {
            let texts = [&tool.name, &tool.server, &tool.hosted].into_iter().flatten().map(String::len).sum::<usize>();
            size_of::<Quarantined>() + texts + tool.pointer.len() + tool.message.len()
        };
        let change = |tool_change: &ToolChange| {
            let change = &tool_change.change;
            let output = change.output_pointer.as_ref().map_or(0, String::len);
            size_of::<ToolChange>() + tool_change.tool.len() + change.pointer.len() + output + change.message.len()
        };
        let names = |name: &String| 2 * size_of::<String>() + name.len();
        self.quarantined.iter().map(quarantined).sum::<usize>()
            // Changes are stored twice if a request reports them with different pointers.
            + 2 * self.changes.iter().map(change).sum::<usize>()
            + self.accepted.iter().map(names).sum::<usize>()
            + self.restore_map.bytes()
            + self.names.bytes()
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
        let removed = core::mem::take(&mut *self.0.lock());
        drop(removed);
    }

    /// Acquires the lock. Returns `None` if other threads hold the lock for longer than rewriting a list needs. (In a
    /// forked process, the thread that holds the lock may no longer exist.)
    fn lock(&self) -> Option<spin::MutexGuard<'_, Vec<Arc<CachedList>>>> {
        (0..LOCK_ATTEMPTS).find_map(|_| {
            let lists = self.0.try_lock();
            if lists.is_none() {
                core::hint::spin_loop();
            }
            lists
        })
    }

    fn find(&self, key: &CacheKey<'_>) -> Option<Arc<CachedList>> {
        let mut lists = self.lock()?;
        let index = lists.iter().rposition(|sent| sent.key == *key)?;
        // The most recently used list is the last one.
        lists.get_mut(index..)?.rotate_left(1);
        lists.last().cloned()
    }

    fn keep(&self, sent: Arc<CachedList>, max_lists: usize) {
        if Size::MAX.subtract(sent.size).is_none() {
            return;
        }
        let mut removed = Vec::new();
        let Some(mut lists) = self.lock() else { return };
        // Another thread may have rewritten the same list.
        lists.retain(|other| other.key != sent.key);
        lists.push(sent);
        let mut room = Size::MAX;
        let fits = |sent: &Arc<CachedList>| {
            room = room.subtract(sent.size)?;
            Some(())
        };
        let kept = lists.iter().rev().take(max_lists).map_while(fits).count();
        let surplus = lists.len().saturating_sub(kept);
        removed.extend(lists.drain(..surplus));
        // Removed lists are freed after the lock is released.
        drop(lists);
    }
}

#[derive(Clone, Copy)]
pub(crate) struct Lookup<'c> {
    cache: &'c ToolListCache,
    max_lists: usize,
    found: &'c FoundLists,
}

/// Keeps the lists that were found for as long as the request borrows their text. A request that is rewritten several
/// times, such as by the steps of the option `formats`, looks up a different list each time.
#[derive(Debug, Default)]
pub(crate) struct FoundLists(OnceCell<Box<(Arc<CachedList>, FoundLists)>>);

impl FoundLists {
    fn keep(&self, list: Arc<CachedList>) -> &CachedList {
        let mut last = self;
        while let Some(found) = last.0.get() {
            last = &found.1;
        }
        &last.0.get_or_init(|| Box::new((list, FoundLists::default()))).0
    }
}

impl<'c> Lookup<'c> {
    #[cfg(feature = "exchange")]
    pub(crate) fn new(cache: &'c ToolListCache, max_lists: usize, found: &'c FoundLists) -> Option<Lookup<'c>> {
        (max_lists > 0).then_some(Lookup { cache, max_lists, found })
    }

    pub(crate) fn find(&self, key: &CacheKey<'_>) -> Option<&'c CachedList> {
        Some(self.found.keep(self.cache.find(key)?))
    }

    pub(crate) fn keep(&self, key: CacheKey<'_>, text: Option<String>, sent: SentList) {
        self.cache.keep(Arc::new(CachedList::new(key.into_owned(), text, sent)), self.max_lists);
    }
}

pub(crate) fn text_of<'n>(tools: &'n Node<'_>) -> Cow<'n, str> {
    match tools.data() {
        Data::Verbatim(text) => Cow::Borrowed(text),
        _ => Cow::Owned(json::write(tools)),
    }
}
