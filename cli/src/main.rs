//! The program `toolwire`.

fn main() -> std::process::ExitCode {
    toolwire_cli::main()
}
