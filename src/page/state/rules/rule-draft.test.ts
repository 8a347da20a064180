import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Rule } from '../../../../protocol/methods/admin/rule.ts';
import { isSameRule, type RuleFields, readFields, toFields } from './rule-draft.ts';

const PERSON = { userId: 'user_1', isAdmin: false };
const ADMIN = { userId: '', isAdmin: true };
const wrongIn = (fields: Partial<RuleFields>, giver = PERSON) => {
  const result = readFields({ ...toFields(undefined, giver), ...fields }, giver);
  return 'wrong' in result ? Object.keys(result.wrong).sort((a, b) => a.localeCompare(b)) : undefined;
};

test('each problem is named at its field', () => {
  assert.deepEqual(wrongIn({}), ['program']);
  assert.deepEqual(wrongIn({ args: 'push' }), ['args']);
  assert.deepEqual(wrongIn({ argsHow: 'exact' }), ['args']);
  assert.deepEqual(wrongIn({ path: 'src', folder: '.', host: 'a b', tool: '[x]' }), ['folder', 'host', 'path', 'tool']);
  assert.deepEqual(wrongIn({ program: 'git', priority: 'high' }), ['priority']);
  assert.equal(wrongIn({ program: 'git', host: '*.example.org', path: 'C:\\work', tool: 'b?s*' }), undefined);
});

test('rules for others need the right; those for a workstream do not', () => {
  const fields = { program: 'git', owner: 'all' };
  assert.deepEqual(wrongIn(fields), ['owner']);
  assert.deepEqual(wrongIn({ ...fields, folder: '/srv' }), ['owner']);
  assert.equal(wrongIn({ ...fields, wsId: 'w1' }), undefined);
  assert.equal(wrongIn({ program: 'git' }), undefined);
  assert.equal(wrongIn(fields, ADMIN), undefined);
});

test('the fields become a rule, with only what was filled in', () => {
  const fields = { ...toFields(undefined, ADMIN), action: 'deny', program: ' git ', args: 'push "two words"' };
  const typed = { ...fields, path: '/srv/x', access: 'write', owner: 'all', priority: '-3', end: '3600000' };
  assert.deepEqual(readFields(typed, ADMIN), {
    draft: {
      action: 'deny',
      match: { program: 'git', path: '/srv/x', access: 'write', argsStart: ['push', 'two words'] },
      priority: -3,
      expiresInMs: 3_600_000,
    },
  });
});

test('a rule that is opened and saved without a change stays the same', () => {
  const about = { createdBy: 'x', createdAtMs: 1, updatedAtMs: 1, uses: 0, priority: 2 };
  const rules: Rule[] = [
    { ...about, ruleId: '1', action: 'allow', match: { program: 'ls', args: [] }, userId: '' },
    { ...about, ruleId: '2', action: 'ask', match: { command: 'echo a\n  b\n' }, wsId: 'w', folder: '/srv' },
    { ...about, ruleId: '3', action: 'deny', match: { tool: 'x*', node: 'n', nodeCommand: 'c', host: '*.a.b' } },
    { ...about, ruleId: '4', action: 'deny', match: { program: 'p', args: ['', "it's", '"', 'a b', 'x\ny'] } },
    {
      ...about,
      ruleId: '5',
      action: 'allow',
      match: { path: '/srv', access: 'read' },
      expiresAtMs: 5,
      userId: 'user_2',
    },
  ];
  for (const rule of rules) {
    const result = readFields(toFields(rule, ADMIN), ADMIN);
    assert.ok('draft' in result && isSameRule(rule, result.draft), rule.ruleId);
    assert.deepEqual(
      [result.draft.action, result.draft.priority, result.draft.expiresInMs],
      [rule.action, 2, undefined],
    );
  }
});
