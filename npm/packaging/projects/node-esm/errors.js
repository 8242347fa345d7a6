// One error class per file (in Node, `toolwire` is one for both module systems), and yet `instanceof` holds across entries and module systems; subclasses stay their own.
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
