// Each entry point has its own error class (in Node, both module systems share the class of `toolwire`), but `instanceof` works across
// entry points and module systems. Subclasses are distinct.
import { createRequire } from 'node:module';

import * as index from 'toolwire';
import * as slim from 'toolwire/slim';

const require = createRequire(import.meta.url);
const copies = [index, slim, require('toolwire'), require('toolwire/slim')];
const classes = copies.map(({ ToolwireError }) => ToolwireError);
class Own extends index.ToolwireError {}

const errors = classes.map((Class) => new Class('invalid-json', '', 'message'));
console.log(
  new Set(classes).size,
  errors.every((error) => classes.every((Class) => error instanceof Class)),
);
const own = new Own('invalid-json', '', 'message');
console.log(
  own instanceof Own,
  own instanceof slim.ToolwireError,
  errors.some((error) => error instanceof Own),
);
console.log([null, undefined, 'text', {}, new Error('message')].some((other) => other instanceof index.ToolwireError));
