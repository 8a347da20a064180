import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { toDocument } from './document.ts';
import { type Figure, isMet } from './figure.ts';
import { SOURCES } from './sources.ts';
import stored from './stored-figures.json' with { type: 'json' };

const FIGURES = stored as Figure[];

test('the documented figures are those of the last measurement', () => {
  assert.equal(readFileSync('docs/security-figures.md', 'utf8'), toDocument(FIGURES));
});

test('every set has figures, and those that are measured here are within their aims', () => {
  const missing = SOURCES.flatMap(({ sets }) => sets).filter((each) => !FIGURES.some(({ set }) => set === each));
  const fast = new Set(SOURCES.filter(({ isFast }) => isFast).flatMap(({ sets }) => sets));
  const failed = FIGURES.filter((figure) => fast.has(figure.set) && !isMet(figure));
  assert.deepEqual([missing, failed], [[], []]);
});

for (const { sets, measure } of SOURCES.filter((source) => source.isFast))
  test(`the figures have not changed: ${sets.join(', ')}`, async () => {
    assert.deepEqual(
      await measure(),
      FIGURES.filter(({ set }) => sets.includes(set)),
      'npm run security-figures -- --fast',
    );
  });
