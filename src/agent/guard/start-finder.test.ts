import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StartFinder } from './start-finder.ts';

const find = (text: string, from = 0, ignoresCase = true) => {
  const found: [number, string][] = [];
  const words = ['key', 'keyring', '://', '-u ', 'glöm', 'AKIA'];
  new StartFinder(
    words.map((word) => [word, word] as const),
    { ignoresCase },
  ).each(text, from, (at, word) => found.push([at, word]));
  return found;
};

test('beginnings are found in the order of the text, also at the same place', () => {
  assert.deepEqual(find('a KEYRING http://x -u me glöm akia'), [
    [2, 'key'],
    [2, 'keyring'],
    [14, '://'],
    [19, '-u '],
    [25, 'glöm'],
    [30, 'AKIA'],
  ]);
  assert.deepEqual(find('a KEYRING key AKIA', 0, false), [
    [10, 'key'],
    [14, 'AKIA'],
  ]);
});

test('a search begins where it is told to, and short texts have nothing', () => {
  assert.deepEqual(find('key key', 1), [[4, 'key']]);
  assert.deepEqual(
    ['', 'k', 'ke'].flatMap((text) => find(text)),
    [],
  );
  assert.deepEqual(find('key'), [[0, 'key']]);
});
