import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { CommandReading } from '../command-reading.ts';
import { readCommand } from '../read-command.ts';
import { compileCallRules } from './compile-rules.ts';
import type { RuledCall } from './matching.ts';
import type { RuleSource } from './rule-source.ts';

const rule = (action: RuleSource['action'], match: RuleMatch, more: Partial<RuleSource> = {}): RuleSource => ({
  ...{ ruleId: `${action} ${JSON.stringify(match)}`, source: 'rule', action, match, place: 'everywhere', priority: 0 },
  ...{ createdAtMs: 0 },
  ...more,
});

/** What the rules say about a command, in one word. */
function said(command: string, ...rules: RuleSource[]): string {
  const reading = readCommand(command, { folder: '/work', home: '/home/me' });
  return saidOf({ names: ['bash'], command, reading }, rules);
}

function saidOf(call: RuledCall, rules: RuleSource[]): string {
  const { deny, unclear, ask, allow, left } = compileCallRules(rules, () => undefined).judge(call);
  if (deny) return 'deny';
  if (unclear) return 'unclear';
  if (ask) return 'ask';
  return allow && left === undefined ? 'allow' : 'nothing';
}

test('a rule that denies a program finds it wherever it hides, and asks where it might', () => {
  const no = rule('deny', { program: 'rm' });
  for (const command of ['rm x', '/bin/rm x', 'sh -c "rm x"', 'ls | xargs rm', 'echo $(rm x)', 'true && r"m" x'])
    assert.equal(said(command, no), 'deny', command);
  for (const command of ['$X y', 'python3 x.py', 'eval "$X"']) assert.equal(said(command, no), 'unclear', command);
  for (const command of ['ls', 'echo rm', 'cat rm']) assert.equal(said(command, no), 'nothing', command);
});

test('a rule that allows a program covers neither redirections nor other commands', () => {
  const yes = rule('allow', { program: 'npm', argsStart: ['test'] });
  for (const command of ['npm test', 'npm test -- --watch']) assert.equal(said(command, yes), 'allow', command);
  for (const command of ['npm test > /etc/x', 'npm test; rm x', 'npm run test', 'npm test $(rm x)', 'X=1 npm test'])
    assert.equal(said(command, yes), 'nothing', command);
});

test('the exact text of a command covers it whole, and nothing else', () => {
  const yes = rule('allow', { command: 'eval "$X"' });
  assert.equal(said('eval "$X"', yes), 'allow');
  assert.equal(said('eval "$X" ', yes), 'nothing');
  assert.equal(said('eval "$X"', yes, rule('deny', { program: 'rm' })), 'allow', 'a person has read it');
});

test('paths are a folder and everything below it, hosts a name or all below one', () => {
  const keys = rule('deny', { path: '/srv/keys' });
  assert.equal(said('cat /srv/keys/a', keys), 'deny');
  assert.equal(said('rm -rf /srv', keys), 'deny');
  assert.equal(said('cat /srv/keysmith', keys), 'nothing');
  const host = rule('deny', { host: '*.example.org' });
  assert.equal(said('curl https://a.example.org/x', host), 'deny');
  assert.equal(said('curl https://example.com/x', host), 'nothing');
});

test('what denies comes first, then the priority, then what asks, then the narrower place', () => {
  const [allow, ask] = [rule('allow', { program: 'touch' }), rule('ask', { program: 'touch' })];
  assert.equal(said('touch x', allow, ask), 'ask');
  assert.equal(said('touch x', { ...allow, priority: 1 }, ask), 'allow');
  assert.equal(said('touch x', { ...allow, priority: 9 }, rule('deny', { program: 'touch' })), 'deny');
});

test('a call of a node fits by the node and its command, never by programs, paths or hosts of this machine', () => {
  const reading: CommandReading = {
    ...{ commands: [], gaps: [] },
    effects: [
      { kind: 'network', target: 'attic', certain: true },
      { kind: 'unknown', target: 'camera.snap', certain: false },
    ],
  };
  const call = { names: ['node', 'node camera.snap'], node: 'n1', nodeCommand: 'camera.snap', reading };
  for (const action of ['deny', 'ask', 'allow'] as const)
    for (const match of [{ program: 'rm' }, { path: '/srv' }, { host: 'attic' }, { node: 'n2' }])
      assert.equal(saidOf(call, [rule(action, match)]), 'nothing', JSON.stringify(match));
  for (const match of [{ tool: 'node' }, { node: 'n1' }, { node: 'n1', nodeCommand: 'camera.snap' }])
    assert.deepEqual(
      (['deny', 'ask', 'allow'] as const).map((action) => saidOf(call, [rule(action, match)])),
      ['deny', 'ask', 'allow'],
      JSON.stringify(match),
    );
});
