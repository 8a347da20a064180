import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { runClusterDrill } from '../cluster-drill/drill.ts';

/** Chosen so that a daemon takes over after a kill and after a pause, one hands over, and links break. */
const SEED = 1;
const ROUNDS = 4;

test('nothing is lost, doubled or decided twice while three daemons fail', await needs('postgresql'), async (t) => {
  const { violations, score, folder } = await runClusterDrill({
    ...{ rounds: ROUNDS, seed: SEED },
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual(violations, [], `npm run drill:cluster -- --rounds ${ROUNDS} --seed ${SEED} (${folder})`);
  // A drill in which nothing happens proves nothing.
  const { holders, writes, runs, approvals, resumes } = score;
  const missing = Object.entries({ writes, runs, approvals, resumes }).filter(([, count]) => count === 0);
  assert.deepEqual(
    { rounds: score.rounds, missing, isTaken: holders > 1 },
    { rounds: ROUNDS, missing: [], isTaken: true },
  );
});
