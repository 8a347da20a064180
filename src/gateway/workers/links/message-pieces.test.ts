import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { createJoin, toPieces } from './message-pieces.ts';

const PIECE = 512 * 1024;

/** What the join returns for each piece of the text. */
function joined(join: ReturnType<typeof createJoin>, text: Uint8Array) {
  return [...toPieces(text)].map(join);
}

for (const [size, pieces] of [
  [0, 1],
  [1, 1],
  [PIECE - 1, 1],
  [PIECE, 1],
  [PIECE + 1, 2],
  [2 * PIECE, 2],
  [3 * PIECE + 7, 4],
] as const) {
  test(`a text of ${size} bytes is sent in ${pieces} ${pieces === 1 ? 'piece' : 'pieces'} and joined again`, () => {
    const text = randomBytes(size);
    const parts = joined(createJoin(), text);
    assert.equal(parts.length, pieces);
    assert.deepEqual(
      parts.map((part) => part !== undefined),
      parts.map((_, index) => index === pieces - 1),
    );
    assert.deepEqual(parts.at(-1), text);
  });
}

test('each piece fits into a message of the bus, which may have 1 MB', () => {
  for (const piece of toPieces(Buffer.alloc(3 * PIECE))) assert.ok(piece.length <= PIECE + 1);
});

test('texts that follow each other are not mixed', () => {
  const join = createJoin();
  const texts = [randomBytes(2 * PIECE), randomBytes(3), randomBytes(0), randomBytes(PIECE + 1)];
  assert.deepEqual(
    texts.map((text) => joined(join, text).at(-1)),
    texts,
  );
});

test('a text of more than 256 MiB is refused before it is joined', () => {
  const join = createJoin();
  const [piece = Buffer.alloc(0)] = toPieces(Buffer.alloc(PIECE + 1)); // more follows
  for (let n = 0; n < 512; n += 1) assert.equal(join(piece), undefined);
  assert.throws(() => join(piece), /too long/);
});
