import assert from 'node:assert/strict';
import { test } from 'node:test';
import { check, RULES } from './check.ts';
import { AGENT_DEFECTS } from './defects/agents.ts';
import { BUDGET_DEFECTS } from './defects/budgets.ts';
import { CHILD_DEFECTS } from './defects/children.ts';
import { CUT_DEFECTS } from './defects/cuts.ts';
import { DEED_DEFECTS } from './defects/deeds.ts';
import { LATER_WORK_DEFECTS } from './defects/later-work.ts';
import { OWNER_DEFECTS } from './defects/owners.ts';
import { PACKED_DEFECTS } from './defects/packed.ts';
import { PROJECTION_DEFECTS } from './defects/projections.ts';
import { SEEN_DEFECTS } from './defects/seen.ts';
import { SPENDING_DEFECTS } from './defects/spending.ts';
import { STEERING_DEFECTS } from './defects/steering.ts';
import { STORED_DEFECTS } from './defects/stored.ts';
import { USE_DEFECTS } from './defects/uses.ts';
import type { Evidence } from './evidence.ts';
import { createRandom } from './random.ts';
import { recordScenario } from './record-scenario.ts';

const DEFECTS = [
  ...SEEN_DEFECTS,
  ...PROJECTION_DEFECTS,
  ...STORED_DEFECTS,
  ...PACKED_DEFECTS,
  ...DEED_DEFECTS,
  ...CUT_DEFECTS,
  ...BUDGET_DEFECTS,
  ...SPENDING_DEFECTS,
  ...STEERING_DEFECTS,
  ...USE_DEFECTS,
  ...AGENT_DEFECTS,
  ...LATER_WORK_DEFECTS,
  ...CHILD_DEFECTS,
  ...OWNER_DEFECTS,
];
const SEEDS = [1, 2, 3, 4, 5];

const evidence = await recordScenario();

const rulesIn = (story: Evidence) => [...new Set(check(story).map((violation) => violation.rule))].join(', ');

test('a correct recording has no findings', () => {
  assert.deepEqual(check(evidence), []);
});

test('a question that passes to another workstream stays, and one that is lost does not', () => {
  const story = structuredClone(evidence);
  const { workstreams } = story.disk;
  const before = story.earlier?.workstreams.find(({ approvals }) => approvals.length > 0);
  const from = workstreams.find(({ wsId }) => wsId === before?.wsId);
  const to = workstreams.find((workstream) => workstream !== from);
  const [moved] = from?.approvals.splice(0, 1) ?? [];
  if (!to || !moved) return assert.fail('the recording has a question, and another workstream');
  to.approvals.push(moved);
  assert.deepEqual([...RULES['stored data stays'](story)], []);
  to.approvals.pop();
  assert.equal([...RULES['stored data stays'](story)].length, 1);
});

for (const { name, rule, apply } of DEFECTS) {
  test(`${name}: found by the rule "${rule}"`, () => {
    for (const seed of SEEDS) {
      const story = structuredClone(evidence);
      apply(story, createRandom(seed));
      const isFound = [...RULES[rule](story)].length > 0;
      assert.ok(isFound, isFound ? '' : `seed ${seed}: found only ${rulesIn(story) || 'nothing'}`);
    }
  });
}

test('every rule finds at least one defect', () => {
  const found = new Set(DEFECTS.map(({ rule }) => rule));
  assert.deepEqual(
    Object.keys(RULES).filter((rule) => !found.has(rule as keyof typeof RULES)),
    [],
  );
});
