import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { withLazyShapes } from './lazy-shapes.js';

test('the fields of a schema are made at its first use, and once', () => {
  const made: string[] = [];
  const field = (name: string) => {
    made.push(name);
    return z.string();
  };
  const source =
    "z.strictObject({ a: field('a'), 'b-c': z.object({ d: field('d') }).optional() }).extend({ e: field('e') })";
  const schema: z.ZodType = new Function('z', 'field', `return ${withLazyShapes(source)}`)(z, field);
  assert.deepEqual(made, []);
  const value = { a: 'x', 'b-c': { d: 'y' }, e: 'z' };
  assert.deepEqual([schema.parse(value), schema.parse(value)], [value, value]);
  assert.deepEqual([...made].sort(), ['a', 'd', 'e']);
  assert.equal(schema.safeParse({ ...value, f: 1 }).success, false);
});

test('names, spreads and what a getter cannot compute stay as they are', () => {
  const source = 'const make = async () => z.object({ a, b: c, ...d, e: await f(), [g]: z.int() });';
  assert.equal(withLazyShapes(source), source);
});
