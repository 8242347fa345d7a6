// The findings of the Inspector about tools.

/** Returns the number of tools in the output of the Inspector, and its findings. */
export function findings(code, output, report) {
  let tools = 0;
  try {
    tools = JSON.parse(output).tools.length;
  } catch {
    // It prints no list after a failure.
  }
  const found = [...report.matchAll(/^(Error|Warning): tool "(.*)"\n {2}Path: (.*)\n {2}Issue: (.{0,80})/gm)];
  const lines = found.map(([, severity, tool, path, issue]) => `${severity}: ${tool} ${path}: ${issue}`);
  const count = (wanted) => found.filter(([, severity]) => severity === wanted).length;
  const inputs = found.filter(([, severity, , path]) => severity === 'Error' && path.startsWith('inputSchema')).length;
  return { code, tools, errors: count('Error'), inputs, warnings: count('Warning'), lines };
}

/**
 * Returns true if the Inspector finds errors in inputs directly, and none through the proxy, which lists every tool. Outputs that the client accepts stay
 * as they are, so they may have the same errors.
 */
export function judged(directly, proxied) {
  const isBetter = ({ tools, errors, inputs, warnings }) =>
    inputs === 0 && errors < directly.errors && tools === directly.tools && warnings <= directly.warnings;
  return directly.inputs > 0 && proxied.every(isBetter);
}
