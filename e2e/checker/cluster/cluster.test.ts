import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyRules } from '../apply-rules.ts';
import { RULES } from '../check.ts';
import type { Violation } from '../evidence.ts';
import { createRandom } from '../random.ts';
import { CLUSTER_DEFECTS } from './cluster-defects.ts';
import type { ClusterEvidence } from './cluster-evidence.ts';
import { CLUSTER_RULES, checkCluster } from './cluster-rules.ts';
import { clusterStory } from './cluster-story.ts';
import { WORKER_DEFECTS } from './worker-defects.ts';

const SEEDS = [1, 2, 3, 4, 5];
const DEFECTS = [...CLUSTER_DEFECTS, ...WORKER_DEFECTS];

const found = new Set<string>(DEFECTS.map(({ rule }) => rule));
/** The rules about one daemon that find a defect here. */
const FURTHER = Object.fromEntries(Object.entries(RULES).filter(([rule]) => found.has(rule)));

/** The drill applies all of both. */
const checkBoth = (evidence: ClusterEvidence): Violation[] => [
  ...checkCluster(evidence),
  ...applyRules(FURTHER, evidence.story),
];

test('correct evidence of three daemons and two workers has no findings', () => {
  assert.deepEqual(checkBoth(clusterStory()), []);
});

for (const { name, rule, apply } of DEFECTS) {
  test(`${name}: found by the rule "${rule}"`, () => {
    for (const seed of SEEDS) {
      const evidence = clusterStory();
      apply(evidence, createRandom(seed));
      const rules = new Set(checkBoth(evidence).map((violation) => violation.rule));
      assert.ok(rules.has(rule), `seed ${seed}: found only ${[...rules].join(', ') || 'nothing'}`);
    }
  });
}

test('every rule about several daemons finds at least one defect', () => {
  assert.deepEqual(
    Object.keys(CLUSTER_RULES).filter((rule) => !found.has(rule)),
    [],
  );
});
