import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST_TOOLS, readTools } from './announced-tools.ts';
import { toToolName } from './tool-name.ts';

const tool = (name: unknown, more: object = {}) => ({
  name,
  description: 'd',
  inputSchema: { type: 'object' },
  ...more,
});

test('tools that nobody could use are left out, with the reason; the others stay', () => {
  const { tools, problems } = readTools([
    tool('good'),
    tool('good'),
    tool(''),
    tool(7),
    null,
    'text',
    tool('x'.repeat(300)),
    tool('described', { description: {} }),
    tool('array', { inputSchema: { type: 'array' } }),
    tool('list', { inputSchema: [] }),
    { name: 'bare' },
  ]);
  assert.deepEqual(
    tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
    [
      { name: 'good', description: 'd', inputSchema: { type: 'object' } },
      { name: 'bare', description: '', inputSchema: { type: 'object' } },
    ],
  );
  assert.deepEqual(problems, [
    'tool 2: the name "good" was used before',
    'tool 3: it has no name',
    'tool 4: it has no name',
    'tool 5: it has no name',
    'tool 6: it has no name',
    'tool 7: its name is longer than 256 characters',
    'tool 8: the description of "described" is no text',
    'tool 9: the arguments of "array" are not described as an object',
    'tool 10: the arguments of "list" are not described by a JSON Schema',
  ]);
});

test('a schema that is deep, wide or long is left out, also one of a hundred thousand levels', () => {
  let deep: object = { type: 'string' };
  for (let level = 0; level < 100_000; level += 1) deep = { properties: { a: deep } };
  const wide = { enum: Array.from({ length: 5_000 }, (_, index) => index) };
  const long = { description: 'x'.repeat(40_000) };
  const schemas = [deep, wide, long].map((part) => ({ type: 'object', properties: { part } }));
  const { tools, problems } = readTools(schemas.map((inputSchema, index) => tool(`t${index}`, { inputSchema })));
  assert.deepEqual(
    [tools, problems],
    [
      [],
      [
        'tool 1: the arguments of "t0" are described with more than 24 levels or 4000 parts',
        'tool 2: the arguments of "t1" are described with more than 24 levels or 4000 parts',
        'tool 3: the arguments of "t2" are described with 40058 bytes, more than 32768',
      ],
    ],
  );
});

test('an enormous list is cut, and its problems are counted only up to a limit', () => {
  const many = readTools(Array.from({ length: 100_000 }, (_, index) => tool(`t${index}`)));
  assert.equal(many.tools.length, MOST_TOOLS);
  assert.deepEqual(many.problems, ['only the first 500 of 100000 tools are used']);
  assert.equal(readTools(Array.from({ length: 10_000 }, () => null)).problems.length, 20);
});

test('hidden characters of a description are shown, and its digest changes with every part that a model reads', () => {
  const [hidden] = readTools([tool('a', { description: 'be\u200Bware\u202E' })]).tools;
  assert.doesNotMatch(hidden?.description ?? '', /[\u200B\u202E]/);
  const digests = [
    tool('a'),
    tool('a', { description: 'e' }),
    tool('a', { inputSchema: { type: 'object', properties: {} } }),
    tool('a', { description: `${'x'.repeat(5_000)}1` }),
    tool('a', { description: `${'x'.repeat(5_000)}2` }),
  ].map((one) => readTools([one]).tools[0]?.digest);
  assert.equal(new Set(digests).size, digests.length);
});

test('the name of a tool tells its server, fits all providers, and no two tools share one', () => {
  assert.equal(toToolName('files', 'read_file'), 'mcp__files__read_file');
  const pairs = [
    ['a', '_b'],
    ['a_', 'b'],
    ['a.b', 'c'],
    ['a_b', 'c'],
    ['a', 'größe'],
    ['a', 'gr__e'],
    ['a', 'x y'],
    ['a', 'x/y'],
    ['a', '🐈'],
    ['a', ''],
    ['a', 'long'.repeat(40)],
    ['a', `${'long'.repeat(40)}2`],
  ] as const;
  const names = pairs.map(([server, name]) => toToolName(server, name));
  assert.equal(new Set(names).size, pairs.length);
  for (const name of names) assert.match(name, /^mcp__[A-Za-z0-9_-]{1,59}$/);
});
