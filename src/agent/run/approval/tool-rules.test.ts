import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { POLICY_ACTIONS } from '../../../../protocol/events/policy-actions.ts';
import { compileRules, type RuleSource } from './tool-rules.ts';

const rule = (toolPattern: string, action: RuleSource['action'], more: Partial<RuleSource> = {}): RuleSource => ({
  ...{ policyId: `${action} ${toolPattern}`, name: 'rule', toolPattern, action, priority: 0, enabled: true },
  createdAtMs: 0,
  ...more,
});

const decidedBy = (rules: readonly RuleSource[], ...names: string[]) => compileRules(rules)(names)?.policyId;

for (const [pattern, fits, fitsNot] of [
  ['bash', ['bash'], ['bash2', 'abash', 'Bash', '']],
  ['*', ['', 'bash', 'node system.run'], []],
  ['node*', ['node', 'node system.run'], ['a node']],
  ['*_file', ['read_file', '_file'], ['read_files']],
  ['mcp__*__get*', ['mcp__a__get', 'mcp__a__b__getter'], ['mcp__get']],
  ['?ash', ['bash', 'dash', '😀ash'], ['ash', 'bbash']],
  ['a*b*c', ['abc', 'aXbXbc'], ['ab', 'acb']],
  ['**', ['', 'x'], []],
  ['node system.run', ['node system.run'], ['node systemXrun']],
] as const) {
  test(`the pattern ${pattern} matches ${fits.join(', ')}, and nothing like ${fitsNot.join(', ')}`, () => {
    const found = [...fits, ...fitsNot].filter((name) => decidedBy([rule(pattern, 'deny')], name) !== undefined);
    assert.deepEqual(found, fits);
  });
}

test('a pattern with many stars takes no time', () => {
  const pattern = `${'*a'.repeat(100)}b`;
  assert.equal(decidedBy([rule(pattern, 'deny')], 'a'.repeat(10_000)), undefined);
});

test('a rule matches the name of the tool or the label of its question', () => {
  const rules = [rule('overwrite_file', 'deny'), rule('write_file', 'allow')];
  assert.equal(decidedBy(rules, 'write_file', 'overwrite_file'), 'deny overwrite_file');
  assert.equal(decidedBy(rules, 'write_file', 'create_file'), 'allow write_file');
});

test('the highest priority decides; at equal priority deny, then ask, then allow, then the oldest', () => {
  const low = [rule('*', 'allow'), rule('*', 'ask'), rule('*', 'deny')];
  assert.equal(decidedBy(low, 'bash'), 'deny *');
  assert.equal(decidedBy(low.slice(0, 2), 'bash'), 'ask *');
  assert.equal(decidedBy([...low, rule('bash', 'allow', { priority: 1 })], 'bash'), 'allow bash');
  assert.equal(decidedBy([...low, rule('bash', 'allow', { priority: -1 })], 'bash'), 'deny *');
  const two = [rule('*', 'ask', { createdAtMs: 2, policyId: 'new' }), rule('*', 'ask', { policyId: 'old' })];
  assert.equal(decidedBy(two, 'bash'), 'old');
});

test('a disabled rule decides nothing', () => {
  assert.equal(decidedBy([rule('*', 'deny', { enabled: false })], 'bash'), undefined);
});

const anyRule = fc.record({
  policyId: fc.uuid(),
  name: fc.constant('rule'),
  toolPattern: fc.constantFrom('*', 'bash', 'b*', '?ash', 'node*', '*_file', 'write_file'),
  action: fc.constantFrom(...POLICY_ACTIONS),
  priority: fc.integer({ min: -2, max: 2 }),
  enabled: fc.boolean(),
  createdAtMs: fc.nat(3),
});
const NAMES = [['bash'], ['node', 'node system.run'], ['write_file', 'overwrite_file'], ['look']];

test('adding a deny never lets a call run that did not, and never takes away a question except by denying', () => {
  fc.assert(
    fc.property(fc.array(anyRule, { maxLength: 8 }), anyRule, (rules, added) => {
      const before = compileRules(rules);
      const after = compileRules([...rules, { ...added, action: 'deny' }]);
      for (const names of NAMES) {
        const [was, is] = [before(names), after(names)];
        assert.ok(is?.action === 'deny' || is?.policyId === was?.policyId);
      }
    }),
  );
});

test('the order in which rules are listed does not matter', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyRule, { selector: ({ createdAtMs }) => createdAtMs }), (rules) => {
      for (const names of NAMES)
        assert.equal(compileRules(rules)(names)?.policyId, compileRules(rules.toReversed())(names)?.policyId);
    }),
  );
});
