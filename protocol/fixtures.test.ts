import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import { schemasByPlace } from './documents/documents.ts';

const FOLDER = new URL('fixtures/', import.meta.url);

/** Every named schema of the WebSocket protocol, including nested ones. */
function schemasById(): Map<string, z.core.$ZodType> {
  const byId = new Map<string, z.core.$ZodType>();
  z.toJSONSchema(z.object(schemasByPlace()), {
    io: 'input',
    override: ({ zodSchema }) => {
      const id = z.globalRegistry.get(zodSchema)?.id;
      if (id !== undefined) byId.set(id, zodSchema);
    },
  });
  return byId;
}

const schemas = schemasById();

/** The parsed samples of one kind, by file name. */
async function samplesOf(id: string, kind: 'valid' | 'invalid'): Promise<[string, unknown][]> {
  const names = await readdir(new URL(`${id}/${kind}/`, FOLDER));
  return Promise.all(
    names.map(
      async (name): Promise<[string, unknown]> => [
        name,
        JSON.parse(await readFile(new URL(`${id}/${kind}/${name}`, FOLDER), 'utf8')),
      ],
    ),
  );
}

test('every named schema has fixtures, and every folder of fixtures belongs to a schema', async () => {
  assert.deepEqual((await readdir(FOLDER)).sort(), [...schemas.keys()].sort());
});

for (const [id, schema] of schemas)
  test(`${id} accepts its valid fixtures unchanged and refuses its invalid ones`, async () => {
    const valid = await samplesOf(id, 'valid');
    const invalid = await samplesOf(id, 'invalid');
    assert.deepEqual({ valid: valid.length > 0, invalid: invalid.length > 0 }, { valid: true, invalid: true });
    for (const [name, sample] of valid) {
      const { data, error } = z.safeParse(schema, sample);
      assert.ifError(error);
      assert.deepEqual(withoutDefaults(data, sample), sample, name);
    }
    for (const [name, sample] of invalid) assert.equal(z.safeParse(schema, sample).success, false, `${name} was taken`);
  });

/** The parsed value without the defaults that the schema filled in. */
function withoutDefaults(data: unknown, sample: unknown): unknown {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return data;
  return Object.fromEntries(Object.entries(data).filter(([key]) => Object.hasOwn(Object(sample), key)));
}
