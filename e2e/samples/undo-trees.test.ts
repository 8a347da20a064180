import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { undoRandomTurns } from '../undo-trees/undo-trees.ts';

test('random turns are taken back and brought back to the same files, also with kills in between', async (t) => {
  const seed = randomInt(1, 1_000_000);
  const { kills, undone, findings } = await undoRandomTurns({ turns: 6, seed, say: (line) => t.diagnostic(line) });
  assert.deepEqual(findings, [], `npm run undo-trees -- --turns 6 --seed ${seed}`);
  assert.ok(kills + undone > 3, `${kills} kills, ${undone} taken back`);
});
