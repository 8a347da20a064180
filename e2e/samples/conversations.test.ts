import assert from 'node:assert/strict';
import { test } from 'node:test';
import { simulate } from '../conversations/simulate.ts';
import { simulateAll } from '../conversations/simulate-all.ts';

// `npm run conversations` does more: longer ones, and more seeds.
const RANGE = { seed: 1, count: 300, mostSteps: 3 };

test('300 random conversations: no request is refused, and each extends the last one except at cuts', async () => {
  const steps = new Set<string>();
  const wires = new Set<string>();
  const violations: string[] = [];
  await simulateAll(RANGE, (outcome) => {
    for (const step of outcome.steps) steps.add(step);
    for (const wire of Object.keys(outcome.wires)) wires.add(wire);
    for (const { step, what } of outcome.violations) {
      violations.push(`seed ${outcome.seed}, step ${step} of ${outcome.steps.join(', ')}: ${what}`);
    }
  });
  assert.deepEqual([violations, steps.size > 15, wires.size], [[], true, 5]);
});

test('the same seed gives the same conversation', async () => {
  assert.deepEqual(await simulate(7), await simulate(7));
});
