//! The C ABI of a plugin of CLIProxyAPI (version 1): a table of functions, and buffers of JSON. The rest is in
//! `plugin`.
//!
//! The only file with `unsafe`: the host's pointers are read here, and memory for its answers is allocated and freed.

mod plugin;

use std::{
    ffi::{c_char, c_int, c_void, CStr},
    panic::catch_unwind,
    ptr, slice,
};

/// Version of the ABI, in both tables.
const ABI_VERSION: u32 = 1;

/// Memory of the plugin that the host returns to `free_buffer`.
#[repr(C)]
pub struct Buffer {
    ptr: *mut c_void,
    len: usize,
}

/// The host's table. This plugin does not call the host.
#[repr(C)]
pub struct HostApi {
    abi_version: u32,
    host_ctx: *mut c_void,
    call: *const c_void,
    free_buffer: *const c_void,
}

/// The plugin's table, which it fills in.
#[repr(C)]
pub struct PluginApi {
    abi_version: u32,
    call: Option<unsafe extern "C" fn(*const c_char, *const u8, usize, *mut Buffer) -> c_int>,
    free_buffer: Option<unsafe extern "C" fn(*mut c_void, usize)>,
    shutdown: Option<extern "C" fn()>,
}

/// Called once, after the library is loaded.
///
/// # Safety
/// `plugin` is null or points to a table that may be written.
#[no_mangle]
#[allow(unsafe_code, reason = "the host passes pointers")]
pub unsafe extern "C" fn cliproxy_plugin_init(_host: *const HostApi, plugin: *mut PluginApi) -> c_int {
    if plugin.is_null() {
        return 1;
    }
    let table = PluginApi {
        abi_version: ABI_VERSION,
        call: Some(call),
        free_buffer: Some(free_buffer),
        shutdown: Some(shutdown),
    };
    // SAFETY: not null, and the host's table has this layout in version 1.
    unsafe { plugin.write(table) };
    0
}

/// Answers one method. A panic must not cross the boundary. `plugin::answer` handles those of a request; any other
/// becomes an error, which the host logs.
///
/// # Safety
/// `method` is a string of C, `request` has `len` bytes or is null, and `response` may be written.
#[allow(unsafe_code, reason = "the host passes pointers")]
unsafe extern "C" fn call(method: *const c_char, request: *const u8, len: usize, response: *mut Buffer) -> c_int {
    if method.is_null() || response.is_null() {
        return 1;
    }
    // SAFETY: the host passes a string that ends with a null byte, and it outlives this call.
    let method = unsafe { CStr::from_ptr(method) }.to_string_lossy();
    let request = if request.is_null() || len == 0 {
        &[][..]
    } else {
        // SAFETY: the host passes `len` bytes, and they outlive this call.
        unsafe { slice::from_raw_parts(request, len) }
    };
    let answered = catch_unwind(|| plugin::answer(&method, request));
    let text = answered.unwrap_or_else(|_| plugin::failure("internal", "the plugin panicked"));
    let bytes = text.into_bytes().into_boxed_slice();
    let len = bytes.len();
    let buffer = Buffer { ptr: Box::into_raw(bytes).cast(), len };
    // SAFETY: not null, and the host's buffer has this layout in version 1.
    unsafe { response.write(buffer) };
    0
}

/// Frees an answer.
///
/// # Safety
/// `ptr` and `len` are those of an answer that was not yet freed, or `ptr` is null.
#[allow(unsafe_code, reason = "the host passes pointers")]
unsafe extern "C" fn free_buffer(ptr: *mut c_void, len: usize) {
    if !ptr.is_null() {
        // SAFETY: `call` made the pointer from a box of `len` bytes.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(ptr.cast::<u8>(), len)) });
    }
}

extern "C" fn shutdown() {
    // A panic while a lock is held is the only possible failure, and the process ends anyway.
    let _ = catch_unwind(plugin::forget_all);
}
