import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createRandom } from './checker/random.ts';
import { CRON_RULES, checkCron } from './cron-simulation/check.ts';
import { CRON_DEFECTS } from './cron-simulation/defects.ts';
import { simulate } from './cron-simulation/simulate.ts';

// `npm run cron-simulation` does more: a month each, and more seeds.
const story = await simulate({ seed: 9, days: 1, schedulers: 1, jobs: 10 });

test('a scheduler keeps its word through kills, leaps of the clock and sleep', () => {
  assert.deepEqual(checkCron(story), []);
  assert.ok(story.lives.length > 5 && story.wallSteps.length > 3 && story.runs.length > 100, 'too little has happened');
});

for (const { seed, schedulers } of [
  { seed: 4, schedulers: 1 },
  { seed: 14, schedulers: 1 },
  { seed: 36, schedulers: 3 },
  { seed: 8, schedulers: 3 },
]) {
  test(`seed ${seed}: ${schedulers === 1 ? 'one keeps its word' : `${schedulers} over one store keep their word`}`, async () => {
    const violations = checkCron(await simulate({ seed, days: 1, schedulers, jobs: 8 }));
    assert.deepEqual(violations, []);
  });
}

for (const { name, rule, apply } of CRON_DEFECTS) {
  test(`the checker finds it when ${name}`, () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const lie = structuredClone(story);
      apply(lie, createRandom(seed));
      const rules = new Set(checkCron(lie).map((violation) => violation.rule));
      assert.ok(rules.has(rule), `seed ${seed}: found only ${[...rules].join(', ') || 'nothing'}`);
    }
  });
}

test('every rule of the checker has a lie that it finds', () => {
  const found = new Set<string>(CRON_DEFECTS.map(({ rule }) => rule));
  assert.deepEqual(
    Object.keys(CRON_RULES).filter((rule) => !found.has(rule)),
    [],
  );
});
