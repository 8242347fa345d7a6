//! Changes the choice of tools in a request.

use alloc::vec::Vec;

use super::{tool_ref, Choice, ChoiceFormat, Location, Mode, Parallel, Spelling, ToolRef, ALLOWED, INNER, KIND_TOOL};
use crate::{
    error::Error,
    json::{
        self,
        lazy::{edit_member, take, view},
        Data, Node, Text,
    },
    wire::units::has_type,
};

pub(crate) const CHOICE: &str = "tool_choice";
pub(crate) const PARALLEL_CALLS: &str = "parallel_tool_calls";
const SINGLE: &str = "disable_parallel_tool_use";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Decision<'a> {
    Keep,
    /// The new tool name, without a namespace.
    Rename(Text<'a>),
    /// Remove the entry, because the tool is not sent.
    Remove,
}

/// Decides what to do with a tool in the choice. The flag is true if the choice forces this tool.
pub(crate) type Decide<'d, 'a> = &'d mut dyn FnMut(&ToolRef<'a>, bool) -> Result<Decision<'a>, Error>;

#[derive(Debug, Default)]
pub(crate) struct AppliedChoice {
    /// Names of the removed tools, which are not sent.
    pub(crate) gone: Vec<Text<'static>>,
    /// Pointer to the choice, if the forced tool or all allowed tools are not sent. A forced tool remains in the
    /// choice; a list of allowed tools becomes empty.
    pub(crate) emptied: Option<&'static str>,
}

impl Location {
    fn edit<'a, R>(
        &self,
        request: &mut Node<'a>,
        change: impl FnOnce(&mut Node<'a>) -> Result<R, Error>,
    ) -> Result<Option<R>, Error> {
        match self.inner {
            None => edit_member(request, self.outer, change),
            Some(inner) => {
                edit_member(request, self.outer, |outer| outer.visit(inner, change).transpose()).map(Option::flatten)
            }
        }
    }

    /// Sets the choice. Does nothing if the choice is nested and the request lacks the outer member.
    fn set<'a>(&self, request: &mut Node<'a>, choice: Node<'a>) -> Result<(), Error> {
        match self.inner {
            None => request.set(self.outer, choice),
            Some(inner) => drop(edit_member(request, self.outer, |outer| {
                outer.set(inner, choice);
                Ok(())
            })?),
        }
        Ok(())
    }

    /// Removes the choice, and the outer member if it becomes empty.
    fn remove(&self, request: &mut Node<'_>) -> Result<(), Error> {
        let Some(inner) = self.inner else {
            request.remove(self.outer);
            return Ok(());
        };
        let is_emptied = edit_member(request, self.outer, |outer| {
            Ok(outer.remove(inner).is_some() && outer.as_object().is_some_and(json::Object::is_empty))
        })?;
        if is_emptied == Some(true) {
            request.remove(self.outer);
        }
        Ok(())
    }
}

impl ChoiceFormat {
    pub(crate) const fn is_word(&self) -> bool {
        matches!(self.spelling, Spelling::Words(super::Words { is_object: false, .. }))
    }

    pub(crate) const fn writes_default(&self) -> bool {
        self.writes_default
    }

    pub(crate) fn has_limit_in_request(&self) -> bool {
        self.parallel == Parallel::InRequest
    }

    /// Replaces the choice by a choice that names no tool. Members that limit parallel calls remain.
    pub(crate) fn replace(&self, request: &mut Node<'_>, choice: &Choice<'_>) -> Result<(), Error> {
        match &self.spelling {
            Spelling::Mode(mode) if mode.within.is_none() => {
                for location in self.locations {
                    location.edit(request, |config| {
                        mode.names.iter().for_each(|list| drop(config.remove(list)));
                        // NONE forbids calls, and VALIDATED validates their arguments; neither requires a call.
                        if !choice.is_demand() && mode.is_mode(config, mode.any) {
                            config.set("mode", Node::literal(mode.auto));
                        }
                        Ok(())
                    })?;
                }
                Ok(())
            }
            Spelling::Words(_) => {
                let written = self.plain(choice);
                for location in self.locations {
                    location.edit(request, |old| {
                        let Some((kind, object)) = written.get("type").zip(old.as_object_mut()) else {
                            *old = written.clone();
                            return Ok(());
                        };
                        for key in ["name", "namespace", "function", "custom", "tools", "mode", ALLOWED] {
                            if object.has(key) {
                                object.remove(key);
                            }
                        }
                        object.set("type", kind.clone());
                        Ok(())
                    })?;
                }
                Ok(())
            }
            _ => self.locations.iter().try_for_each(|location| location.set(request, self.plain(choice))),
        }
    }

    /// Changes the choice to `auto`: the model may call the tools that the choice allows, but need not call one.
    pub(crate) fn weaken(&self, request: &mut Node<'_>) -> Result<(), Error> {
        let (within, auto) = match &self.spelling {
            Spelling::Mode(Mode { within: Some(within), auto, .. }) => (*within, *auto),
            Spelling::Words(_) => (ALLOWED, "auto"),
            _ => return self.replace(request, &Choice::Auto),
        };
        let is_words = matches!(&self.spelling, Spelling::Words(_));
        for location in self.locations {
            let is_list = |choice: &Node<'_>| has_type(choice, ALLOWED) || !is_words && choice.get(within).is_some();
            if location.look(request, is_list)? != Some(true) {
                if location.look(request, |_| ())?.is_some() {
                    self.replace(request, &Choice::Auto)?;
                }
                continue;
            }
            location.edit(request, |choice| {
                let weaken = |holder: &mut Node<'_>| holder.set("mode", Node::literal(auto));
                if choice.visit(within, weaken).is_none() {
                    weaken(choice);
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    pub(crate) fn remove(&self, request: &mut Node<'_>) -> Result<(), Error> {
        self.locations.iter().try_for_each(|location| location.remove(request))
    }

    /// Renames and removes tools in the choice. Other entries keep their text.
    pub(crate) fn apply<'a>(&self, request: &mut Node<'a>, decide: Decide<'_, 'a>) -> Result<AppliedChoice, Error> {
        let mut applied = AppliedChoice::default();
        let is_forced = match self.spelling {
            Spelling::Mode(_) => matches!(self.chosen(request)?, Some(Choice::Tool(_))),
            Spelling::Words(_) | Spelling::Kinds => false,
        };
        for location in self.locations {
            let emptied = location.edit(request, |choice| match &self.spelling {
                Spelling::Words(_) => self.apply_to_words(choice, &mut *decide, &mut applied.gone),
                Spelling::Kinds => {
                    let tool = |tool: &mut Node<'a>| self.apply_to_entry(tool, true, &mut *decide, &mut applied.gone);
                    choice.visit(KIND_TOOL, tool).unwrap_or(Ok(false))
                }
                Spelling::Mode(mode) => {
                    let mut emptied = false;
                    for names in mode.names {
                        let mut among = |holder: &mut Node<'a>| {
                            self.apply_to_list(holder, (names, is_forced), &mut *decide, &mut applied.gone)
                        };
                        emptied |= match mode.within {
                            Some(within) => choice.visit(within, among).unwrap_or(Ok(false))?,
                            None => among(choice)?,
                        };
                    }
                    Ok(emptied)
                }
            })?;
            applied.emptied = applied.emptied.or((emptied == Some(true)).then_some(location.pointer));
        }
        Ok(applied)
    }

    fn apply_to_words<'a>(
        &self,
        choice: &mut Node<'a>,
        decide: Decide<'_, 'a>,
        gone: &mut Vec<Text<'static>>,
    ) -> Result<bool, Error> {
        if !has_type(choice, ALLOWED) {
            return self.apply_to_entry(choice, true, decide, gone);
        }
        if choice.get(ALLOWED).is_some_and(|inner| inner.as_object().is_some()) {
            let among = choice.visit(ALLOWED, |inner| self.apply_to_list(inner, ("tools", false), decide, gone));
            return among.unwrap_or(Ok(false));
        }
        self.apply_to_list(choice, ("tools", false), decide, gone)
    }

    /// Applies the decision to one entry. Returns true if the tool is not sent.
    fn apply_to_entry<'a>(
        &self,
        node: &mut Node<'a>,
        is_forced: bool,
        decide: Decide<'_, 'a>,
        gone: &mut Vec<Text<'static>>,
    ) -> Result<bool, Error> {
        let bare = node.as_text().filter(|_| matches!(self.spelling, Spelling::Mode(_)));
        let bare = bare.map(|name| ToolRef::Tool { namespace: None, name: name.clone() });
        let Some(tool_ref) = bare.or_else(|| tool_ref(node)) else { return Ok(false) };
        match decide(&tool_ref, is_forced)? {
            Decision::Keep => {}
            Decision::Rename(name) => self.rename(node, name),
            Decision::Remove => {
                if let ToolRef::Tool { name, .. } | ToolRef::Namespace(name) | ToolRef::Hosted(name) = tool_ref {
                    gone.push(name.into_owned());
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn rename<'a>(&self, node: &mut Node<'a>, name: Text<'a>) {
        if node.as_text().is_some() {
            *node = Node::string(name);
            return;
        }
        let set = |node: &mut Node<'a>, name: Text<'a>| {
            if node.text_at("name") != Some(&name) {
                if let Some(object) = node.as_object_mut() {
                    object.set("name", Node::string(name));
                }
            }
        };
        if let Some(inner) =
            INNER.into_iter().find(|inner| node.get(inner).is_some_and(|inner| inner.get("name").is_some()))
        {
            node.visit(inner, |inner| set(inner, name));
            return;
        }
        if node.get("name").is_none() {
            *node = self.forced(name, false);
            return;
        }
        set(node, name);
        if node.get("namespace").is_some() {
            if let Some(object) = node.as_object_mut() {
                object.remove("namespace");
            }
        }
    }

    /// Removes entries that are not sent. Returns true if the list becomes empty. `is_forced` is true if the list has
    /// one entry that the choice forces.
    fn apply_to_list<'a>(
        &self,
        holder: &mut Node<'a>,
        (list, is_forced): (&str, bool),
        decide: Decide<'_, 'a>,
        gone: &mut Vec<Text<'static>>,
    ) -> Result<bool, Error> {
        let emptied = holder.visit(list, |list| {
            if !matches!(list.data(), Data::Array(_)) {
                return Ok(false);
            }
            let (mut at, mut places) = (0, Vec::new());
            list.visit_children(|_, item| {
                if self.apply_to_entry(item, is_forced, &mut *decide, gone)? {
                    places.push(at);
                }
                at += 1;
                Ok::<(), Error>(())
            })?;
            if places.is_empty() {
                return Ok(false);
            }
            let Some(items) = list.as_array_mut() else { return Ok(false) };
            let (mut at, mut places) = (0, places.into_iter().peekable());
            items.retain(|_| {
                let goes = places.next_if_eq(&at).is_some();
                at += 1;
                !goes
            });
            Ok(items.is_empty())
        });
        emptied.unwrap_or(Ok(false))
    }

    /// Adds a function to the choice. If `is_only` is true, the model must call this function. Otherwise, the model may
    /// call another allowed tool instead.
    pub(crate) fn force<'a>(&self, request: &mut Node<'a>, name: Text<'a>, is_only: bool) -> Result<(), Error> {
        let Some(location) = self.location_to_write(request)? else { return Ok(()) };
        let forced = |name: Text<'a>| match is_only {
            true => self.forced(name, false),
            false => self.plain(&Choice::Required),
        };
        match (&self.spelling, location.inner) {
            (Spelling::Words(_), _) => {
                let mut old = take(request, location.outer)?.unwrap_or_default();
                if has_type(&old, ALLOWED) && !is_only {
                    let entry = self.forced(name, false);
                    let allow = |holder: &mut Node<'a>| {
                        holder.set("mode", Node::literal("required"));
                        holder.visit("tools", |list| list.as_array_mut().map(|list| list.push(entry.clone())));
                    };
                    if old.visit(ALLOWED, allow).is_none() {
                        allow(&mut old);
                    }
                    request.set(location.outer, old);
                    return Ok(());
                }
                let mut new = forced(name);
                let single = old.get(SINGLE).filter(|_| self.parallel == Parallel::InChoice).cloned();
                if let Some(single) = single {
                    new.set(SINGLE, single);
                }
                request.set(location.outer, new);
                Ok(())
            }
            (Spelling::Mode(mode), Some(inner)) if mode.within.is_none() => {
                edit_object(request, location.outer, |outer| {
                    edit_object(outer, inner, |choice| {
                        choice.set("mode", Node::literal(mode.any));
                        let key = mode.names_in(choice, inner);
                        if is_only || choice.get(key).is_some_and(|list| list.as_array().is_none()) {
                            choice.remove(key);
                        }
                        let name = Node::string(name);
                        if is_only {
                            choice.set(key, Node::array(Vec::from([name])));
                        } else {
                            choice.visit(key, |list| list.as_array_mut().map(|list| list.push(name)));
                        }
                        Ok(())
                    })
                })
            }
            (spelling, Some(inner)) => edit_object(request, location.outer, |outer| {
                let list = match spelling {
                    Spelling::Mode(mode) => {
                        mode.within.zip(mode.names.first().copied()).map(|location| (mode, location))
                    }
                    _ => None,
                };
                let list = list.filter(|(_, (within, names))| {
                    !is_only && outer.get(inner).and_then(|choice| choice.get(*within)?.get(*names)).is_some()
                });
                let Some((mode, (within, names))) = list else {
                    outer.set(inner, forced(name));
                    return Ok(());
                };
                outer.visit(inner, |choice| {
                    choice.visit(within, |allowed| {
                        allowed.set("mode", Node::literal(mode.any));
                        allowed.visit(names, |list| list.as_array_mut().map(|list| list.push(Node::string(name))))
                    })
                });
                Ok(())
            }),
            (_, None) => {
                request.set(location.outer, forced(name));
                Ok(())
            }
        }
    }

    /// Returns the location that the request already uses. Otherwise, returns a location in the request's spelling, or
    /// the preferred location.
    fn location_to_write(&self, request: &Node<'_>) -> Result<Option<&Location>, Error> {
        let mut best = self.locations.first().map(|location| (0, location));
        for location in self.locations {
            let outer = request.get(location.outer).map(view).transpose()?;
            let inner = location.inner.unwrap_or_default();
            let rank = match outer.as_deref() {
                Some(outer) if outer.get(inner).is_some() => 2,
                Some(_) if location.outer.contains('_') == inner.contains('_') => 1,
                _ => 0,
            };
            if best.is_some_and(|(highest, _)| rank > highest) {
                best = Some((rank, location));
            }
        }
        Ok(best.map(|(_, location)| location))
    }

    /// Removes the members that ask for arguments in pieces. Returns true if the request had such a member.
    pub(crate) fn ask_for_whole_arguments(&self, request: &mut Node<'_>) -> Result<bool, Error> {
        let Spelling::Mode(mode) = &self.spelling else { return Ok(false) };
        let mut is_changed = false;
        for location in self.locations {
            location.edit(request, |choice| {
                for key in mode.pieces {
                    is_changed |= choice.remove(key).is_some_and(|value| value.as_bool() == Some(true));
                }
                Ok(())
            })?;
        }
        Ok(is_changed)
    }

    /// Limits the reply to one call, if the format can express the limit. Returns the pointer to the member if its
    /// value changed.
    pub(crate) fn forbid_more_calls(&self, request: &mut Node<'_>) -> Result<Option<&'static str>, Error> {
        match self.parallel {
            Parallel::InChoice => {
                let mut was_set = true;
                for location in self.locations {
                    location.edit(request, |choice| {
                        was_set = choice.bool_at(SINGLE) == Some(true);
                        choice.set(SINGLE, Node::bool(true));
                        Ok(())
                    })?;
                }
                Ok((!was_set).then_some("/tool_choice/disable_parallel_tool_use"))
            }
            Parallel::InRequest => {
                if request.bool_at(PARALLEL_CALLS) == Some(false) {
                    return Ok(None);
                }
                request.set(PARALLEL_CALLS, Node::bool(false));
                Ok(Some("/parallel_tool_calls"))
            }
            Parallel::None => Ok(None),
        }
    }

    /// Returns true if the request or its choice limits the reply to one call.
    pub(crate) fn is_single(&self, request: &Node<'_>, choice: Option<&Node<'_>>) -> Result<bool, Error> {
        let in_choice = choice.is_some_and(|choice| choice.bool_at(SINGLE) == Some(true));
        if in_choice || self.parallel == Parallel::InChoice {
            return Ok(in_choice);
        }
        let parallel = request.get(PARALLEL_CALLS).map(view).transpose()?;
        Ok(parallel.and_then(|parallel| parallel.as_bool()) == Some(false))
    }

    /// Limits parallel calls in a request without a choice. Returns the choice to set, which may contain the limit.
    pub(crate) fn limit_parallel_calls<'a>(
        &self,
        request: &mut Node<'a>,
        is_single: bool,
        choice: Option<Node<'a>>,
    ) -> Option<Node<'a>> {
        match self.parallel {
            Parallel::InRequest if is_single => request.set(PARALLEL_CALLS, Node::bool(false)),
            Parallel::InRequest => {
                if request.get(PARALLEL_CALLS).is_some_and(|parallel| parallel.as_bool() != Some(true)) {
                    request.remove(PARALLEL_CALLS);
                }
            }
            Parallel::InChoice | Parallel::None => drop(request.remove(PARALLEL_CALLS)),
        }
        if !is_single || self.parallel != Parallel::InChoice {
            return choice;
        }
        let mut choice = choice.unwrap_or_else(|| self.plain(&Choice::Auto));
        if !has_type(&choice, "none") {
            choice.set(SINGLE, Node::bool(true));
        }
        Some(choice)
    }
}

fn edit_object<'a>(
    node: &mut Node<'a>,
    key: &'static str,
    change: impl FnOnce(&mut Node<'a>) -> Result<(), Error>,
) -> Result<(), Error> {
    let is_object = |inner: &Node<'_>| matches!(inner.data(), Data::Object(_) | Data::Verbatim(_));
    if !node.get(key).is_some_and(is_object) {
        node.set(key, Node::empty_object());
    }
    edit_member(node, key, change).map(drop)
}
