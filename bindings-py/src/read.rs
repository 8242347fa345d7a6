//! Converts Python values to the core's tree.
//!
//! There are two passes. The first traverses the caller's object once, in document order, and keeps a reference to
//! every value and key. The second runs no Python code: it builds the tree from what the first recorded, and borrows
//! each string's UTF-8 from the kept object. Therefore, value number N of the tree is `objects[N]`, and no string is
//! copied. If a value changes while it is read (a dict subclass may run any code), the result may be inconsistent, but
//! memory stays safe.

use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple},
};
use toolwire::{
    internal::json::{Data, Member, Node, Object, Origin, Pointer, Step, Text},
    limits::{MAX_DEPTH, MAX_VALUES},
    Code, Error,
};

use crate::{failure::Failure, integer, model};

/// A [`Failure`] before its pointer is known. Boxed, because every level of the recursion returns it.
struct Stop(Box<Reason>);

enum Reason {
    Refused(Code, String),
    Raised(PyErr),
}

impl Stop {
    fn refused(code: Code, message: String) -> Self {
        Stop(Box::new(Reason::Refused(code, message)))
    }
}

impl From<PyErr> for Stop {
    fn from(error: PyErr) -> Self {
        Stop(Box::new(Reason::Raised(error)))
    }
}

/// Keeps only the strings and keys of the caller's objects, which are immutable.
pub(crate) struct Snapshot {
    objects: Vec<Option<Py<PyAny>>>,
    shapes: Vec<ValueShape>,
    keys: Vec<Py<PyString>>,
    digits: String,
    roots: usize,
}

impl Snapshot {
    /// Returns the values, with `None` for all objects except strings and keys.
    pub(crate) fn values<'py>(&self, py: Python<'py>) -> Values<'py> {
        let none = py.None().into_bound(py);
        let object =
            |object: &Option<Py<PyAny>>| object.as_ref().map_or_else(|| none.clone(), |object| object.bind(py).clone());
        Values {
            objects: self.objects.iter().map(object).collect(),
            shapes: self.shapes.clone(),
            keys: self.keys.iter().map(|key| key.bind(py).clone()).collect(),
            digits: self.digits.clone(),
            roots: self.roots,
            ..Values::default()
        }
    }
}

/// The facts that the first pass recorded about a value. The value itself has this index in `objects`.
#[derive(Clone, Copy)]
enum ValueShape {
    Null,
    Bool(bool),
    /// A number: the range of its text in `digits`.
    Number(usize, usize),
    Text,
    Array(usize),
    Object {
        /// Index in `keys` of its first key.
        keys: usize,
        members: usize,
        /// True if two keys may have the same text, which is possible only if a key is an instance of a subclass of
        /// `str`.
        may_repeat_keys: bool,
    },
}

/// The caller's values, in document order.
#[derive(Default)]
pub(crate) struct Values<'py> {
    objects: Vec<Bound<'py, PyAny>>,
    shapes: Vec<ValueShape>,
    keys: Vec<Bound<'py, PyString>>,
    digits: String,
    roots: usize,
    /// The containers from the root to the current value, for detecting cycles.
    ancestors: Vec<*mut pyo3::ffi::PyObject>,
    /// Members of dicts on this path that have not been read yet, in reverse order.
    pending: Vec<Bound<'py, PyAny>>,
    /// Steps to the failing value, innermost first. They are collected while unwinding, so that success costs nothing.
    trail: Vec<Step<'static>>,
}

impl<'py> Values<'py> {
    pub(crate) fn read(object: &Bound<'py, PyAny>) -> Result<Self, Failure> {
        let mut values = Values::default();
        values.add(object.clone())?;
        Ok(values)
    }

    /// Reserves memory for a schema of typical size. Growing the vectors would take a tenth of a call's instructions
    /// (55,000 for a real tool).
    pub(crate) fn with_typical_capacity() -> Self {
        Values {
            objects: Vec::with_capacity(128),
            shapes: Vec::with_capacity(128),
            keys: Vec::with_capacity(128),
            pending: Vec::with_capacity(32),
            ancestors: Vec::with_capacity(16),
            ..Values::default()
        }
    }

    /// Adds a value, whose parts are numbered after the parts of the previous values.
    pub(crate) fn add(&mut self, object: Bound<'py, PyAny>) -> Result<(), Failure> {
        self.roots += 1;
        self.read_value(object, 0).map_err(|stop| match *stop.0 {
            Reason::Raised(error) => Failure::Raised(error),
            Reason::Refused(code, message) => {
                let mut pointer = Pointer::root();
                while let Some(step) = self.trail.pop() {
                    pointer.push(step);
                }
                Failure::Refused(Error::new(code, pointer.render(), message))
            }
        })
    }

    pub(crate) fn snapshot(self) -> Snapshot {
        let object = |(object, shape): (Bound<'py, PyAny>, &ValueShape)| {
            matches!(shape, ValueShape::Text).then(|| object.unbind())
        };
        Snapshot {
            objects: self.objects.into_iter().zip(&self.shapes).map(object).collect(),
            keys: self.keys.into_iter().map(Bound::unbind).collect(),
            shapes: self.shapes,
            digits: self.digits,
            roots: self.roots,
        }
    }

    pub(crate) fn object(&self, number: u32) -> Option<&Bound<'py, PyAny>> {
        self.objects.get(usize::try_from(number).ok()?)
    }

    /// Returns the keys of an object as plain `str`.
    pub(crate) fn keys(&self, number: u32) -> &[Bound<'py, PyString>] {
        match usize::try_from(number).ok().and_then(|number| self.shapes.get(number)) {
            Some(ValueShape::Object { keys, members, .. }) => {
                self.keys.get(*keys..*keys + *members).unwrap_or_default()
            }
            _ => &[],
        }
    }

    fn read_value(&mut self, object: Bound<'py, PyAny>, depth: usize) -> Result<(), Stop> {
        if self.objects.len() >= MAX_VALUES {
            return Err(Stop::refused(
                Code::LimitExceeded,
                format!("expected at most {MAX_VALUES} values in one input, found more"),
            ));
        }
        // Exact types are tested first, because nearly all values in a schema have one, and comparing type pointers is
        // fastest.
        if object.is_exact_instance_of::<PyString>() {
            self.record_value(object, ValueShape::Text);
        } else if let Ok(dict) = object.cast_exact::<PyDict>() {
            let dict = dict.clone();
            self.read_dict(object, &dict, depth)?;
        } else if let Ok(list) = object.cast_exact::<PyList>() {
            let list = list.clone();
            self.read_array(object, list.iter(), depth)?;
        } else if let Ok(value) = object.cast::<PyBool>() {
            // Before `int`, of which `bool` is a subclass.
            let value = value.is_true();
            self.record_value(object, ValueShape::Bool(value));
        } else if object.is_none() {
            self.record_value(object, ValueShape::Null);
        } else if let Ok(integer) = object.cast::<PyInt>() {
            let start = self.digits.len();
            integer::spell(integer, &mut self.digits)?;
            self.record_value(object, ValueShape::Number(start, self.digits.len()));
        } else if let Ok(float) = object.cast::<PyFloat>() {
            let start = self.digits.len();
            self.record_float(float)?;
            self.record_value(object, ValueShape::Number(start, self.digits.len()));
        } else if object.is_instance_of::<PyString>() {
            self.record_value(object, ValueShape::Text);
        } else if let Ok(dict) = object.cast::<PyDict>() {
            let dict = dict.clone();
            self.read_dict_subclass(object, &dict, depth)?;
        } else if let Ok(list) = object.cast::<PyList>() {
            let list = list.clone();
            self.read_array(object, list.iter(), depth)?;
        } else if let Ok(tuple) = object.cast::<PyTuple>() {
            let tuple = tuple.clone();
            self.read_array(object, tuple.iter(), depth)?;
        } else if let Some(dump) = model::dump(&object) {
            let dump = dump?;
            if !model::is_plain(&dump) {
                let (model, found) = (kind(&object), kind(&dump));
                let message = format!("expected `model_dump()` of {model} to return a dict or a list, found {found}");
                return Err(Stop::refused(Code::InvalidValue, message));
            }
            self.read_value(dump, depth)?;
        } else {
            return Err(Stop::refused(
                Code::InvalidValue,
                format!(
                    "expected a dict, list, tuple, str, int, float, bool, None or a pydantic model, found {}",
                    kind(&object)
                ),
            ));
        }
        Ok(())
    }

    fn record_value(&mut self, object: Bound<'py, PyAny>, shape: ValueShape) {
        self.objects.push(object);
        self.shapes.push(shape);
    }

    /// Returns the index of the container.
    fn begin_container(&mut self, object: Bound<'py, PyAny>, depth: usize) -> Result<usize, Stop> {
        let address = object.as_ptr();
        if self.ancestors.contains(&address) {
            let kind = kind(&object);
            return Err(Stop::refused(
                Code::InvalidValue,
                format!("expected a finite value, found {kind} inside itself"),
            ));
        }
        if depth >= MAX_DEPTH {
            return Err(Stop::refused(
                Code::TooDeep,
                format!("expected at most {MAX_DEPTH} levels of nesting, found more"),
            ));
        }
        self.ancestors.push(address);
        self.record_value(object, ValueShape::Array(0));
        Ok(self.objects.len() - 1)
    }

    fn finish_container(&mut self, at: usize, shape: ValueShape) {
        self.ancestors.pop();
        if let Some(open) = self.shapes.get_mut(at) {
            *open = shape;
        }
    }

    fn read_array(
        &mut self,
        object: Bound<'py, PyAny>,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
        depth: usize,
    ) -> Result<(), Stop> {
        let at = self.begin_container(object, depth)?;
        let mut count = 0;
        for item in items {
            self.read_value(item, depth + 1).inspect_err(|_| self.trail.push(Step::Index(count)))?;
            count += 1;
        }
        self.finish_container(at, ValueShape::Array(count));
        Ok(())
    }

    /// Reads a dict from its storage. No Python code runs between its members, because all are collected before any is
    /// read.
    fn read_dict(&mut self, object: Bound<'py, PyAny>, dict: &Bound<'py, PyDict>, depth: usize) -> Result<(), Stop> {
        let at = self.begin_container(object, depth)?;
        let (keys, pending, mut may_repeat_keys) = (self.keys.len(), self.pending.len(), false);
        for (key, value) in dict.iter() {
            may_repeat_keys |= self.record_key(key)?;
            self.pending.push(value);
        }
        self.read_members(at, keys, pending, may_repeat_keys, depth)
    }

    /// Reads a dict subclass through its own `items()`, like `json.dumps`.
    fn read_dict_subclass(
        &mut self,
        object: Bound<'py, PyAny>,
        dict: &Bound<'py, PyDict>,
        depth: usize,
    ) -> Result<(), Stop> {
        let at = self.begin_container(object, depth)?;
        let items = dict.as_mapping().items()?;
        let (keys, pending) = (self.keys.len(), self.pending.len());
        for item in items {
            let (key, value) = item.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>)>().map_err(|_| {
                let kind = kind(dict);
                Stop::refused(
                    Code::InvalidValue,
                    format!("expected `items()` of {kind} to return pairs, found {}", self::kind(&item)),
                )
            })?;
            self.record_key(key)?;
            self.pending.push(value);
        }
        // An overridden `items()` may return equal keys.
        let may_repeat_keys = true;
        self.read_members(at, keys, pending, may_repeat_keys, depth)
    }

    /// Records a key, and returns true if it was an instance of a subclass of `str`. Such keys are converted to plain
    /// `str`. With the hash of a subclass, a lookup by name in a returned copy might not find the member.
    fn record_key(&mut self, key: Bound<'py, PyAny>) -> Result<bool, Stop> {
        let key = match key.cast_into_exact::<PyString>() {
            Ok(key) => {
                self.keys.push(key);
                return Ok(false);
            }
            Err(other) => other.into_inner(),
        };
        if !key.is_instance_of::<PyString>() {
            return Err(Stop::refused(Code::InvalidValue, format!("expected string keys, found {}", kind(&key))));
        }
        let plain = key.py().get_type::<PyString>().call_method1("__str__", (&key,))?;
        self.keys.push(plain.cast_into::<PyString>().map_err(PyErr::from)?);
        Ok(true)
    }

    fn read_members(
        &mut self,
        at: usize,
        keys: usize,
        pending: usize,
        may_repeat_keys: bool,
        depth: usize,
    ) -> Result<(), Stop> {
        let members = self.keys.len() - keys;
        if let Some(members) = self.pending.get_mut(pending..) {
            members.reverse();
        }
        for index in keys..keys + members {
            let Some(value) = self.pending.pop() else { break };
            self.read_value(value, depth + 1).inspect_err(|_| {
                let name = self.keys.get(index).and_then(|key| text(key).ok());
                self.trail.push(Step::Member(name.map(Text::into_owned).unwrap_or_else(|| Text::new(""))));
            })?;
        }
        self.finish_container(at, ValueShape::Object { keys, members, may_repeat_keys });
        Ok(())
    }

    fn record_float(&mut self, float: &Bound<'py, PyFloat>) -> Result<(), Stop> {
        if !float.value().is_finite() {
            return Err(Stop::refused(
                Code::InvalidValue,
                format!("expected a finite number, found `{}`", float.value()),
            ));
        }
        // The shortest digits that read back as this float, as in `json.dumps`. A subclass is written as its stored
        // value.
        let text = float.py().get_type::<PyFloat>().call_method1("__repr__", (float,))?;
        self.digits.push_str(text.cast::<PyString>().map_err(PyErr::from)?.to_str()?);
        Ok(())
    }

    /// In the order in which the values were added.
    pub(crate) fn trees(&self) -> PyResult<Vec<Node<'_>>> {
        let mut next = 0;
        (0..self.roots).map(|_| self.build_node(&mut next)).collect()
    }

    /// Tree of the first value.
    pub(crate) fn tree(&self) -> PyResult<Node<'_>> {
        self.build_node(&mut 0)
    }

    fn build_node(&self, next: &mut usize) -> PyResult<Node<'_>> {
        let number = *next;
        *next += 1;
        let data = match self.shapes.get(number) {
            None | Some(ValueShape::Null) => Data::Null,
            Some(ValueShape::Bool(value)) => Data::Bool(*value),
            Some(ValueShape::Number(start, end)) => {
                Data::Number(self.digits.get(*start..*end).unwrap_or_default().into())
            }
            Some(ValueShape::Text) => match self.objects.get(number) {
                Some(object) => Data::String(text(object.cast::<PyString>()?)?),
                None => Data::Null,
            },
            Some(ValueShape::Array(count)) => {
                let mut items = Vec::with_capacity(*count);
                for _ in 0..*count {
                    items.push(self.build_node(next)?);
                }
                Data::Array(items)
            }
            Some(ValueShape::Object { keys, members, may_repeat_keys }) => {
                let (mut list, mut may_repeat_keys) = (Vec::with_capacity(*members), *may_repeat_keys);
                for key in self.keys.get(*keys..*keys + *members).unwrap_or_default() {
                    let key = text(key)?;
                    // A surrogate pair is one character in JSON, so the same key may also occur unescaped.
                    may_repeat_keys |= key.as_plain().is_none();
                    list.push(Member { key, value: self.build_node(next)? });
                }
                Data::Object(if may_repeat_keys { Object::from_members(list) } else { Object::from_unique(list) })
            }
        };
        // `MAX_VALUES` is far below `u32::MAX`.
        Ok(Node::read(data, Origin::new(u32::try_from(number).unwrap_or(u32::MAX))))
    }
}

/// Borrowed if UTF-8 can encode it. If the string has a lone surrogate, all non-ASCII characters are escaped.
pub(crate) fn text<'a>(string: &'a Bound<'_, PyString>) -> PyResult<Text<'a>> {
    use std::fmt::Write as _;
    if let Ok(text) = string.to_str() {
        return Ok(Text::new(text));
    }
    let units = string.py().get_type::<PyString>().call_method1("encode", (string, "utf-16-le", "surrogatepass"))?;
    let mut spelling = String::new();
    for unit in units.cast::<PyBytes>()?.as_bytes().chunks_exact(2) {
        let unit = unit.iter().rev().fold(0, |unit, byte| unit << 8 | u16::from(*byte));
        match u8::try_from(unit) {
            Ok(plain) if (b' '..=b'~').contains(&plain) && plain != b'"' && plain != b'\\' => {
                spelling.push(char::from(plain))
            }
            // Writing into a String cannot fail.
            _ => drop(write!(spelling, "\\u{unit:04x}")),
        }
    }
    Ok(Text::spelled(spelling, true))
}

/// For messages.
pub(crate) fn kind(object: &Bound<'_, PyAny>) -> String {
    match object.get_type().fully_qualified_name() {
        Ok(name) => format!("a `{}`", name.to_string_lossy()),
        Err(_) => "a value of an unnamed type".into(),
    }
}
