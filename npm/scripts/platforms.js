// The platforms with a native program in npm: `name` ends the name of the package, `target` is Rust's name for the platform. The programs for
// Linux are static, so they run with every C library.

export const PLATFORMS = [
  { name: 'linux-x64', target: 'x86_64-unknown-linux-musl' },
  { name: 'linux-arm64', target: 'aarch64-unknown-linux-musl' },
  { name: 'darwin-x64', target: 'x86_64-apple-darwin' },
  { name: 'darwin-arm64', target: 'aarch64-apple-darwin' },
  { name: 'win32-x64', target: 'x86_64-pc-windows-msvc' },
];

/** Returns the name of a platform's package. */
export const packageOf = ({ name }) => `@toolwire/cli-${name}`;
