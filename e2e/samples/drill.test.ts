import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { runDrill } from '../drill/drill.ts';

test('nothing is lost, duplicated or left open across ten kills', async (t) => {
  const seed = randomInt(1, 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const { violations, score, home } = await runDrill({
    rounds: 10,
    seed,
    sandbox: true,
    store: 'sqlite',
    say: (line) => t.diagnostic(line),
  });
  assert.deepEqual(violations, [], `npm run drill -- --rounds 10 --seed ${seed} (home: ${home})`);
  // A drill in which nothing happens proves nothing. Its rehearsal does what actors do only by chance.
  const { rounds, kills, cuts, resumes, runs, approvals, toolStarts, unknownOutcomes } = score;
  const { rewinds, retries, compactions, steered, taken, granted, declined } = score;
  const { subAgents, plans, watches, memories } = score;
  const happened = {
    ...{ cuts, resumes, runs, approvals, toolStarts, unknownOutcomes },
    ...{ rewinds, retries, compactions, steered, taken, granted, declined },
    ...{ subAgents, plans, watches, memories },
  };
  const missing = Object.entries(happened).filter(([, count]) => count === 0);
  assert.deepEqual({ rounds, missing, killed: kills >= 10 }, { rounds: 10, missing: [], killed: true });
});
