import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { analyse } from 'scslre';
import { parseSync, Visitor } from 'vite';

const ROOT = path.resolve(import.meta.dirname, '..');

/** They are slow for long texts, but get none. */
const FOR_SHORT_TEXTS: Readonly<Record<string, string>> = {
  'src/agent/tools/files/secret-path.ts': 'names have at most LONGEST_NAME characters',
  'src/gateway/titles/title-text.ts': 'at most MOST_READ characters are read',
  'src/page/state/conversation/asked-item.ts': 'a row of a card has few characters',
};

/** Clients, models and pages choose the texts: with 100 kB, such a pattern would stop the daemon for seconds or hours. */
test('no regular expression takes time that grows with the square of a text', () => {
  const files = globSync('{src,protocol}/**/*.{ts,tsx}', { cwd: ROOT }).filter(
    (file) => !/\.test\.|testing\//.test(file),
  );
  const slow = files.flatMap((file) =>
    patternsIn(file, readFileSync(path.join(ROOT, file), 'utf8'))
      .filter((pattern) => isSlow(pattern))
      .map((pattern) => ({ file, pattern: `/${pattern.source}/` })),
  );
  const [excused, wrong] = [true, false].map((isWanted) =>
    slow.filter(({ file }) => Object.hasOwn(FOR_SHORT_TEXTS, file) === isWanted),
  );
  assert.deepEqual(wrong, []);
  assert.deepEqual(new Set(excused?.map(({ file }) => file)), new Set(Object.keys(FOR_SHORT_TEXTS)));
});

test('patterns that read the rest of a text again and again are recognized', () => {
  const source = String.raw`const slow = [/\s+$/, /^\d*\.?\d+$/]; const quick = [/^\s+/, /\d{1,9}$/g];`;
  assert.deepEqual(patternsIn('some.ts', source).map(isSlow), [true, true, false, false]);
});

type Pattern = Pick<RegExp, 'source' | 'flags'>;

const isSlow = ({ source, flags }: Pattern): boolean => analyse({ source, flags }).reports.length > 0;

function patternsIn(file: string, source: string): Pattern[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0]) throw new Error(`${file}: ${errors[0].message}`);
  const found: Pattern[] = [];
  new Visitor({
    Literal(node) {
      if ('regex' in node) found.push({ source: node.regex.pattern, flags: node.regex.flags });
    },
  }).visit(program);
  return found;
}
