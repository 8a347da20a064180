import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { killAtSteps } from '../decision-kills/kill-at-steps.ts';

for (const [mode, who, by] of [
  ['ask', 'a person', 30],
  ['auto', 'the judge', 20],
] as const)
  test(`a question, its decision by ${who} and its calls survive a kill after any statement`, async (t) => {
    const from = randomInt(1, by);
    const { kills, findings } = await killAtSteps({ mode, from, by, say: (line) => t.diagnostic(line) });
    assert.deepEqual(findings, [], `npm run decision-kills -- --from ${from} --by ${by} --mode ${mode}`);
    assert.ok(kills >= 2, `${kills} kills`);
  });
