// Comparing the outcomes of conformance checks.

/** Severities, the best first. A check that was skipped or only informs has not passed. */
const ORDER = ['SUCCESS', 'INFO', 'SKIPPED', 'WARNING', 'FAILURE'];

const passed = (statuses) => statuses.filter((status) => status === 'SUCCESS').length;
const worst = (statuses) => Math.max(...statuses.map((status) => ORDER.indexOf(status)));
const count = (all) => Object.values(all).reduce((sum, statuses) => sum + passed(statuses), 0);

/**
 * Compares the outcomes of checks, lists of statuses by name, with and without the proxy. `explained` has a reason for each check that may be
 * worse through the proxy.
 */
export function compared(direct, proxied, explained) {
  const lines = [];
  let failures = 0;
  if (count(direct) === 0) {
    failures += 1;
    lines.push('no check has passed directly');
  }
  const isWorse = (name) => {
    const found = proxied[name];
    return found === undefined || passed(found) < passed(direct[name]) || worst(found) > worst(direct[name]);
  };
  const names = Object.keys(direct).filter((name) => passed(direct[name]) > 0 && isWorse(name));
  for (const name of names) {
    const shown = `${name}: ${direct[name].join(' ')} directly, ${proxied[name]?.join(' ') ?? 'absent'} through the proxy`;
    if (explained[name] === undefined) failures += 1;
    lines.push(explained[name] === undefined ? `WORSE: ${shown}` : `${shown} (${explained[name]})`);
  }
  for (const name of Object.keys(explained).filter((name) => !names.includes(name))) {
    failures += 1;
    lines.push(`${name} is explained, but no longer worse`);
  }
  for (const name of Object.keys(proxied))
    if (
      worst(proxied[name]) === ORDER.length - 1 &&
      (!direct[name] || worst(direct[name]) < ORDER.length - 1) &&
      !names.includes(name)
    ) {
      failures += 1;
      lines.push(`WORSE: ${name}: fails only through the proxy`);
    }
  return { direct: count(direct), proxied: count(proxied), failures, lines };
}
