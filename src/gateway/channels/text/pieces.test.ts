import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mark, type Piece, toPlain } from './pieces.ts';

test('the address of a link follows the last of its pieces, unless its text shows it', () => {
  const link: Mark = { kind: 'link', href: 'https://example.org/a' };
  const shown: Mark = { kind: 'link', href: 'https://example.org/b' };
  const pieces: Piece[] = [
    { text: 'one ', marks: [link] },
    { text: 'link', marks: [link, { kind: 'bold' }] },
    { text: ', ', marks: [] },
    { text: 'example.org', marks: [shown] },
    { text: '/b', marks: [shown] },
  ];
  assert.equal(toPlain(pieces), 'one link (https://example.org/a), example.org/b');
});

test('a text of many links is written in linear time', () => {
  let reads = 0;
  const links = Array.from({ length: 2_000 }, (_, index): Piece => {
    const marks: readonly Mark[] = [{ kind: 'link', href: `https://example.org/${index}` }];
    return {
      text: 'x',
      get marks() {
        reads += 1;
        return marks;
      },
    };
  });
  toPlain(links);
  assert.ok(reads <= 10 * links.length, `${reads} reads`);
});
