// `node bundle.mjs PROGRAMS TEXTS OUT`: makes the packages that contain the native program, for every platform with a folder in PROGRAMS
// (scripts/package.sh compile): archives with checksums, npm's packages, bundles for Claude Desktop, the folder of the image, the install script,
// Homebrew's formula, and the entry of the MCP registry. TEXTS contains the man page and the completions (`cargo xtask texts`).

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

import { PLATFORMS } from '../npm/scripts/platforms.js';

// In the set-up of npm/.
const { zipSync } = createRequire(new URL('../npm/package.json', import.meta.url))('fflate');

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const [programs, texts, out] = process.argv.slice(2).map((path) => resolve(path));
if (out === undefined) throw new Error('expected the folders of the programs, of the texts and of the packages');
const { version, mcpName, description } = JSON.parse(readFileSync(join(ROOT, 'npm/package.json'), 'utf8'));
const DOWNLOADS = `https://github.com/toolwire/toolwire/releases/download/v${version}`;
/** The time in archives: the same input gives the same bytes. */
const DAY = '2026-01-01';
/** Docker's names of the architectures. */
const IMAGES = { 'linux-x64': 'amd64', 'linux-arm64': 'arm64' };
/** The proxy for Claude Desktop needs a file of servers, which its settings ask for. */
const SERVERS =
  'File with your MCP servers, such as mcp.json. The proxy starts them, and makes their tools acceptable to the model.';

const found = PLATFORMS.filter(({ name }) => existsSync(join(programs, name)));
if (found.length === 0) throw new Error(`expected a folder for a platform in ${programs}, found none`);
mkdirSync(out, { recursive: true });
const checksums = {};
const bundles = [];
for (const platform of found) {
  archive(platform);
  run(process.execPath, [
    join(ROOT, 'npm/scripts/pack.js'),
    out,
    join(programs, platform.name, nameOf(platform)),
    platform.name,
  ]);
  bundles.push(bundle(platform));
  if (platform.name in IMAGES) image(platform);
}
const lines = readdirSync(out).filter((name) => /\.(tar\.gz|zip|mcpb)$/.test(name) && name.startsWith('toolwire-'));
write(
  'SHA256SUMS',
  lines
    .sort()
    .map((name) => `${checksum(join(out, name))}  ${name}\n`)
    .join(''),
);
installer();
formula();
registry();
parts();

function nameOf({ name }) {
  return name.startsWith('win32') ? 'toolwire.exe' : 'toolwire';
}

/** Writes the archive with the program, its man page and its completions. */
function archive(platform) {
  const { name, target } = platform;
  const folder = join(out, `toolwire-${target}`);
  mkdirSync(folder);
  copyFileSync(join(programs, name, nameOf(platform)), join(folder, nameOf(platform)));
  chmodSync(join(folder, nameOf(platform)), 0o755);
  for (const file of ['LICENSE-MIT', 'LICENSE-APACHE', 'CHANGELOG.md'])
    copyFileSync(join(ROOT, file), join(folder, file));
  copyFileSync(join(ROOT, 'cli/README.md'), join(folder, 'README.md'));
  cpSync(texts, folder, { recursive: true });
  if (name.startsWith('win32')) {
    writeFileSync(
      join(out, `toolwire-${target}.zip`),
      zipSync(filesOf(folder, `toolwire-${target}`), { mtime: new Date(DAY) }),
    );
  } else {
    const file = join(out, `toolwire-${target}.tar.gz`);
    // GNU tar, for archives that anyone can reproduce; macOS has another one.
    const isGnu = run('tar', ['--version']).includes('GNU');
    const same = isGnu ? ['--sort=name', `--mtime=${DAY} 00:00Z`, '--owner=0', '--group=0', '--numeric-owner'] : [];
    run('tar', [...same, '-czf', file, '-C', out, `toolwire-${target}`]);
    checksums[target] = checksum(file);
  }
  rmSync(folder, { recursive: true });
}

/** Returns the files of a folder for a ZIP archive. */
function filesOf(folder, prefix, mode = {}) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      const inside = [prefix, path.slice(folder.length + 1).replaceAll('\\', '/')].filter(Boolean).join('/');
      return [inside, [readFileSync(path), { os: 3, attrs: (mode[inside] ?? 0o644) << 16 }]];
    }),
  );
}

/** Writes the bundle for Claude Desktop: the proxy, with a setting for the file of servers. Returns its file. */
function bundle(platform) {
  const { name } = platform;
  const folder = join(out, `mcpb-${name}`);
  const program = `server/${nameOf(platform)}`;
  mkdirSync(join(folder, 'server'), { recursive: true });
  copyFileSync(join(programs, name, nameOf(platform)), join(folder, program));
  copyFileSync(join(ROOT, 'LICENSE-MIT'), join(folder, 'LICENSE-MIT'));
  copyFileSync(join(ROOT, 'LICENSE-APACHE'), join(folder, 'LICENSE-APACHE'));
  const manifest = {
    manifest_version: '0.3',
    name: 'toolwire',
    display_name: 'toolwire proxy',
    version,
    description,
    author: { name: 'toolwire', url: 'https://github.com/toolwire/toolwire' },
    repository: { type: 'git', url: 'https://github.com/toolwire/toolwire.git' },
    documentation: 'https://github.com/toolwire/toolwire/blob/main/docs/proxy.md',
    license: 'MIT OR Apache-2.0',
    server: {
      type: 'binary',
      entry_point: program,
      mcp_config: {
        command: `\${__dirname}/${program}`,
        args: ['proxy', '--client', 'claude-desktop', '--servers', `\${user_config.servers}`],
      },
    },
    user_config: { servers: { type: 'file', title: 'MCP servers', description: SERVERS, required: true } },
    tools_generated: true,
    compatibility: { platforms: [name.split('-')[0]] },
  };
  writeFileSync(join(folder, 'manifest.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
  const file = join(out, `toolwire-${name}.mcpb`);
  writeFileSync(file, zipSync(filesOf(folder, '', { [program]: 0o755 }), { mtime: new Date(DAY) }));
  rmSync(folder, { recursive: true });
  return { file, name };
}

/** Writes the files of the image for an architecture. */
function image({ name }) {
  const folder = join(out, 'image', IMAGES[name]);
  for (const path of ['usr/bin', 'etc/ssl/certs', 'tmp']) mkdirSync(join(folder, path), { recursive: true });
  copyFileSync(join(programs, name, 'toolwire'), join(folder, 'usr/bin/toolwire'));
  chmodSync(join(folder, 'usr/bin/toolwire'), 0o755);
  chmodSync(join(folder, 'tmp'), 0o1777);
  writeFileSync(join(folder, 'etc/passwd'), 'toolwire:x:65532:65532::/tmp:/nothing\n');
  const certificates = '/etc/ssl/certs/ca-certificates.crt';
  if (!existsSync(certificates))
    throw new Error(`expected certificates in ${certificates}, found none: install ca-certificates`);
  copyFileSync(certificates, join(folder, certificates));
  copyFileSync(join(ROOT, 'packaging/Dockerfile'), join(out, 'image/Dockerfile'));
}

function installer() {
  const cases = Object.entries(checksums).map(([target, sum]) => `    ${target}) expected=${sum} ;;`);
  const script = readFileSync(join(ROOT, 'packaging/install.sh'), 'utf8');
  write('install.sh', script.replaceAll('@VERSION@', version).replace('    # @CHECKSUMS@', cases.join('\n')));
  chmodSync(join(out, 'install.sh'), 0o755);
}

/** Writes Homebrew's formula. */
function formula() {
  const url = (target) => [`url "${DOWNLOADS}/toolwire-${target}.tar.gz"`, `sha256 "${checksums[target]}"`];
  const system = (name, end) => {
    const ours = [
      ['arm', `aarch64-${end}`],
      ['intel', `x86_64-${end}`],
    ].filter(([, target]) => target in checksums);
    if (ours.length === 0) return [];
    const inside = ours.flatMap(([cpu, target]) => [`on_${cpu} do`, ...url(target).map((line) => `  ${line}`), 'end']);
    return [`on_${name} do`, ...inside.map((line) => `  ${line}`), 'end', ''];
  };
  const body = [
    `desc "Makes any tool schema work with any model: checks, an MCP proxy, a relay"`,
    `homepage "https://github.com/toolwire/toolwire"`,
    `version "${version}"`,
    `license any_of: ["MIT", "Apache-2.0"]`,
    '',
    ...system('macos', 'apple-darwin'),
    ...system('linux', 'unknown-linux-musl'),
    'def install',
    '  bin.install "toolwire"',
    '  man1.install Dir["man/*.1"]',
    '  bash_completion.install "completions/toolwire.bash" => "toolwire"',
    '  zsh_completion.install "completions/_toolwire"',
    '  fish_completion.install "completions/toolwire.fish"',
    'end',
    '',
    'test do',
    '  assert_match version.to_s, shell_output("#{bin}/toolwire --version")',
    'end',
  ];
  write(
    'toolwire.rb',
    `class Toolwire < Formula\n${body.map((line) => (line === '' ? '\n' : `  ${line}\n`)).join('')}end\n`,
  );
}

/** Writes the entry of the MCP registry. */
function registry() {
  const transport = { type: 'stdio' };
  const packageArguments = [
    { type: 'positional', value: 'proxy' },
    { type: 'named', name: '--servers', description: SERVERS, isRequired: true, format: 'filepath' },
  ];
  const packages = [
    { registryType: 'npm', identifier: 'toolwire', version, runtimeHint: 'npx', transport, packageArguments },
    { registryType: 'pypi', identifier: 'toolwire', version, runtimeHint: 'uvx', transport, packageArguments },
    ...bundles.map(({ file, name }) => {
      return {
        registryType: 'mcpb',
        identifier: `${DOWNLOADS}/toolwire-${name}.mcpb`,
        fileSha256: checksum(file),
        transport,
      };
    }),
  ];
  const entry = {
    $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
    name: mcpName,
    description: 'A proxy in front of MCP servers, which makes their tools acceptable to every model and client.',
    repository: { url: 'https://github.com/toolwire/toolwire', source: 'github' },
    version,
    packages,
  };
  write('server.json', `${JSON.stringify(entry, undefined, 2)}\n`);
}

/** Writes the crates in the programs of all platforms as CycloneDX: names, versions, licences, checksums of Cargo.lock. */
function parts() {
  const options = [
    '--format-version',
    '1',
    '--locked',
    ...PLATFORMS.flatMap(({ target }) => ['--filter-platform', target]),
  ];
  const { packages, resolve } = JSON.parse(run('cargo', ['metadata', ...options]));
  const lock = readFileSync(join(ROOT, 'Cargo.lock'), 'utf8');
  const nodes = new Map(resolve.nodes.map((node) => [node.id, node]));
  const kept = new Set();
  const pending = packages.filter(({ name }) => name === 'toolwire-cli').map(({ id }) => id);
  while (pending.length > 0) {
    const id = pending.pop();
    if (kept.has(id)) continue;
    kept.add(id);
    const used = nodes.get(id).deps.filter(({ dep_kinds }) => dep_kinds.some(({ kind }) => kind === null));
    pending.push(...used.map(({ pkg }) => pkg));
  }
  const components = packages
    .filter(({ id }) => kept.has(id))
    .map(({ name, version, license }) => {
      const [, content] =
        new RegExp(`^name = "${name}"\nversion = "${version.replaceAll('.', '\\.')}".*?\n\n`, 'ms')
          .exec(lock)?.[0]
          .match(/checksum = "(\w+)"/) ?? [];
      return {
        type: 'library',
        'bom-ref': `pkg:cargo/${name}@${version}`,
        name,
        version,
        ...(license === null ? {} : { licenses: [{ expression: license.replaceAll('/', ' OR ') }] }),
        ...(content === undefined ? {} : { hashes: [{ alg: 'SHA-256', content }] }),
        purl: `pkg:cargo/${name}@${version}`,
      };
    });
  const component = { type: 'application', name: 'toolwire', version };
  const list = { bomFormat: 'CycloneDX', specVersion: '1.5', version: 1, metadata: { component }, components };
  write('sbom.json', `${JSON.stringify(list, undefined, 2)}\n`);
}

function checksum(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

function write(name, text) {
  writeFileSync(join(out, name), text);
}

function run(command, args) {
  return execFileSync(command, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    cwd: ROOT,
    maxBuffer: 1 << 28,
  });
}
