import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readJson } from './json-text.ts';

const problem = (text: string) => {
  const json = readJson(text);
  return json.kind === 'faulty' ? json.problem : json.kind;
};

test('a duplicate name in an object is found, however it is written and wherever it is', () => {
  const twice = '"a" occurs twice in one object';
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"b":{"a":1,"c":[{"a":{}, "a" \t:2}]}}',
    `${String.raw`{"a":"\":{","\u0061"`}\n: 2}`,
    String.raw`{"x":"\\","a":"\\\"","a":""}`,
  ]) {
    assert.equal(problem(text), twice, text);
  }
});

test('equal names in different objects, and texts that look like names, are not duplicates', () => {
  for (const text of [
    '{"a":{"a":[{"a":1},{"a":2}]}}',
    JSON.stringify({ a: '"a":1,"a":2', b: 'a":', '":': '":' }),
    '["a","a",":","\\":"]',
    '""',
  ]) {
    assert.equal(problem(text), 'read', text);
  }
});

test('output of JSON.stringify is accepted, and refused with one more property of an existing name', () => {
  const dictionary = fc
    .dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue({ maxDepth: 3 }), { minKeys: 1 })
    .filter((value) => !JSON.stringify(value).includes('__proto__'));
  fc.assert(
    fc.property(dictionary, fc.nat(), (value, pick) => {
      const text = JSON.stringify(value);
      const names = Object.keys(value);
      const name = JSON.stringify(names[pick % names.length]);
      assert.equal(problem(text), 'read');
      assert.match(problem(`${text.slice(0, -1)},${name}:null}`), /occurs twice in one object$/);
    }),
    { numRuns: 300 },
  );
});

test('a property named `__proto__` is found at any depth, even if escaped', () => {
  for (const text of ['{"__proto__":1}', '{"a":[{"b":{"\\u005f_proto__":{}}}]}'])
    assert.equal(problem(text), 'a property cannot be named __proto__', text);
  assert.equal(problem('{"constructor":{"prototype":"__proto__"}}'), 'read');
});

test('half of a surrogate pair is found in names, strings and lists; whole pairs and escapes are accepted', () => {
  const half = 'a string holds half of a surrogate pair';
  for (const text of ['{"\\ud800":1}', '{"a":["\\udfff"]}', '"\\ud83dx"']) assert.equal(problem(text), half, text);
  for (const text of ['{"a":"\\ud83d\\ude00"}', '"\\u0000"', '"\\\\ud800"']) assert.equal(problem(text), 'read', text);
});

test('a megabyte of either is checked without a noticeable delay', () => {
  const long = JSON.stringify({ message: '{"a":1,"a":2}'.repeat(40_000) });
  assert.equal(problem(long), 'read');
  assert.equal(problem(`{${'"a":1,'.repeat(100_000)}"a":2}`), '"a" occurs twice in one object');
});
