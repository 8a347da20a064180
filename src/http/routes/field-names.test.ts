import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { z } from 'zod';
import type { CONTRACTS } from '../../../protocol/index.ts';
import type { Binding } from '../bind.ts';
import { toField } from '../input/field-problems.ts';

/** Params that a route sets without a field of the request. */
const SET_BY_ROUTE: Partial<Record<keyof typeof CONTRACTS, readonly string[]>> = {
  'watch.list': ['here'],
  'watch.cancel': ['here'],
  'workstream.send': ['queue', 'steer'],
  'workstream.history': ['withCursor'],
  'workstream.update': ['asTitle'],
  'oidc.callback': ['pending'],
};

interface JsonSchema {
  type?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: JsonSchema[];
  properties?: Record<string, JsonSchema>;
}

function sampleOf({ type, enum: values, anyOf, ...schema }: JsonSchema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (values) return values[0];
  if (anyOf?.[0]) return sampleOf(anyOf[0]);
  const samples: Record<string, unknown> = { integer: 1, number: 1, boolean: true, array: [], object: {} };
  return samples[type ?? ''] ?? '2030-01-01T00:00:00Z';
}

const isBinding = (value: unknown): value is Binding =>
  typeof value === 'object' && value !== null && 'endpoint' in value && 'method' in value;

async function bindings(): Promise<Binding[]> {
  const found: Binding[] = [];
  for (const entry of await readdir(import.meta.dirname, { recursive: true })) {
    if (!entry.endsWith('.ts') || entry.endsWith('.test.ts')) continue;
    const values: unknown[] = Object.values(await import(`./${entry}`));
    found.push(...values.flat().filter(isBinding));
  }
  return found;
}

test('an error of a method names the field of the request that the param came from', async () => {
  const all = await bindings();
  const wrong: string[] = [];
  for (const { endpoint, method, params, fieldNames } of all) {
    const schema = z.toJSONSchema(endpoint.request(), { io: 'input', unrepresentable: 'any' }) as JsonSchema;
    const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [name, sampleOf(field)] as const);
    const via = { loopback: true, cookieOf: () => 'x' };
    const given = params(Object.fromEntries(fields) as never, via) as object;
    for (const [param, value] of Object.entries(given)) {
      const isKnown = fields.some(([name]) => name === toField(param, fieldNames)) || fieldNames?.[param] === '';
      if (value !== undefined && param !== 'idempotencyKey' && !isKnown && !SET_BY_ROUTE[method]?.includes(param))
        wrong.push(`${endpoint.verb} ${endpoint.path}: ${toField(param, fieldNames)}`);
    }
  }
  assert.ok(all.length > 100, `${all.length} bindings`);
  assert.deepEqual(wrong, []);
});
