#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| toolwire_fuzz::run(toolwire_fuzz::Target::named("answers"), data));
