import assert from 'node:assert/strict';
import { randomInt } from 'node:crypto';
import { test } from 'node:test';
import { killBackgroundAtSteps } from '../decision-kills/background-kills.ts';
import { FEATURES, isFeature } from '../decision-kills/features/features.ts';
import { killInstallAtSteps } from '../decision-kills/install-kills.ts';
import { killAtSteps } from '../decision-kills/kill-at-steps.ts';
import { killFeatureAtSteps } from '../decision-kills/kill-feature.ts';

/** One of them, another each time. */
const DECIDED = [
  ['ask', 'a person', 70],
  ['auto', 'the judge', 50],
] as const;
const [how, who, every] = DECIDED[randomInt(DECIDED.length)] ?? DECIDED[0];

test(`a question, its decision by ${who} and its calls survive a kill after any statement`, async (t) => {
  const from = randomInt(1, every);
  const { kills, findings } = await killAtSteps({ mode: how, from, by: every, say: (line) => t.diagnostic(line) });
  assert.deepEqual(findings, [], `npm run decision-kills -- --from ${from} --by ${every} --mode ${how}`);
  assert.ok(kills >= 1, `${kills} kills`);
});

test('a command in the background is started, read and ended whatever statement the daemon is killed after', async (t) => {
  const by = 110;
  const from = randomInt(1, by);
  const { kills, findings } = await killBackgroundAtSteps({ from, by, say: (line) => t.diagnostic(line) });
  assert.deepEqual(findings, [], `npm run decision-kills -- --from ${from} --by ${by} --mode background`);
  assert.ok(kills >= 1, `${kills} kills`);
});

const SAMPLES = [
  ['task', 200],
  ['spawn', 250],
  ['plan', 100],
  ['watch', 90],
  ['memory', 90],
  ['quarantine', 90],
  ['tool', 60],
  ['skill', 5],
  ['server', 4],
] as const;
/** One of them, another each time. */
const [mode, by] = SAMPLES[randomInt(SAMPLES.length)] ?? SAMPLES[0];

test(`the feature "${mode}" survives a kill after any statement`, async (t) => {
  const from = randomInt(1, by);
  const steps = { from, by, say: (line: string) => t.diagnostic(line) };
  const { kills, findings } = await (isFeature(mode)
    ? killFeatureAtSteps(FEATURES[mode](), steps)
    : killInstallAtSteps(mode, steps));
  assert.deepEqual(findings, [], `npm run decision-kills -- --from ${from} --by ${by} --mode ${mode}`);
  assert.ok(kills >= 1, `${kills} kills`);
});
