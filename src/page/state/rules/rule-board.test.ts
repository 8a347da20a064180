import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { createFakeClient } from '../fake-client.ts';
import { RuleBoard } from './rule-board.ts';
import type { RuleDraft } from './rule-draft.ts';

const RULE: Rule = {
  ...{ ruleId: 'r1', action: 'allow', match: { program: 'git', argsStart: ['push'] }, wsId: 'w1', priority: 0 },
  ...{ createdBy: 'operator', createdAtMs: 1, updatedAtMs: 1, uses: 2, expiresAtMs: 61_000 },
};
const DRAFT: RuleDraft = {
  ...{ action: 'allow', match: { argsStart: ['push'], program: 'git' }, wsId: 'w1', priority: 0 },
  expiresInMs: undefined,
};

function opened() {
  const fake = createFakeClient();
  const board = new RuleBoard({ client: fake.client, now: () => 1_000.4 });
  fake.answer('rule.list', () => ({ rules: [RULE] }));
  for (const method of ['rule.create', 'rule.update', 'rule.delete']) fake.answer(method, () => ({}));
  const changes = () => fake.calls.filter(([method]) => method !== 'rule.list');
  return { ...fake, board, changes };
}

test('rules are read and deleted', async () => {
  const { board, answer, changes } = opened();
  await board.read();
  assert.deepEqual(board.rules.value, [RULE]);
  answer('rule.list', () => ({ rules: [] }));
  assert.equal(await board.remove('r1'), undefined);
  assert.deepEqual(board.rules.value, []);
  assert.deepEqual(changes(), [['rule.delete', { ruleId: 'r1' }]]);
});

test('a rule about the same calls in the same place is changed; otherwise a new one replaces it, with what is left of its time', async () => {
  const { board, changes } = opened();
  assert.equal(await board.save({ ...DRAFT, action: 'deny', expiresInMs: null }, RULE), undefined);
  assert.equal(await board.save({ ...DRAFT, match: { program: 'git' } }, RULE), undefined);
  assert.equal(await board.save({ ...DRAFT, expiresInMs: null }, undefined), undefined);
  const { expiresInMs: _, ...fields } = DRAFT;
  assert.deepEqual(changes(), [
    ['rule.update', { ruleId: 'r1', action: 'deny', priority: 0, expiresInMs: null }],
    ['rule.create', { ...fields, match: { program: 'git' }, expiresInMs: 60_000 }],
    ['rule.delete', { ruleId: 'r1' }],
    ['rule.create', { ...fields, expiresInMs: undefined }],
  ]);
});

test('a rule that replaces another one lasts no longer than that one did after its last change, also if the clock is slow', async () => {
  const { board, changes } = opened();
  await board.save({ ...DRAFT, match: { program: 'git' } }, { ...RULE, updatedAtMs: 41_000 });
  const { expiresInMs: _, ...fields } = DRAFT;
  const made = { ...fields, match: { program: 'git' }, expiresInMs: 20_000 };
  assert.deepEqual(changes()[0], ['rule.create', made]);
});

test('a refused rule leaves the one before', async () => {
  const { board, answer, changes } = opened();
  answer('rule.create', () => {
    throw new Error('The path must be absolute');
  });
  assert.equal(await board.save({ ...DRAFT, match: { path: 'x' } }, RULE), 'The path must be absolute');
  assert.deepEqual(
    changes().map(([method]) => method),
    ['rule.create'],
  );
});

test('a draft is tried in place of the rule that it changes, and lists the calls that would change', async () => {
  const { board, answer, changes } = opened();
  const call = { wsId: 'w1', callId: 'c1', tool: 'bash', atMs: 5 };
  answer('rule.simulate', () => ({
    ...{ total: 3, changed: 2 },
    calls: [
      { ...call, subject: 'git push\u202e', was: 'ask', would: 'run' },
      { ...call, callId: 'c2', was: 'run', would: 'deny' },
      { ...call, callId: 'c3', was: 'run', would: 'run' },
    ],
  }));
  assert.deepEqual(await board.tryOut(DRAFT, RULE), {
    words: 'Of the latest 3 calls, 2 would have been decided otherwise.',
    calls: [
      { key: 'w1 c1', wsId: 'w1', atMs: 5, name: 'bash: git push\\u202e', words: 'would run unasked; was: asked' },
      { key: 'w1 c2', wsId: 'w1', atMs: 5, name: 'bash', words: 'would be blocked; was: run unasked' },
    ],
  });
  await board.tryWithout('r1');
  const { expiresInMs: _, ...rule } = DRAFT;
  assert.deepEqual(changes(), [
    ['rule.simulate', { add: [rule], without: ['r1'] }],
    ['rule.simulate', { without: ['r1'] }],
  ]);
});
