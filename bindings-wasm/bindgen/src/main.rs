//! The command `wasm-bindgen` for wasm-pack, which calls it here as `wasm-bindgen FILE --out-dir FOLDER --typescript
//! --target web`.
//!
//! The command of the crate `wasm-bindgen-cli` also runs tests, with a web server and an HTTP client. It needs four
//! times as many crates, and compiles three times as long.

use std::{env, error::Error};

use wasm_bindgen_cli_support::Bindgen;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--version"] => println!("wasm-bindgen {}", env!("CARGO_PKG_VERSION")),
        [file, "--out-dir", folder, "--typescript", "--target", "web"] => {
            let mut bindgen = Bindgen::new();
            bindgen.input_path(file).web(true)?.typescript(true).omit_default_module_path(false).generate(folder)?;
        }
        _ => {
            return Err(
                format!("expected `FILE --out-dir FOLDER --typescript --target web`, found {arguments:?}").into()
            )
        }
    }
    Ok(())
}
