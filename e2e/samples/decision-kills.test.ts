import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { killAtSteps } from '../decision-kills/kill-at-steps.ts';

test('a question, its decision and its calls survive a kill after any statement', async (t) => {
  const [from, by] = [randomInt(1, 30), 30];
  const { kills, findings } = await killAtSteps({ from, by, say: (line) => t.diagnostic(line) });
  assert.deepEqual(findings, [], `npm run decision-kills -- --from ${from} --by ${by}`);
  assert.ok(kills >= 4, `${kills} kills`);
});
