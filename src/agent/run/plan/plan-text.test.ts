import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cutPlan, problemOf, stepsOf } from './plan-text.ts';

const planWith = (steps: string) => `# Goal
Move the port into the configuration, so that two servers can run on one machine.
**Current State:**
server.ts has it.
## 3. Plan
${steps}
## Risks
1. Scripts that know the number`;

test('the steps are the numbered items of the section Plan, at its margin and outside code', () => {
  const text = planWith('- before\n1. Add **it**\n   1. inner\n```\n2. no step\n# Risks\n```\n2) Read it\u001b[0m');
  assert.equal(problemOf(text), undefined);
  const steps = stepsOf(text).map((step) => step.text);
  assert.deepEqual([steps[0], steps.at(-1)?.startsWith('Read it'), steps.includes('inner')], ['Add it', true, false]);
  assert.equal(steps.includes('no step'), false);
  assert.equal(String(steps).includes('\u001b'), false);
});

test('bullets are steps if there are no numbers', () => {
  assert.deepEqual(stepsOf(planWith('- [ ] one\n* two')), [
    { text: 'one', status: 'pending' },
    { text: 'two', status: 'pending' },
  ]);
});

test('a plan without steps, without sections or too short says what it lacks', () => {
  assert.match(String(problemOf(planWith('just do it'))), /no numbered list/);
  assert.match(String(problemOf(`## Plan\n1. one\n${'x'.repeat(100)}`)), /"Goal", "Current State", "Risks"/);
  assert.match(String(problemOf('short')), /^It has 5 characters/);
  assert.match(cutPlan('x'.repeat(40_000)), /too long\.\]$/);
});
