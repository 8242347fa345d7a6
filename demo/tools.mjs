// Prints the tools of the demo's servers, one per line: the benchmarks measure them if there is no larger collection.
import { listTools } from './servers.mjs';

for (const { tools } of await listTools()) {
  for (const { name, description, inputSchema } of tools) {
    console.log(JSON.stringify({ name, description, inputSchema }));
  }
}
