import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ASKING_TOOL } from '../conversations/besides/agent-tools.ts';
import { type Outcome, simulate } from '../conversations/simulate.ts';
import { simulateAll } from '../conversations/simulate-all.ts';

// `npm run conversations` does more of the long ones.
const RANGES = [
  { seed: 1, count: 40, mostSteps: 3 },
  { seed: 136, count: 8, mostSteps: 14 },
];

/** Steps and tools that a sample must have. */
const OCCUR = [
  ...['change skills', 'choose skill', 'ask for data', 'have work done', 'write to a child'],
  ...['todo', 'skill', 'recall', 'memory', 'find_tool', 'use_tool', ASKING_TOOL],
];

test('48 random conversations: no request is refused, and each extends the last one except at cuts', async () => {
  const steps = new Set<string>();
  const called = new Set<string>();
  const wires = new Set<string>();
  const violations: string[] = [];
  let besides = 0;
  const judge = (outcome: Outcome) => {
    for (const step of outcome.steps) steps.add(step);
    for (const name of Object.keys(outcome.calls)) called.add(name);
    besides += outcome.besides;
    for (const wire of Object.keys(outcome.wires)) wires.add(wire);
    for (const { step, what } of outcome.violations) {
      violations.push(`seed ${outcome.seed}, step ${step} of ${outcome.steps.join(', ')}: ${what}`);
    }
  };
  for (const range of RANGES) await simulateAll(range, judge);
  assert.deepEqual([violations, steps.size > 25, wires.size, besides > 8], [[], true, 5, true]);
  assert.deepEqual(
    OCCUR.filter((name) => !steps.has(name) && !called.has(name)),
    [],
  );
});

test('the same seed gives the same conversation', async () => {
  assert.deepEqual(await simulate(7), await simulate(7));
});
