import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runRaces } from '../races/races.ts';

test('a question that everybody decides at once ends once, in the same way for all', async (t) => {
  const seed = randomInt(1, 1_000_000);
  const rounds = 60;
  const { findings, tally } = await runRaces({ rounds, seed, say: (line) => t.diagnostic(line) });
  t.diagnostic(JSON.stringify(tally));
  assert.deepEqual(findings, [], `npm run races -- --rounds ${rounds} --seed ${seed}`);
  // Races that always end in the same way prove nothing.
  const happened = ['principal true', 'principal false', 'judge true', 'cancel false', 'ran', 'judged'];
  assert.deepEqual(
    happened.filter((end) => tally[end] === undefined),
    [],
  );
});
