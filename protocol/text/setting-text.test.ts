import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rangeOf, toSettingInput, toSettingText } from './setting-text.ts';

test('a value that is shown and typed again stays the same', () => {
  const values = [
    ['int', 120],
    ['int', -1],
    ['float', 0.5],
    ['bool', false],
    ['str', ' a text '],
    ['list', ['a,b', 'c']],
    ['list', ['[x', 'y']],
    ['object', { a: { b: [1] } }],
  ] as const;
  for (const [type, value] of values) assert.deepEqual(toSettingInput({ type }, toSettingText(value)), value);
  assert.equal(toSettingText(['a', 'b']), 'a, b');
  assert.equal(toSettingInput({ type: 'list' }, 'a, b'), 'a, b');
  assert.equal(toSettingText(null), '');
});

test('a text that is no value stays a text', () => {
  for (const [type, text] of [
    ['int', ''],
    ['int', '5 minutes'],
    ['int', '0x10'],
    ['float', 'Infinity'],
    ['bool', 'yes'],
    ['list', '[1'],
    ['object', '[]'],
    ['object', 'x'],
  ] as const)
    assert.equal(toSettingInput({ type }, text), text);
});

test('a range is told in words', () => {
  assert.deepEqual([{ minValue: 1, maxValue: 3 }, { minValue: 0 }, { maxValue: 9 }, {}].map(rangeOf), [
    '1 to 3',
    'at least 0',
    'at most 9',
    undefined,
  ]);
});
