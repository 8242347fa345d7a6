//! Splits a tool list into its entries and joins them again, and plans the names of all tools of a request together.
//! This file handles the structure of lists, not of tools.
//!
//! A list that is joined without changes is treated as the caller's original value.

use alloc::{format, string::String, vec::Vec};

use super::{
    carriers, tool,
    tool_format::{self, recognize, Entry},
};
use crate::{
    dialect::surface::NamePattern,
    error::{Code, Error},
    json::{lazy, Data, Member, Node, Object, Origin, Text},
    names::{self, Names},
    options::{Api, DeferredOptions, ToolFormat},
    wire::responses::namespaces::{describe, description_of, may_describe, nested_namespace, FlatNames, Planner},
    wire::tool_list::of_format,
    wire::GROUPS,
};

pub(crate) struct Listed<'a> {
    pub(crate) entry: Node<'a>,
    /// Pointer to the entry in the original list.
    pub(crate) pointer: String,
    /// Namespace (OpenAI Responses) and the name in it, if the tool is in a namespace.
    pub(crate) namespace: Option<(Text<'a>, Text<'a>)>,
    /// The tool's server, if the list belongs to several servers.
    pub(crate) server: Option<Text<'static>>,
}

pub(crate) enum ListItem<'a> {
    Entry(Listed<'a>),
    /// An entry with several tools, such as Gemini's function declarations.
    Group(Group<'a>),
}

impl<'a> ListItem<'a> {
    fn entries(&self) -> &[Listed<'a>] {
        match self {
            ListItem::Entry(listed) => core::slice::from_ref(listed),
            ListItem::Group(group) => &group.list,
        }
    }
}

pub(crate) struct Group<'a> {
    pub(crate) list: Vec<Listed<'a>>,
    shell: Shell<'a>,
}

/// An entry without its inner list.
struct Shell<'a> {
    members: Vec<Member<'a>>,
    /// Index of the member that holds the list.
    index: usize,
    entry: ValueOrigin,
    list: ValueOrigin,
}

#[derive(Clone, Copy)]
struct ValueOrigin {
    origin: Origin,
    intact: bool,
}

impl ValueOrigin {
    const NOWHERE: ValueOrigin = ValueOrigin { origin: Origin::NONE, intact: false };

    fn of(node: &Node<'_>) -> ValueOrigin {
        ValueOrigin { origin: node.origin(), intact: node.is_intact() }
    }

    fn rebuild<'a>(self, data: Data<'a>, is_unchanged: bool) -> Node<'a> {
        if self.intact && is_unchanged {
            Node::read(data, self.origin)
        } else {
            Node::new(data).with_origin(self.origin)
        }
    }
}

pub(crate) struct Listing<'a> {
    pub(crate) list_items: Vec<ListItem<'a>>,
    list_origin: ValueOrigin,
}

const LIST: &str = "tools";

impl<'a> Listing<'a> {
    /// Accepts a plain list, an object with a list in `tools`, or a single Gemini entry.
    pub(crate) fn read(tools: Node<'a>) -> Result<Listing<'a>, Error> {
        Listing::read_with_names(tools, None)
    }

    pub(crate) fn read_with_names(tools: Node<'a>, planned: Option<&FlatNames>) -> Result<Listing<'a>, Error> {
        let Values { values, at, mut list_origin } = Values::of(tools)?;
        // Flattening a namespace changes the list even if its entries remain unchanged.
        list_origin.intact &= !values.iter().any(is_flattened);
        let list_names = if planned.is_none() { FlatNames::plan(&values) } else { FlatNames::default() };
        let names = planned.unwrap_or(&list_names);
        let mut list_items = Vec::with_capacity(values.len());
        for (index, entry) in values.into_iter().enumerate() {
            list_item(
                Listed { entry, pointer: at.pointer(index), namespace: None, server: None },
                names,
                &mut list_items,
            );
        }
        Ok(Listing { list_items, list_origin })
    }

    /// Returns the number of elements, and all entries outside of Gemini's groups, in order.
    pub(crate) fn entries_mut(&mut self) -> (usize, impl Iterator<Item = &mut Listed<'a>>) {
        let count = self.list_items.len();
        let entries = self.list_items.iter_mut().filter_map(|list_item| match list_item {
            ListItem::Entry(listed) => Some(listed),
            ListItem::Group(_) => None,
        });
        (count, entries)
    }

    pub(crate) fn entries(&self) -> impl Iterator<Item = &Listed<'a>> {
        self.list_items.iter().flat_map(ListItem::entries)
    }

    /// Joins the entries. `write` returns the new entry, or `None` to remove the entry. `record_pointer` receives the
    /// pointer to each new entry.
    pub(crate) fn write<D>(
        self,
        format: ToolFormat,
        mut write: impl FnMut(Listed<'a>) -> Option<(Node<'a>, D)>,
        mut record_pointer: impl FnMut(D, &str),
    ) -> Node<'a> {
        let in_groups = of_format(format).is_some_and(|wire| !wire.tools().groups().is_empty());
        let mut out: Vec<Node<'a>> = Vec::with_capacity(self.list_items.len());
        let mut is_unchanged = true;
        // Index and content of the new group for Gemini declarations that were outside of a group.
        let mut ungrouped: Option<(usize, Vec<Node<'a>>)> = None;
        for list_item in self.list_items {
            match list_item {
                ListItem::Entry(listed) => {
                    let is_declaration = in_groups && matches!(recognize(&listed.entry), Entry::Tool(_));
                    let Some((node, done)) = write(listed) else {
                        is_unchanged = false;
                        continue;
                    };
                    is_unchanged &= node.is_intact() && !is_declaration;
                    if is_declaration {
                        let (at, list) = ungrouped.get_or_insert_with(|| (out.len(), Vec::new()));
                        if *at == out.len() {
                            out.push(Node::default());
                        }
                        record_pointer(done, &format!("/{at}/{}/{}", GROUPS[0], list.len()));
                        list.push(node);
                    } else {
                        record_pointer(done, &format!("/{}", out.len()));
                        out.push(node);
                    }
                }
                ListItem::Group(Group { list, shell }) => {
                    let (mut kept, count) = (Vec::with_capacity(list.len()), list.len());
                    let base =
                        if in_groups { format!("/{}/{}", out.len(), shell.list_member()) } else { String::new() };
                    for listed in list {
                        if let Some((node, done)) = write(listed) {
                            let at = if in_groups { kept.len() } else { out.len() + kept.len() };
                            record_pointer(done, &format!("{base}/{at}"));
                            kept.push(node);
                        }
                    }
                    let is_group_unchanged = kept.len() == count && kept.iter().all(Node::is_intact);
                    is_unchanged &= is_group_unchanged && in_groups;
                    if in_groups {
                        let emptied = kept.is_empty() && count > 0;
                        out.extend(if emptied {
                            shell.hosted_rest()
                        } else {
                            Some(shell.put_back(kept, is_group_unchanged))
                        });
                    } else {
                        out.append(&mut kept);
                        out.extend(shell.hosted_rest());
                    }
                }
            }
        }
        if let Some((at, list)) = ungrouped {
            if let Some(index) = out.get_mut(at) {
                *index = Node::record([(GROUPS[0], Node::array(list))]);
            }
        }
        self.list_origin.rebuild(Data::Array(out), is_unchanged)
    }
}

/// The location of a list: the parameter itself, its member `tools`, or an entry that is given without a list.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ListLocation {
    Root,
    Member,
    Entry,
}

impl ListLocation {
    fn pointer(self, index: usize) -> String {
        match self {
            ListLocation::Root => format!("/{index}"),
            ListLocation::Member => format!("/{LIST}/{index}"),
            ListLocation::Entry => String::new(),
        }
    }
}

struct Values<'a> {
    values: Vec<Node<'a>>,
    at: ListLocation,
    list_origin: ValueOrigin,
}

impl<'a> Values<'a> {
    fn of(mut tools: Node<'a>) -> Result<Self, Error> {
        let (mut at, mut list_origin) = (ListLocation::Root, ValueOrigin::of(&tools));
        // Tested first, because mutable access would mark a single entry as changed.
        if tools.get(LIST).is_some() {
            let list = tools.as_object_mut().and_then(|object| object.get_mut(LIST));
            tools = list.map(core::mem::take).unwrap_or_default();
            (at, list_origin) = (ListLocation::Member, ValueOrigin::NOWHERE);
        } else if GROUPS.iter().any(|group| tools.get(group).is_some()) {
            return Ok(Values {
                values: alloc::vec![tools],
                at: ListLocation::Entry,
                list_origin: ValueOrigin::NOWHERE,
            });
        }
        let kind = tools.kind();
        let Data::Array(values) = tools.into_data() else {
            let pointer = if at == ListLocation::Member { "/tools" } else { "" };
            let message = format!("expected a list of tools, or an object with one in `tools`, found {kind}");
            return Err(Error::new(Code::InvalidRequest, pointer, message));
        };
        Ok(Values { values, at, list_origin })
    }
}

/// A tool list that is only read. A list of many small entries needs a third of the memory of a [`Listing`].
pub(crate) struct Entries<'a> {
    values: Vec<Node<'a>>,
    at: ListLocation,
    /// The contents of groups and namespaces, by index.
    expanded: Vec<(usize, Vec<ListItem<'a>>)>,
}

/// An entry of a list that is only read.
#[derive(Clone, Copy)]
pub(crate) struct EntryRef<'n, 'a> {
    pub(crate) entry: &'n Node<'a>,
    at: EntryLocation<'n>,
}

#[derive(Clone, Copy)]
enum EntryLocation<'n> {
    Index(ListLocation, usize),
    Pointer(&'n str),
    /// The pointer to a list, and the index in it.
    Within(&'n str, usize),
}

impl<'n, 'a> EntryRef<'n, 'a> {
    fn of(listed: &'n Listed<'a>) -> Self {
        EntryRef { entry: &listed.entry, at: EntryLocation::Pointer(&listed.pointer) }
    }

    /// Returns the pointer to the entry in the original list.
    pub(crate) fn pointer(&self) -> String {
        match self.at {
            EntryLocation::Index(list, index) => list.pointer(index),
            EntryLocation::Pointer(pointer) => pointer.into(),
            EntryLocation::Within(list, index) => format!("{list}/{index}"),
        }
    }

    /// Returns the index in the list, unless the entry is in a group or a namespace.
    pub(crate) fn index(&self) -> Option<usize> {
        match self.at {
            EntryLocation::Index(_, index) => Some(index),
            EntryLocation::Pointer(_) | EntryLocation::Within(..) => None,
        }
    }

    pub(crate) fn located_at(self, list: &'n str, index: usize) -> Self {
        EntryRef { at: EntryLocation::Within(list, index), ..self }
    }
}

impl<'a> Entries<'a> {
    /// Reads a list in the forms of [`Listing::read`].
    ///
    /// `invalid-request` if the value is not a tool list.
    pub(crate) fn read(tools: Node<'a>) -> Result<Entries<'a>, Error> {
        let Values { mut values, at, .. } = Values::of(tools)?;
        let names = FlatNames::plan(&values);
        let mut expanded = Vec::new();
        for (index, value) in values.iter_mut().enumerate() {
            if group_of(value).is_some() || is_flattened(value) {
                let entry = core::mem::take(value);
                let mut list_items = Vec::new();
                list_item(
                    Listed { entry, pointer: at.pointer(index), namespace: None, server: None },
                    &names,
                    &mut list_items,
                );
                expanded.push((index, list_items));
            }
        }
        Ok(Entries { values, at, expanded })
    }

    /// Returns the number of elements. A group is one element.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns all entries, in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = EntryRef<'_, 'a>> {
        let mut expanded = self.expanded.iter().peekable();
        self.values.iter().enumerate().flat_map(move |(index, entry)| {
            let list_items = expanded.next_if(|(at, _)| *at == index).map(|(_, list_items)| list_items);
            let plain = EntryRef { entry, at: EntryLocation::Index(self.at, index) };
            let inside = list_items.into_iter().flatten().flat_map(ListItem::entries).map(EntryRef::of);
            list_items.is_none().then_some(plain).into_iter().chain(inside)
        })
    }
}

/// Reads one entry and adds its contents to `list_items`.
fn list_item<'a>(listed: Listed<'a>, names: &FlatNames, list_items: &mut Vec<ListItem<'a>>) {
    if let Some(key) = group_of(&listed.entry) {
        list_items.push(open_group(listed, key));
    } else if is_flattened(&listed.entry) {
        flatten_namespace(listed, None, names, list_items);
    } else {
        list_items.push(ListItem::Entry(listed));
    }
}

/// Returns the member of an entry that holds a list of tools.
fn group_of(entry: &Node<'_>) -> Option<&'static str> {
    GROUPS.into_iter().find(|key| entry.get(key).is_some_and(|list| list.as_array().is_some()))
}

fn is_namespace(entry: &Node<'_>) -> bool {
    entry.get("type").is_some_and(|kind| kind.is_text("namespace"))
}

fn is_flattened(entry: &Node<'_>) -> bool {
    is_namespace(entry) && entry.get(LIST).is_some_and(|list| list.as_array().is_some())
}

fn open_group<'a>(listed: Listed<'a>, key: &str) -> ListItem<'a> {
    let entry = ValueOrigin::of(&listed.entry);
    let Data::Object(object) = listed.entry.into_data() else {
        return ListItem::Group(Group {
            list: Vec::new(),
            shell: Shell { members: Vec::new(), index: 0, entry, list: entry },
        });
    };
    let index = object.position(key).unwrap_or_default();
    let mut members = object.into_members();
    let list = members.get_mut(index).map(|member| core::mem::take(&mut member.value)).unwrap_or_default();
    let inner = ValueOrigin::of(&list);
    let items = if let Data::Array(items) = list.into_data() { items } else { Vec::new() };
    let list_entry = |(at, entry)| Listed {
        entry,
        pointer: format!("{}/{key}/{at}", listed.pointer),
        namespace: None,
        server: None,
    };
    let list = items.into_iter().enumerate().map(list_entry).collect();
    ListItem::Group(Group { list, shell: Shell { members, index, entry, list: inner } })
}

/// Adds the tools of a namespace to `list_items`. Only APIs with namespaces could keep the namespace, and for those
/// APIs, deferred loading has already flattened it.
fn flatten_namespace<'a>(
    mut listed: Listed<'a>,
    outer: Option<&Text<'a>>,
    names: &FlatNames,
    list_items: &mut Vec<ListItem<'a>>,
) {
    let namespace = nested_namespace(outer, listed.entry.text_at("name"));
    let description = description_of(&listed.entry).cloned();
    let tools = listed.entry.visit(LIST, core::mem::take).map(Node::into_data);
    let Some(Data::Array(tools)) = tools else { return };
    let description = description.filter(|text| may_describe(text, tools.len()));
    for (at, mut entry) in tools.into_iter().enumerate() {
        let pointer = format!("{}/{LIST}/{at}", listed.pointer);
        if is_namespace(&entry) {
            flatten_namespace(
                Listed { entry, pointer, namespace: None, server: None },
                namespace.as_ref(),
                names,
                list_items,
            );
            continue;
        }
        describe(&mut entry, description.as_ref());
        let name = entry.text_at("name").filter(|name| !name.is_empty()).cloned();
        let inner = namespace.clone().zip(name);
        if let Some((namespace, name)) = &inner {
            let flat = names.of(namespace, name);
            if flat != *name {
                entry.set("name", Node::string(flat));
            }
        }
        list_items.push(ListItem::Entry(Listed { entry, pointer, namespace: inner, server: None }));
    }
}

impl<'a> Shell<'a> {
    fn list_member(&self) -> &'static str {
        let is = |key: &&'static str| self.members.get(self.index).is_some_and(|member| member.key.is(key));
        GROUPS.into_iter().find(|key| is(key)).unwrap_or(GROUPS[0])
    }

    fn put_back(mut self, list: Vec<Node<'a>>, is_unchanged: bool) -> Node<'a> {
        if let Some(member) = self.members.get_mut(self.index) {
            member.value = self.list.rebuild(Data::Array(list), is_unchanged);
        }
        self.entry.rebuild(Data::Object(Object::from_unique(self.members)), is_unchanged)
    }

    /// Returns the entry without its list, if the entry still contains hosted tools.
    fn hosted_rest(mut self) -> Option<Node<'a>> {
        if self.index < self.members.len() {
            self.members.remove(self.index);
        }
        let rest = Node::object(Object::from_unique(self.members));
        (recognize(&rest) == Entry::Hosted).then_some(rest)
    }
}

/// Plans the names of all lists together if the history adds tools or reserves names. Otherwise, the names of the
/// request's list are planned later, when it is rewritten. Returns the flat names of namespaced tools. Adds the new
/// names of tools with illegal names to `names`.
pub(crate) fn plan_names(
    request: &Node<'_>,
    api: Api,
    deferred: Option<&DeferredOptions>,
    (names, shape): (&mut Names, NamePattern),
) -> Result<Option<FlatNames>, Error> {
    let mut lists: Vec<Node<'_>> = Vec::new();
    carriers::each(request, api, deferred, |list| {
        lists.extend((!list.is_empty()).then(|| Node::array(list.to_vec())));
    })?;
    let mut reserved = carriers::names_of_hosted(request, api)?;
    reserved.retain(|name| names::is_legal(shape, name));
    if lists.is_empty() && reserved.is_empty() {
        return Ok(None);
    }
    if let Some(tools) = request.get("tools") {
        lists.insert(0, lazy::view(tools)?.clone());
    }
    let mut planner = Planner::default();
    lists.iter().for_each(|list| planner.add(list.as_array().unwrap_or_default()));
    let flat = if planner.has_members() { planner.finish() } else { FlatNames::default() };
    let (mut tool_names, mut hosted) = (Vec::new(), reserved);
    for list in lists.into_iter().filter(|list| list.as_array().is_some()) {
        for listed in Listing::read_with_names(list, Some(&flat))?.entries() {
            match tool_format::recognize(&listed.entry) {
                Entry::Tool(shape) => tool_names.extend(shape.name(&listed.entry).cloned()),
                Entry::Hosted => {
                    let is_server = tool::kind(&listed.entry) == tool::Kind::Toolset;
                    let name = tool::name(&listed.entry).filter(|_| !is_server).cloned();
                    let is_named_here = listed.namespace.is_some() || tool::is_custom(&listed.entry);
                    if is_named_here { &mut tool_names } else { &mut hosted }.extend(name);
                }
                Entry::Unknown => {}
            }
        }
    }
    // If all names are legal and distinct, no tool is renamed, and the lists do not depend on each other.
    if tool_names.iter().any(|name| !names::is_legal(shape, name))
        || !names::sharing_rules(shape, tool_names.iter()).is_empty()
    {
        names.plan(shape, tool_names.iter(), &hosted.iter().collect::<Vec<&Text<'_>>>());
    }
    Ok(Some(flat))
}
