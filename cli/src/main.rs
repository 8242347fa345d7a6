//! The program `toolwire`.

// musl's own allocator takes 1.7 to 2.4 times the CPU of a request.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    toolwire_cli::main()
}
