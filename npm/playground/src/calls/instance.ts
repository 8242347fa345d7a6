/** Generates arguments that a model might write for a schema. They are a starting point and may be invalid. */

type Schema = { [keyword: string]: unknown };

/** Maximum depth of generated values, because schemas may be recursive. */
const DEPTH = 5;
/** Maximum nesting of branches, because a branch may refer to the schema that contains it. */
const DEEPEST = 50;
/** Maximum number of values, because their number grows exponentially if a schema refers to itself several times. */
const MAX_VALUES = 2000;

/** The schema into which references point, and the number of values that may still be written. */
interface Root {
  schema: Schema;
  left: number;
}

export function instanceOf(schema: unknown): unknown {
  return valueFor(schema, { schema: schema as Schema, left: MAX_VALUES }, 0, undefined);
}

function valueFor(given: unknown, root: Root, depth: number, name: string | undefined): unknown {
  if (typeof given !== 'object' || given === null) return 'anything';
  if (root.left <= 0 || depth > DEEPEST) return null;
  root.left--;
  const schema = resolve(given as Schema, root.schema);
  if (Array.isArray(schema.enum)) return copyOf(schema.enum.find((value) => value !== null) ?? null, root);
  if ('const' in schema) return copyOf(schema.const, root);
  if ('default' in schema && schema.default !== null) return copyOf(schema.default, root);
  const branches = schema.anyOf ?? schema.oneOf;
  if (Array.isArray(branches) && branches.length > 0 && schema.properties === undefined) {
    const branch = branches.find((each: Schema) => each?.type !== 'null') ?? branches[0];
    return valueFor(branch, root, depth + 1, name);
  }
  switch (kindOf(schema)) {
    case 'object':
      return object(schema, root, depth);
    case 'array':
      return array(schema, root, depth);
    case 'integer':
    case 'number':
      return typeof schema.minimum === 'number' ? schema.minimum : 3;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return string(schema, name);
  }
}

/** Copies a value from the schema. Its size counts toward the limit, because several references may point to it. */
function copyOf(value: unknown, root: Root): unknown {
  root.left -= Math.floor((JSON.stringify(value)?.length ?? 0) / 8);
  return value;
}

function resolve(schema: Schema, root: Schema): Schema {
  let at = schema;
  // No meaningful chain of references has more than eight steps.
  for (let step = 0; step < 8 && typeof at.$ref === 'string' && at.$ref.startsWith('#'); step++) {
    const path = at.$ref.slice(1).split('/').slice(1);
    const found = path.reduce<unknown>(
      (node, token) => (node as Schema | undefined)?.[token.replaceAll('~1', '/').replaceAll('~0', '~')],
      root,
    );
    if (typeof found !== 'object' || found === null) break;
    at = found as Schema;
  }
  return at;
}

function kindOf({ type, properties, items }: Schema): unknown {
  if (Array.isArray(type)) return type.find((each) => each !== 'null');
  return type ?? (properties !== undefined ? 'object' : items !== undefined ? 'array' : undefined);
}

function object(schema: Schema, root: Root, depth: number): unknown {
  const properties = Object.entries((schema.properties as Schema | undefined) ?? {});
  const required = Array.isArray(schema.required) ? schema.required : [];
  const chosen = properties.filter(([name, each]) => {
    // Bounds the size: omits optional properties below the second level, and at the last level also
    // required properties that accept null.
    const optional =
      Array.isArray((each as Schema | null)?.type) && ((each as Schema).type as unknown[]).includes('null');
    return required.includes(name) ? depth < DEPTH || !optional : depth < 2;
  });
  const within = chosen.slice(0, Math.max(0, root.left));
  if (depth >= DEPTH) root.left -= within.length;
  const values = within.map(([name, each]) => [name, depth < DEPTH ? valueFor(each, root, depth + 1, name) : null]);
  const open = schema.additionalProperties;
  if (properties.length === 0 && typeof open === 'object' && open !== null) {
    values.push(['name', depth < DEPTH ? valueFor(open, root, depth + 1, 'name') : null]);
  }
  return Object.fromEntries(values);
}

function array(schema: Schema, root: Root, depth: number): unknown[] {
  if (depth >= DEPTH) return [];
  if (Array.isArray(schema.prefixItems))
    return schema.prefixItems
      .slice(0, Math.max(0, root.left))
      .map((each) => valueFor(each, root, depth + 1, undefined));
  return schema.items === undefined ? [] : [valueFor(schema.items, root, depth + 1, undefined)];
}

const FORMATS: Schema = {
  'date-time': '2026-11-20T09:30:00Z',
  date: '2026-11-20',
  time: '09:30:00Z',
  email: 'team@example.com',
  uri: 'https://example.com/',
  uuid: '7f0c2f9e-3c1b-4a57-9d43-0d8e1c6f2a10',
};

function string({ format, description }: Schema, name: string | undefined): unknown {
  if (typeof description === 'string' && description.includes('JSON')) return '{"level": "high", "count": 2}';
  if (typeof format === 'string' && typeof FORMATS[format] === 'string') return FORMATS[format];
  return name === 'key' ? 'region' : name === 'value' ? 'eu-west' : (name ?? 'text').replaceAll('_', ' ');
}
