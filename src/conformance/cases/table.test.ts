import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { CASES } from './table.ts';

test('every case tests a different numbered sentence of PROTOCOL.md', async () => {
  const page = await readFile(new URL('../../../PROTOCOL.md', import.meta.url), 'utf8');
  const sentences = new Set([...page.matchAll(/^- \*\*P\d+\*\* (.*)\.$/gm)].map(([, sentence]) => sentence));
  const tried = CASES.map(({ must }) => must);
  assert.deepEqual(
    tried.filter((must) => !sentences.has(must)),
    [],
  );
  assert.equal(new Set(tried).size, tried.length);
});

test('docs/cli.md says how many sentences are tested, and which are not', async () => {
  const [page, docs] = await Promise.all(
    ['PROTOCOL.md', 'docs/cli.md'].map((name) => readFile(new URL(`../../../${name}`, import.meta.url), 'utf8')),
  );
  const tried = new Set(CASES.map(({ must }) => must));
  const sentences = [...(page ?? '').matchAll(/^- \*\*P(\d+)\*\* (.*)\.$/gm)];
  const untried = sentences.filter(([, , sentence = '']) => !tried.has(sentence)).map(([, number]) => Number(number));
  const [, count, told = ''] =
    /tries (\d+) of the sentences.*?Not tried are sentences that (.*?)\n\n/s.exec(`${docs}\n\n`) ?? [];
  const named = [...told.matchAll(/P(\d+)(?: to P(\d+))?/g)].flatMap(([, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, i) => Number(from) + i),
  );
  assert.deepEqual(
    { count: Number(count), named: named.sort((a, b) => a - b) },
    { count: CASES.length, named: untried },
  );
});
