import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainRuling, toDecidedWords, toMatchWords, toRulingWords } from './rule-words.ts';

test('what a rule matches is said in words, with hidden characters made visible', () => {
  assert.deepEqual(
    [
      { command: 'git push' },
      { program: 'git', argsStart: ['push'] },
      { program: 'git', args: ['push', 'a'] },
      { program: 'make' },
      { path: '/srv/\u202ea', access: 'write' as const },
      { host: '*.example.com' },
      { node: 'n1', nodeCommand: 'reboot' },
      { tool: 'write_file', path: '/srv' },
    ].map(toMatchWords),
    [
      'exactly the command “git push”',
      'commands that begin with “git push”',
      'exactly “git push a”',
      'the program “make”',
      'changing “/srv/\\u202ea” (of a folder, all that is below it)',
      'connections to all hosts below “example.com”',
      '“reboot” on a node, with the node “n1”',
      'reading or changing “/srv” (of a folder, all that is below it), with calls of “write_file”',
    ],
  );
});

test('a ruling says which rule or which content made it ask', () => {
  const rule = { rule_id: 'r', source: 'rule', action: 'ask', place: 'workstream', match: { program: 'git' } } as const;
  assert.equal(
    toRulingWords({ verdict: 'ask', reason: 'rule', rule }),
    'A rule of this workstream asks about the program “git”.',
  );
  assert.equal(
    toRulingWords({
      verdict: 'ask',
      reason: 'tainted',
      taint: { kind: 'outside', tool: 'read_file', target: '/etc/hosts' },
    }),
    'It would run unasked, but since your last message the agent has read files outside its folders (read_file: “/etc/hosts”).',
  );
  assert.equal(toRulingWords({ verdict: 'block', reason: 'mode' }), 'This workstream is in the mode “Read only”.');
  assert.equal(toRulingWords({ verdict: 'ask', reason: 'tool' }), undefined);
});

test('a question says what a call may do if a person allows it, whatever made it ask', () => {
  const protected_paths = ['/w/.git/config', '/w/a\u202e', ...Array.from({ length: 5 }, (_, n) => `/w/${n}`)];
  assert.equal(
    toRulingWords({ verdict: 'ask', reason: 'protected', protected_paths }),
    'It changes what programs outside the sandbox run or obey: “/w/.git/config”, “/w/a\\u202e”, “/w/0”, “/w/1”, “/w/2” and 2 more.',
  );
  assert.equal(
    toRulingWords({ verdict: 'ask', reason: 'not_sandboxed', hosts: ['a.example'] }),
    'An earlier attempt could not reach “a.example”, which the command does not name; if you approve, this one can.',
  );
  assert.equal(toRulingWords({ verdict: 'run', reason: 'rule', hosts: ['a.example'] }), 'A rule allows it.');
});

test('beside a result, one line says why the call ran or not, with the rule if it is known', () => {
  const rule = { rule_id: 'r', source: 'rule', action: 'allow', place: 'folder' } as const;
  const match = { program: 'git', argsStart: ['push'] };
  const policy = { rule_id: 'p', source: 'policy', action: 'deny', place: 'everywhere' } as const;
  assert.deepEqual(
    [
      { verdict: 'run' as const, reason: 'rule' as const, rule: { ...rule, match } },
      { verdict: 'run' as const, reason: 'rule' as const, rule },
      { verdict: 'block' as const, reason: 'rule' as const, rule: { ...rule, action: 'deny' as const } },
      { verdict: 'block' as const, reason: 'policy' as const, rule: { ...policy, name: 'no\u202epush', match: {} } },
      { verdict: 'run' as const, reason: 'policy' as const, rule: policy },
      { verdict: 'block' as const, reason: 'mode' as const },
      { verdict: 'run' as const, reason: 'judge' as const },
      { verdict: 'ask' as const, reason: 'judge' as const },
      { verdict: 'ask' as const, reason: 'tainted' as const, taint: { kind: 'network' as const } },
      { verdict: 'ask' as const, reason: 'tainted' as const },
      { verdict: 'ask' as const, reason: 'protected' as const, protected_paths: ['/w/.envrc'] },
      { verdict: 'ask' as const, reason: 'hosts' as const },
      { verdict: 'run' as const, reason: 'job' as const },
      { verdict: 'ask' as const, reason: 'mode' as const },
    ].map(toDecidedWords),
    [
      'A rule of this folder allows commands that begin with “git push”.',
      'A rule of this folder allows it.',
      'A rule of this folder blocks it.',
      'The tool policy “no\\u202epush” blocks it.',
      'A tool policy allows it.',
      'This workstream is in the mode “Read only”.',
      'The judge approved it.',
      'The judge did not approve it.',
      'It needs approval because the agent has read something from a network.',
      'It needs approval because the agent has read untrusted content.',
      'It needs approval because it changes what programs outside the sandbox run or obey: “/w/.envrc”.',
      'It needs approval because an earlier attempt could not reach hosts that the command does not name.',
      'The job allows this tool.',
      undefined,
    ],
  );
  assert.deepEqual(
    (['harmless', 'blanket', 'judge'] as const).map((reason) => isPlainRuling({ verdict: 'run', reason })),
    [true, true, false],
  );
});
