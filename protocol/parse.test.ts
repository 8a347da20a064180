import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { ConnectParams } from './connect.ts';
import { GatewayError } from './errors.ts';
import { AgentParams } from './methods/agent.ts';
import { check, issuesOf, parse, problemsOf, wrongField } from './parse.ts';

test('a valid value is returned with its defaults filled in', () => {
  const params = { minProtocol: 2, maxProtocol: 2, client: { name: 'a', version: '1', platform: 'b', mode: 'c' } };
  assert.deepEqual(parse(ConnectParams, params, 'connect params'), { ...params, caps: [] });
});

test('an invalid value is INVALID_REQUEST that names each wrong place without repeating the input', () => {
  assert.throws(
    () => parse(AgentParams, { message: '', timeout: 'secret', surprise: 1 }, 'agent params'),
    (error: unknown) => {
      assert.ok(error instanceof GatewayError);
      assert.equal(error.code, 'INVALID_REQUEST');
      assert.match(error.message, /^invalid agent params: message: .*; idempotencyKey: .*; timeout: .*surprise/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    },
  );
});

test('an error has each wrong place as data, with the limit in its message', () => {
  const Bounded = z.strictObject({ name: z.string().max(3), list: z.array(z.int().min(5)) });
  const issues = [
    { path: 'name', message: 'must have at most 3 characters', limit: 3, bound: 'max' },
    { path: 'list.1', message: 'must be at least 5', limit: 5, bound: 'min' },
    { path: '', message: 'unknown property "surprise"' },
  ];
  assert.throws(() => parse(Bounded, { name: 'long', list: [7, 4], surprise: 1 }, 'it'), { details: { issues } });
  assert.deepEqual(issuesOf({ issues }), issues);
});

test('a problem beyond the schema has the same form', () => {
  const { code, message, details } = wrongField('list.1', 'is taken', { separator: ' ' });
  assert.deepEqual(
    [code, message, issuesOf(details)],
    ['INVALID_REQUEST', 'list.1 is taken', [{ path: 'list.1', message: 'is taken' }]],
  );
  assert.equal(wrongField('list', 'too late').message, 'list: too late');
});

test('other details contain no issues', () => {
  for (const details of [undefined, null, {}, { expectedProtocol: 2 }, { issues: [{ path: 1 }] }])
    assert.deepEqual(issuesOf(details), []);
});

const Form = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('x') }),
  z.strictObject({ kind: z.literal('z'), size: z.number() }),
]);
const Everything = z.strictObject({
  name: z.string().min(1).max(3),
  word: z.string().regex(/^[a-z]+$/),
  nth: z.int().min(1).max(9).optional(),
  share: z.number().gt(0).lt(1).optional(),
  on: z.boolean().optional(),
  kind: z.enum(['a', 'b']).optional(),
  only: z.literal('one').optional(),
  list: z.array(z.string()).min(2).max(3).optional(),
  some: z.array(z.string()).min(1).optional(),
  of: z.record(z.string().regex(/^k/), z.int()).optional(),
  at: z.url().optional(),
  form: Form.optional(),
  any: z.union([z.string(), Form]).optional(),
  own: z.string().regex(/\S/, 'says it itself').optional(),
});
const fine = { name: 'a', word: 'b' };

for (const [value, problem] of [
  [{ word: 'b' }, 'name: is missing; it must be a string'],
  [{ ...fine, name: 7 }, 'name: must be a string, not a number'],
  [{ ...fine, name: '' }, 'name: must not be empty'],
  [{ ...fine, name: 'abcd' }, 'name: must have at most 3 characters'],
  [{ ...fine, word: 'B' }, 'word: must look like /^[a-z]+$/'],
  [{ ...fine, nth: 0 }, 'nth: must be at least 1'],
  [{ ...fine, nth: 10 }, 'nth: must be at most 9'],
  [{ ...fine, nth: 1.5 }, 'nth: must be a whole number'],
  [{ ...fine, nth: null }, 'nth: must be a number, not null'],
  [{ ...fine, share: 0 }, 'share: must be more than 0'],
  [{ ...fine, share: 1 }, 'share: must be less than 1'],
  [{ ...fine, on: 'yes' }, 'on: must be true or false, not a string'],
  [{ ...fine, kind: 'c' }, 'kind: must be one of "a", "b"'],
  [{ ...fine, only: '' }, 'only: must be "one"'],
  [{ ...fine, list: ['a'] }, 'list: must have at least 2 entries'],
  [{ ...fine, list: ['a', 'b', 'c', 'd'] }, 'list: must have at most 3 entries'],
  [{ ...fine, list: {} }, 'list: must be a list, not an object'],
  [{ ...fine, some: [] }, 'some: must not be empty'],
  [{ ...fine, of: { no: 1 } }, 'of.no: is not a valid name: it must look like /^k/'],
  [{ ...fine, at: 'here' }, 'at: must be a complete http or https address'],
  [{ ...fine, form: { kind: 'y' } }, 'form.kind: must be one of "x", "z"'],
  [{ ...fine, form: {} }, 'form.kind: must be one of "x", "z"'],
  [{ ...fine, any: 7 }, 'any: must be a string, not a number, or must be an object, not a number'],
  [{ ...fine, any: { kind: 'y' } }, 'any: kind must be one of "x", "z"'],
  [{ ...fine, any: { kind: 'z' } }, 'any: size is missing; it must be a number'],
  [{ ...fine, own: ' ' }, 'own: says it itself'],
  [{ ...fine, more: 1 }, 'unknown property "more"'],
  [{ ...fine, more: 1, ['x'.repeat(70)]: 1 }, `unknown properties "more", "${'x'.repeat(64)}"`],
  [[], 'must be an object, not a list'],
] as const)
  test(`${JSON.stringify(value)} is refused with: ${problem}`, () => {
    const { error } = check(Everything, value);
    assert.equal(error && problemsOf(error), problem);
  });

for (const value of [Number.POSITIVE_INFINITY, Number.NaN])
  test(`${value}, which JSON5 accepts as a number, is refused with a reason`, () => {
    const { error } = check(Everything, { ...fine, nth: value, share: value });
    assert.equal(error && problemsOf(error), 'nth: must be a finite number; share: must be a finite number');
  });
