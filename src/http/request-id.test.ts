import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRequestIds } from './request-id.ts';

const ask = (...given: (string | undefined)[]) => {
  const idOf = createRequestIds('boot');
  return given.map((id) => idOf({ headers: id === undefined ? {} : { 'x-request-id': id } }));
};

test('a well-formed id is taken over', () => {
  const given = ['a', 'A-1_b.c', 'x'.repeat(64), '7ac1e4f0-3b5d-4c55-9d0a-5a1c5e2f9b11'];
  assert.deepEqual(ask(...given), given);
});

test('any other request gets a new id', () => {
  const given = [undefined, '', 'x'.repeat(65), 'two words', 'a, b', 'a\u00e9', '"quoted"', '<b>', 'line\nbreak'];
  assert.deepEqual(
    ask(...given),
    given.map((_, index) => `boot-${index + 1}`),
  );
});
