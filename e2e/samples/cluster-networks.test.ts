import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from '../../src/testing/needs.ts';
import { runClusterDrill } from '../cluster-drill/drill.ts';

/** Chosen so that the kernel cuts, silences and slows links. */
const SEED = 158;
const ROUNDS = 2;

test(
  'nothing is lost, doubled or decided twice while the networks of three daemons fail',
  await needs('postgresql', 'nats-server', 'network namespaces'),
  async (t) => {
    const { violations, score, folder } = await runClusterDrill({
      ...{ rounds: ROUNDS, seed: SEED, workerCount: 1, hasNamespaces: true },
      say: (line) => t.diagnostic(line),
    });
    assert.deepEqual(
      violations,
      [],
      `npm run drill:cluster -- --namespaces --rounds ${ROUNDS} --seed ${SEED} (${folder})`,
    );
    const { writes, runs, resumes } = score;
    const missing = Object.entries({ writes, runs, resumes }).filter(([, count]) => count === 0);
    assert.deepEqual([score.rounds, missing], [ROUNDS, []]);
  },
);
