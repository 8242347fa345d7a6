/** All dialects, in the order of the core's table. */

import { type Dialect, dialects } from 'toolwire/slim';

export const DIALECTS = dialects();
export const DIALECT_NAMES = DIALECTS.map(({ name }) => name as Dialect);
