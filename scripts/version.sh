#!/usr/bin/env bash
# Keeps one version for crate, npm package and Python package: prints it, or the manifest that disagrees. The changelog
# always has to describe unreleased changes. With a tag (`version.sh v1.2.3`), the tag has to match the version, the
# changelog needs its entry, and main has to contain this commit. `version.sh set 1.2.3` writes the version everywhere
# except for the changelog, which is written by hand. `version.sh entry` prints the changelog's entry.
set -euo pipefail
source "$(dirname "$0")/step.sh"
cd "$ROOT"

of_cargo() { sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"$/\1/p' Cargo.toml; }
of_npm() { node -p "require('./npm/package.json').version"; }
of_npm_lock() { node -p "const { version, packages } = require('./npm/package-lock.json'); packages[''].version === version ? version : 'two'"; }
of_cargo_lock() { # CRATE [LOCK]
  sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" "${2:-Cargo.lock}"
}

# The files that name the image.
deployed="docs/deploy/kubernetes-sidecar.yaml docs/deploy/kubernetes-service.yaml"

if [ "${1:-}" = set ]; then
  version=${2:-}
  [[ $version =~ ^[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+\.[0-9]+)?$ ]] || die "set: expected a version such as 1.2.3 or 1.2.3-rc.1, found \`$version\`"
  sed -i.old "/^\[workspace.package\]/,/^\[/s/^version = \".*\"\$/version = \"$version\"/" Cargo.toml && rm Cargo.toml.old
  # Our crates depend on each other by exact version.
  for manifest in command cli; do sed -i.old "s/\(path = \"[^\"]*\", version = \"=\)[^\"]*/\1$version/" $manifest/Cargo.toml && rm $manifest/Cargo.toml.old; done
  npm version --prefix npm --no-git-tag-version --allow-same-version --ignore-scripts "$version" >/dev/null
  cargo update --workspace --offline --quiet
  # The plugin has its own lock file, which names the crate and is tested with `--locked`.
  cargo update --offline --quiet --manifest-path examples/cliproxyapi/Cargo.toml --package toolwire
  # The version that the action and the hooks install.
  node scripts/ci/own.mjs
  for file in $deployed; do sed -i.old "s/\(toolwire\/toolwire:\).*/\1$version/" "$file" && rm "$file.old"; done
  shift 2
fi

version=$(of_cargo)
[ -n "$version" ] || die "Cargo.toml: expected a version in [workspace.package], found none"
same() { # WHERE FOUND
  [ "$2" = "$version" ] || die "$1: expected version $version, as in Cargo.toml, found \`$2\` (\`scripts/version.sh set\` writes it everywhere)"
}
same npm/package.json "$(of_npm)"
same npm/package-lock.json "$(of_npm_lock)"
# The action and the hooks install the version of this repository.
same scripts/ci/package.json "$(node -p "require('./scripts/ci/package.json').dependencies.toolwire")"
same scripts/ci/package-lock.json "$(node -p "require('./scripts/ci/package-lock.json').packages['node_modules/toolwire'].version")"
for file in $deployed; do same "$file" "$(sed -n 's/.*toolwire\/toolwire:\(.*\)/\1/p' "$file")"; done
for crate in toolwire toolwire-command toolwire-cli toolwire-wasm toolwire-py; do same "Cargo.lock, $crate" "$(of_cargo_lock "$crate")"; done
same examples/cliproxyapi/Cargo.lock "$(of_cargo_lock toolwire examples/cliproxyapi/Cargo.lock)"
for manifest in core/Cargo.toml command/Cargo.toml cli/Cargo.toml bindings-wasm/Cargo.toml bindings-py/Cargo.toml; do
  grep -qx 'version.workspace = true' "$manifest" || die "$manifest: expected \`version.workspace = true\`, found none"
done
for manifest in command/Cargo.toml cli/Cargo.toml; do
  while IFS= read -r named; do same "$manifest" "$named"; done < <(sed -n 's/.*path = "[^"]*", version = "=\([^"]*\)".*/\1/p' "$manifest")
done
# maturin uses the version of bindings-py.
grep -qx 'dynamic = \["version"\]' python/pyproject.toml || die "python/pyproject.toml: expected the version to be dynamic"

entry() { # HEADING: prints the text below it, up to the next heading
  awk -v heading="$1" 'index($0, "## ") == 1 { inside = index($0, heading) == 1; next } inside' CHANGELOG.md | sed '/./,$!d'
}
if [ "${1:-}" = entry ]; then entry "## [$version] - "; exit; fi
tag=${1:-}
if [ -z "$tag" ]; then
  [ -n "$(entry '## [Unreleased]')$(entry "## [$version] - ")" ] ||
    die "CHANGELOG.md: expected something below \`## [Unreleased]\` or \`## [$version] - YYYY-MM-DD\`, found nothing"
else
  [ "$tag" = "v$version" ] || die "expected the tag v$version, as in Cargo.toml, found \`$tag\`"
  [ -n "$(entry "## [$version] - ")" ] || die "CHANGELOG.md: expected an entry \`## [$version] - YYYY-MM-DD\`, found none"
  # Provenance names the repository, and npm refuses a package whose manifest names another one.
  if [ -n "${GITHUB_REPOSITORY:-}" ]; then
    here=$GITHUB_SERVER_URL/$GITHUB_REPOSITORY
    for found in "$(sed -n 's/^repository = "\(.*\)"$/\1/p' Cargo.toml)" "$(sed -n 's/^Repository = "\(.*\)"$/\1/p' python/pyproject.toml)" \
      "$(node -p "require('./npm/package.json').repository.url.replace(/^git\+|\.git\$/g, '')")"; do
      [ "$found" = "$here" ] || die "expected the manifests to name $here, found $found"
    done
  fi
  # A release has to be a commit of main, because only those were reviewed. A tag can be put on any commit.
  main=$(git rev-parse --verify --quiet origin/main || git rev-parse --verify --quiet main) || die "expected a branch \`main\`, which the tag has to be on, found none"
  git merge-base --is-ancestor HEAD "$main" || die "expected $tag on main, found $(git rev-parse --short HEAD), which main does not have"
fi
echo "$version"
