import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Clock, systemClock } from '../../clock.ts';
import { StopReason } from '../stop-reason.ts';
import { createOutputChecks } from './answer-checks.ts';

const workerUrl = new URL('./output-worker.ts', import.meta.url);
const checks = createOutputChecks({ clock: systemClock, workerUrl });
const never = new AbortController().signal;

const schema = {
  type: 'object',
  properties: { name: { type: 'string' }, kind: { enum: ['fruit', 'tool'] }, count: { type: 'integer', minimum: 1 } },
  required: ['name', 'count'],
  additionalProperties: false,
};
const check = (text: string, given: object = schema) => checks.check({ schema: { ...given }, text }, never);
const problemOf = (given: object) => checks.problemOf({ ...given }, never);

test('an answer fits as plain JSON, and as the last fenced block that is JSON', async () => {
  const output = { name: 'pear', count: 2 };
  const json = JSON.stringify(output);
  const texts = [
    `  ${json}\n`,
    `Here:\n\`\`\`json\n${json}\n\`\`\`\nDone.`,
    `\`\`\`sh\nls\n\`\`\`\n\`\`\`\n${json}\n\`\`\``,
  ];
  for (const text of texts) assert.deepEqual(await check(text), { fits: true, output }, text);
});

test('an answer that does not fit is reported with paths and what is expected', async () => {
  const text = JSON.stringify({ kind: 'car', count: 0, colour: 'red' });
  assert.deepEqual(await check(text), {
    fits: false,
    errors: [
      { path: '', message: "must have required property 'name'" },
      { path: '', message: 'must NOT have additional properties: "colour"' },
      { path: '/kind', message: 'must be equal to one of the allowed values: ["fruit","tool"]' },
      { path: '/count', message: 'must be >= 1' },
    ],
  });
  for (const other of ['', 'A pear.', '{"name": "pear"', '```json\n{"name":']) {
    const errors = [{ path: '', message: 'must be JSON, without any other text' }];
    assert.deepEqual(await check(other), { fits: false, errors }, other);
  }
});

test('at most ten errors are reported, and long ones are cut', async () => {
  const many = await check(JSON.stringify(Array(40).fill(1)), { items: { const: 'x'.repeat(1_000) } });
  assert.ok(!many.fits);
  assert.equal(many.errors.length, 10);
  assert.ok(many.errors.every(({ message }) => message.length <= 300));
});

test('answers that are too large or nested too deeply do not fit', async () => {
  const large = await check(JSON.stringify('x'.repeat(256 * 1024)), {});
  assert.deepEqual(large, { fits: false, errors: [{ path: '', message: 'must have at most 262144 bytes' }] });
  const deep = await check('['.repeat(100_000) + ']'.repeat(100_000), {});
  assert.deepEqual(deep, { fits: false, errors: [{ path: '', message: 'must be nested at most 64 levels deep' }] });
  assert.deepEqual(await check('null', {}), { fits: true, output: null });
});

test('schemas of both drafts are usable', async () => {
  const draft7 = {
    $schema: 'http://json-schema.org/draft-07/schema#',
    definitions: { id: { type: 'integer' } },
    items: [{ $ref: '#/definitions/id' }],
  };
  assert.equal(await problemOf(draft7), undefined);
  assert.equal((await check('["one"]', draft7)).fits, false);
  const draft2020 = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $defs: { node: { properties: { next: { $ref: '#/$defs/node' }, at: { type: 'string', format: 'date' } } } },
    $ref: '#/$defs/node',
    examples: [1],
  };
  assert.equal(await problemOf(draft2020), undefined);
  assert.deepEqual(await check('{"next": {"at": "soon"}}', draft2020), {
    fits: false,
    errors: [{ path: '/next/at', message: 'must match format "date"' }],
  });
});

test('a schema that cannot be used is refused with the reason', async () => {
  const cases: [object, RegExp][] = [
    [{ type: 'strang' }, /^schema is invalid: data\/type must be equal to one of the allowed values/],
    [{ $ref: 'https://example.com/schema.json' }, /^can't resolve reference https:\/\/example\.com\/schema\.json/],
    [{ $ref: '#/$defs/none' }, /^can't resolve reference #\/\$defs\/none/],
    [{ pattern: '(' }, /^Invalid regular expression: /],
    [{ $schema: 'http://json-schema.org/draft-03/schema' }, /^\$schema must name draft 2020-12 or draft-07$/],
    [{ description: 'x'.repeat(33_000) }, /^it has 330\d\d bytes; at most 32768 are allowed$/],
  ];
  for (const [given, reason] of cases) assert.match((await problemOf(given)) ?? '', reason);
});

test('a pattern that takes forever ends after two seconds, blocks nothing, and does not stop other checks', async () => {
  const ended: string[] = [];
  const evil = check(JSON.stringify(`${'a'.repeat(60)}!`), { pattern: '^(a+)+$' }).finally(() => ended.push('evil'));
  const other = check('1', { type: 'integer' }).finally(() => ended.push('other'));
  assert.deepEqual(await Promise.all([evil, other]), [
    { fits: false, errors: [{ path: '', message: 'the check took longer than 2 s' }] },
    { fits: true, output: 1 },
  ]);
  assert.deepEqual(ended, ['other', 'evil']);
});

test('the time of a check that waits for a processor does not count', async () => {
  // As on a machine so busy that two seconds go by before the check has begun.
  const sleep: Clock['sleep'] = (ms, signal) => (ms < 30_000 ? Promise.resolve() : systemClock.sleep(ms, signal));
  const late = createOutputChecks({ clock: Object.assign(Object.create(systemClock), { sleep }), workerUrl });
  const checked = await late.check({ schema, text: '{"name":"pear","count":2}' }, never);
  assert.deepEqual(checked, { fits: true, output: { name: 'pear', count: 2 } });
});

test('a check ends with its run', async () => {
  const stopping = new AbortController();
  const checked = checks.check({ schema: {}, text: '1' }, stopping.signal);
  const reason = new StopReason('cancel', 'cancelled');
  stopping.abort(reason);
  await assert.rejects(checked, (error) => error === reason);
});
