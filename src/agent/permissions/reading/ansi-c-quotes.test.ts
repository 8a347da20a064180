import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { createRandom } from '../corpus/compositions-fixture.ts';
import { readCommand } from '../read-command.ts';

const ASCII = Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)).filter((each) => each !== "'");
const PIECES = [
  ...['\\x', '\\x{', '}', '{', '\\0', '\\1', '\\145', '\\x65', '\\x4', '\\x2e', '\\xc3', '\\xa9', '\\377', '\\0145'],
  ...['\\u', '\\u65', '\\u00e9', '\\uD800', '\\U65', '\\U0001f600', '\\U110000', '\\c', '\\cA', '\\c?', '\\cé', '\\c@'],
  ...[
    '6',
    '5',
    'e',
    'n',
    '.',
    '/',
    'é',
    '😀',
    '\\\\',
    "\\'",
    '\\"',
    '\\e',
    '\\n',
    '\\z',
    '\\8',
    '\\?',
    '\\c\\\\',
    '\\\n',
  ],
];

/** Texts between `$'` and `'`: each character behind each beginning of an escape, and random ones. */
function texts(): string[] {
  const random = createRandom(5);
  const pick = () => PIECES[Math.floor(random() * PIECES.length)] ?? '';
  const single = ['\\', '\\c', '\\x', '\\x4', '\\u', '\\U', '\\0'].flatMap((start) =>
    ASCII.filter((each) => each !== '\\').map((each) => start + each),
  );
  const mixed = Array.from({ length: 3_000 }, () => Array.from({ length: 1 + random() * 4 }, pick).join(''));
  return [...new Set([...single, ...mixed, ...PIECES])].filter((text) => !/(^|[^\\])(\\\\)*\\$/.test(text));
}

function inBash(quoted: readonly string[], locale: string): string[] {
  const code = `printf '%s\\0' ${quoted.join(' ')}`;
  return execFileSync('bash', { input: code, env: { LC_ALL: locale } })
    .toString('utf8')
    .split('\0')
    .slice(0, -1);
}

test("a value of `$'…'` that counts as known is what bash makes of it, in any locale", () => {
  const quoted = texts().map((text) => `$'${text}'`);
  const values = quoted.map((text) => readCommand(`echo ${text}`, { folder: '/work' }).commands[0]?.words[1]?.value);
  for (const locale of ['C', 'C.UTF-8']) {
    const decoded = inBash(quoted, locale);
    const wrong = quoted.filter((_, at) => values[at] !== undefined && values[at] !== decoded[at]);
    assert.deepEqual([wrong, decoded.length], [[], quoted.length], locale);
  }
  assert.ok(values.filter((value) => value !== undefined).length > quoted.length / 3);
});
