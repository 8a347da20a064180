import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';

const ROOT = path.resolve(import.meta.dirname, '../..');
const text = await readFile(path.join(ROOT, 'docs/comparison.md'), 'utf8');
const [head = [], , ...rows] = text
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );

/** Why the last cell of a row names no test; undefined if it names one. */
async function problemOf(cell: string): Promise<string | undefined> {
  const [, file = '', title = ''] = /^`([^`]+\.test\.ts)`: (.+)$/.exec(cell) ?? [];
  const place = path.join(ROOT, file);
  if (file === '' || !existsSync(place)) return `no such file: ${cell}`;
  const source = await readFile(place, 'utf8');
  const isTitle = ["'", '`', '"'].some((quote) => source.includes(`${quote}${title}${quote}`));
  return isTitle ? undefined : `no such test: ${cell}`;
}

test('each row of the comparison names a test of Headgate that exists', async () => {
  assert.ok(rows.length >= 20);
  const problems = await Promise.all(rows.map((row) => problemOf(row[6] ?? '')));
  assert.deepEqual(problems.filter(Boolean), []);
  assert.match((await problemOf('`e2e/none.test.ts`: x')) ?? '', /no such file/);
  assert.match((await problemOf('`e2e/cli/run.test.ts`: an invented title')) ?? '', /no such test/);
});

test('what is said about other products is documented, reported with its number, or unknown', () => {
  assert.deepEqual(head.slice(1, 5), ['opencode', 'openclaw', 'Open WebUI', 'Claude Code']);
  const isSaid = (cell: string) =>
    /^(unknown|documented(: .+)?|reported: .+ \(([a-z-]+#\d+(, )?)+\)(;.*)?)$/.test(cell);
  const wrong = rows.flatMap((row) => (row.length === 7 ? row.slice(1, 5).filter((cell) => !isSaid(cell)) : row));
  assert.deepEqual(wrong, []);
});
