import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import * as z from 'zod';
import { PLUGINS } from './bundle-plugins.js';
import { lateSchemas } from './late-schemas.js';

const folder = await mkdtemp(path.join(tmpdir(), 'headgate-late-'));
after(() => rm(folder, { recursive: true, force: true }));
let files = 0;

/** Bundles a source as the build of the daemon does, and returns the file. */
async function bundled(source: string, plugins = PLUGINS): Promise<string> {
  files += 1;
  const outfile = path.join(folder, `${files}.mjs`);
  await build({
    stdin: { contents: source, resolveDir: fileURLToPath(new URL('..', import.meta.url)), loader: 'ts' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    outfile,
    plugins,
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
  });
  return outfile;
}

const zodFile = await bundled("export * from 'zod';");
let imports = 0;

/** Another zod each time, whose schemas are all the first of their kind. */
function lateZod(): Promise<typeof z> {
  imports += 1;
  return import(`${zodFile}?${imports}`);
}

/** Schemas of every kind that the sources use, two of each: zod builds the first one at once. */
const KINDS: Record<string, (from: typeof z) => z.ZodType> = {
  string: (from) => from.string().min(2).max(4).regex(/^a/).trim().describe('a word'),
  int: (from) => from.int().min(1).max(9),
  number: (from) => from.number().min(0.5).multipleOf(0.5),
  boolean: (from) => from.boolean(),
  null: (from) => from.null(),
  unknown: (from) => from.unknown(),
  never: (from) => from.never(),
  url: (from) => from.url(),
  datetime: (from) => from.iso.datetime(),
  enum: (from) => from.enum(['a', 'b']),
  literal: (from) => from.literal('a'),
  array: (from) => from.array(from.string()).min(1),
  tuple: (from) => from.tuple([from.string(), from.int()]),
  record: (from) => from.record(from.string().min(1), from.int()),
  object: (from) => from.object({ a: from.string(), b: from.int().optional() }),
  strict: (from) => from.strictObject({ a: from.string() }),
  loose: (from) => from.looseObject({ a: from.string() }),
  extended: (from) => from.object({ a: from.string() }).extend({ b: from.int().nullable() }),
  picked: (from) => from.object({ a: from.string(), b: from.int() }).pick({ a: true }),
  omitted: (from) => from.object({ a: from.string(), b: from.int() }).omit({ b: true }),
  partial: (from) => from.object({ a: from.string() }).partial(),
  keys: (from) => from.object({ a: from.string(), b: from.int() }).keyof(),
  union: (from) => from.union([from.string(), from.int()]),
  discriminated: (from) =>
    from.discriminatedUnion('a', [
      from.object({ a: from.literal('ab'), b: from.string() }),
      from.object({ a: from.literal('a') }),
    ]),
  default: (from) => from.object({ b: from.int().default(3) }),
  prefault: (from) => from.object({ b: from.object({ c: from.int().default(3) }).prefault({}) }),
  catch: (from) => from.int().catch(5),
  nonoptional: (from) => from.string().optional().nonoptional(),
  readonly: (from) => from.array(from.int()).readonly(),
  piped: (from) =>
    from
      .string()
      .transform((text) => text.length)
      .pipe(from.int().max(2)),
  refined: (from) =>
    from
      .object({ a: from.string() })
      .refine(({ a }) => a !== 'ab', { path: ['a'], error: 'not that' })
      .meta({ title: 'Named' }),
  checked: (from) =>
    from.array(from.string()).superRefine((items, at) => {
      if (items.length > 1) at.addIssue({ code: 'custom', message: 'too many' });
    }),
  recursive: (from) => {
    const node = from.object({
      a: from.string(),
      get b() {
        return node.optional();
      },
    });
    return node;
  },
};

const VALUES = [
  ...['a', 'ab', 'abcdef', ' ab', '', 'b', 'http://localhost/a', '2026-01-01T00:00:00Z', 3, 0.5, 12, true, null],
  ...[undefined, ['ab'], ['a', 3], [], [3], {}, { a: 'a' }, { a: 'ab', b: 'c' }, { a: 'a', b: 3 }, { a: 3 }],
  ...[{ a: 'a', b: null }, { a: 'a', c: 1 }, { a: 'a', b: { a: 'b' } }, { a: 'a', b: { a: 3 } }, { b: { c: 1 } }],
];

/** All that a schema answers. */
function answersOf(schema: z.ZodType, from: typeof z): unknown {
  const parsed = VALUES.map((value) => {
    const { success, data, error } = schema.safeParse(value);
    return success ? { data } : { issues: error.issues };
  });
  const { description, type } = schema;
  const json = ['input', 'output'].map((io) => {
    try {
      return from.toJSONSchema(schema, { io: io as 'input' });
    } catch (error) {
      return String(error);
    }
  });
  const inner = 'unwrap' in schema || 'options' in schema || 'element' in schema || 'shape' in schema;
  const isType = schema instanceof from.ZodType;
  return structuredClone({ parsed, description, type, json, inner, isType, meta: schema.meta() });
}

test('late schemas answer like others, the first of their kind and the next', async () => {
  for (const name of Object.keys(KINDS)) {
    const make = KINDS[name];
    assert.ok(make);
    const late = await lateZod();
    for (const which of ['first', 'second'])
      assert.deepEqual(answersOf(make(late), late), answersOf(make(z), z), `the ${which} ${name}`);
  }
});

test('late schemas answer like others if all of them exist before the first is used', async () => {
  const late = await lateZod();
  const made = Object.entries(KINDS).flatMap(([name, make]) => [1, 2].map(() => ({ name, make, schema: make(late) })));
  for (const { name, make, schema } of made.reverse())
    assert.deepEqual(answersOf(schema, late), answersOf(make(z), z), name);
});

test('properties of late schemas build them', async () => {
  const late = await lateZod();
  for (const _ of ['first', 'second']) {
    const word = late.string();
    assert.deepEqual(late.enum(['a', 'b']).options, ['a', 'b']);
    assert.deepEqual(late.enum(['a', 'b']).exclude(['a']).options, ['b']);
    assert.equal(word.optional().unwrap(), word);
    assert.equal(late.array(word).element, word);
    assert.equal(late.object({ a: word }).shape.a, word);
    assert.equal(late.record(word, word).valueType, word);
    assert.deepEqual(late.union([word, word]).options, [word, word]);
    assert.deepEqual([...late.literal(['a', 'b']).values], ['a', 'b']);
    assert.equal(word.min(2).minLength, 2);
    const { safeParse } = late.int();
    assert.equal(safeParse(3).success, true);
    assert.equal(word.describe('outer').min(1).description, 'outer');
  }
});

test('a schema is built when it is used', async () => {
  const late = await lateZod();
  late.string();
  const schema = late.string();
  assert.equal(Object.hasOwn(schema, '_zod'), false);
  schema.parse('a');
  assert.equal(Object.hasOwn(schema, '_zod'), true);
});

test('the bundled protocol has the same schemas as without late schemas', async () => {
  const source = "export { jsonSchemaDocument } from './protocol/documents/documents.ts';";
  const others = PLUGINS.filter((plugin) => plugin !== lateSchemas);
  const files = await Promise.all([PLUGINS, others].map((plugins) => bundled(source, plugins)));
  const [late, usual] = await Promise.all(files.map((file) => import(file)));
  assert.equal(JSON.stringify(late.jsonSchemaDocument()), JSON.stringify(usual.jsonSchemaDocument()));
});
