import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { CASES } from './table.ts';

test('every case tries a numbered sentence of PROTOCOL.md, once', async () => {
  const page = await readFile(new URL('../../../PROTOCOL.md', import.meta.url), 'utf8');
  const sentences = new Set([...page.matchAll(/^- \*\*P\d+\*\* (.*)\.$/gm)].map(([, sentence]) => sentence));
  const tried = CASES.map(({ must }) => must);
  assert.deepEqual(
    tried.filter((must) => !sentences.has(must)),
    [],
  );
  assert.equal(new Set(tried).size, tried.length);
});
