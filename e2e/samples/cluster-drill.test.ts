import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { runClusterDrill } from '../cluster-drill/drill.ts';

/** Chosen so that clocks are wrong, workstreams move while a worker is paused, and a worker and the active daemon are killed at once. */
const SEED = 7746;
const ROUNDS = 3;

test(
  'nothing is lost, doubled or decided twice while three daemons fail, of which one is a worker',
  await needs('postgresql', 'nats-server'),
  async (t) => {
    const { violations, score, folder } = await runClusterDrill({
      ...{ rounds: ROUNDS, seed: SEED, workerCount: 1 },
      say: (line) => t.diagnostic(line),
    });
    assert.deepEqual(violations, [], `npm run drill:cluster -- --rounds ${ROUNDS} --seed ${SEED} (${folder})`);
    // A drill in which nothing happens proves nothing.
    const { holders, writes, runs, approvals, resumes, atWorkers, takenOver } = score;
    const happened = { writes, runs, approvals, resumes, atWorkers, takenOver };
    const missing = Object.entries(happened).filter(([, count]) => count === 0);
    assert.deepEqual(
      { rounds: score.rounds, missing, isTaken: holders > 1 },
      { rounds: ROUNDS, missing: [], isTaken: true },
    );
  },
);
