import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tempStore } from '../../src/testing/temp-store.ts';
import { createRandom } from '../checker/random.ts';
import { CRON_RULES, checkCron } from '../cron-simulation/check.ts';
import { CRON_DEFECTS } from '../cron-simulation/defects.ts';
import { simulate } from '../cron-simulation/simulate.ts';
import { World } from '../cron-simulation/world.ts';

const MINUTE_MS = 60_000;
// `npm run cron-simulation` does more: a month each, and more seeds.
const ONE = { days: 0.3, jobs: 8, restMs: 4 * MINUTE_MS };
const THREE = { days: 0.12, jobs: 7, restMs: 2 * MINUTE_MS };
const story = await simulate({ ...ONE, seed: 9, schedulers: 1 });

test('the scheduler keeps its promises through kills, clock jumps and sleep', () => {
  assert.deepEqual(checkCron(story), []);
  assert.ok(
    story.lives.length > 5 && story.wallSteps.length > 3 && story.runs.length > 100,
    'the simulated month had too few lives, clock changes or runs',
  );
});

// Each of these seeds is fast and reveals a scheduler fault that the others do not.
for (const { seed, schedulers } of [
  { seed: 1, schedulers: 1 },
  { seed: 3, schedulers: 1 },
  { seed: 4, schedulers: 1 },
  { seed: 19, schedulers: 1 },
  { seed: 4, schedulers: 3 },
  { seed: 14, schedulers: 3 },
]) {
  const [sample, who] =
    schedulers === 1
      ? [ONE, 'one scheduler keeps its promises']
      : [THREE, 'three schedulers over one store keep their promises'];
  test(`seed ${seed}: ${who}`, async () => {
    assert.deepEqual(checkCron(await simulate({ ...sample, seed, schedulers })), []);
  });
}

test('a scheduler that stops with an error ends the simulation, and the error says which', async () => {
  const store = await tempStore();
  await store.close();
  const world = new World(store, { startMs: 0, schedulers: 1, jobs: 1, restMs: 1, random: createRandom(1) });
  await assert.rejects(world.begin(), { message: 'scheduler-0-1 stopped with an error' });
});

for (const { name, rule, apply } of CRON_DEFECTS) {
  test(`the checker detects that ${name}`, () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const lie = structuredClone(story);
      apply(lie, createRandom(seed));
      assert.ok([...CRON_RULES[rule](lie)].length > 0, `seed ${seed}: the rule found no violation`);
    }
  });
}

test('every rule of the checker detects at least one defect', () => {
  const found = new Set<string>(CRON_DEFECTS.map(({ rule }) => rule));
  assert.deepEqual(
    Object.keys(CRON_RULES).filter((rule) => !found.has(rule)),
    [],
  );
});
