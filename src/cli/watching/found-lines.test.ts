import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toFoundLines } from './found-lines.ts';

const MESSAGE = { wsId: 'b', name: 'Notes', seq: 3, role: 'user' as const, createdMs: 0, excerpt: '' };
const paint = (_: unknown, text: string) => `[${text}]`;

test('beginnings of words are marked where they were searched, whatever their case, and special characters are only themselves', () => {
  const lineOf = (excerpt: string, words: string[]) =>
    toFoundLines({ workstreams: [], messages: [{ ...MESSAGE, excerpt }] }, words, paint)[0];
  assert.equal(lineOf('A Kestrel, no skestrel', ['kest']), 'b  1970-01-01  Notes #3 user: A [Kest]rel, no skestrel');
  assert.equal(lineOf('c++ and ccc', ['c++']), 'b  1970-01-01  Notes #3 user: [c++] and ccc');
  assert.equal(lineOf('kestrels', ['kes', 'kestrel']), 'b  1970-01-01  Notes #3 user: [kestrel]s');
});

test('what was found cannot steer the terminal, and stays in one line', () => {
  const messages = [{ ...MESSAGE, excerpt: 'a\u001b[2Jb\nc' }];
  const lines = toFoundLines({ workstreams: [], messages }, ['x'], paint);
  assert.equal(lines.length, 1);
  assert.deepEqual(
    ['\u001b', '\n'].filter((sign) => lines[0]?.includes(sign)),
    [],
  );
  assert.deepEqual(toFoundLines({ workstreams: [], messages: [] }, ['x'], paint), ['Nothing has these words.']);
});
