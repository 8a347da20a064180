import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RuleMatch } from '../../../../protocol/events/rules.ts';
import type { CommandReading } from '../command-reading.ts';
import { readCommand } from '../read-command.ts';
import { compileCallRules } from './compile-rules.ts';
import type { RuledCall } from './matching.ts';
import type { RuleSource } from './rule-source.ts';
import { suggestRules } from './suggest-rules.ts';

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

test('a rule that allows a program covers neither a file of its name nor what it finds in other folders', () => {
  const allowed = (command: string, match: RuleMatch) => {
    const reading = readCommand(command, { folder: '/work', home: '/home/me' });
    return saidOf({ names: ['bash'], command, reading, folder: '/work' }, [rule('allow', match)]);
  };
  const test = { program: 'npm', argsStart: ['test'] };
  for (const command of ['npm test', '/usr/bin/npm test', 'cd sub && npm test', 'sh -c "npm test"'])
    assert.equal(allowed(command, test), 'allow', command);
  for (const command of ['./npm test', 'x/npm test', '/tmp/npm test', 'cd /tmp/x && npm test', 'cd .. && npm test'])
    assert.equal(allowed(command, test), 'nothing', command);
  for (const command of ['cd "$X" && npm test', 'env -C /srv npm test', '(cd /worker; npm test)'])
    assert.equal(allowed(command, test), 'nothing', command);
  const build = { program: './build.sh', args: [] };
  assert.deepEqual([allowed('./build.sh', build), allowed('cd /srv && ./build.sh', build)], ['allow', 'nothing']);
  assert.equal(said('/tmp/x/rm a', rule('deny', { program: 'rm' })), 'deny', 'what denies does not ask where it is');
});

test('the beginning of a command is suggested only if files and hosts are no part of it', () => {
  const suggested = (command: string) => {
    const call = { names: ['bash'], command, reading: readCommand(command, { folder: '/work', home: '/home/me' }) };
    return suggestRules(call, () => true).flatMap(({ kind, match }) => (kind === 'prefix' ? [match.argsStart] : []));
  };
  assert.deepEqual(suggested('npm install lodash'), [['install', 'lodash']]);
  assert.deepEqual(suggested('git push origin'), [['push', 'origin']]);
  for (const command of ['rm build', 'cp a b', 'curl example.com', 'tar xf a.tar', 'tee a', 'chmod x a', 'pkill node'])
    assert.deepEqual(suggested(command), [], command);
  assert.deepEqual(suggested('npm run build'), [['run', 'build']]);
  // What may follow is any program, or any code.
  for (const command of ['go run ./x', 'npm exec ./x', 'uv run python x.py', 'poetry run sh -c x', 'nix shell -c x'])
    assert.deepEqual(suggested(command), [], command);
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
  for (const url of [
    'https://{a,b}.example.org',
    'https://[a-c].example.org',
    'https://a.example.org\\@b',
    '--resolve x:1:2 c',
  ])
    assert.equal(said(url.startsWith('--') ? `curl ${url}` : `curl '${url}'`, host), 'unclear', url);
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

test('a changed protected path is named by the exact command or by a path at or in it, and by nothing wider', () => {
  const write = { place: '/work/.git/hooks', path: '/work/.git/hooks/post-commit' };
  const command = 'touch .git/hooks/post-commit';
  const left = (match: RuleMatch, action: RuleSource['action'] = 'allow') =>
    compileCallRules([rule(action, match)], () => undefined).judge({
      ...{ names: ['bash'], command, reading: readCommand(command, { folder: '/work' }) },
      protectedWrites: [write],
    }).special.writes.length;
  for (const match of [
    { command },
    { tool: 'bash', command },
    { path: write.place, access: 'write' as const },
    { path: write.path },
  ])
    assert.equal(left(match), 0, JSON.stringify(match));
  for (const match of [
    ...[{ tool: 'bash' }, { program: 'touch' }, { program: 'touch', path: write.place }, { path: '/work' }],
    ...[{ path: '/work/.git' }, { path: write.place, access: 'read' as const }, { path: `${write.place}/other` }],
    ...[{ command: 'touch x' }, { access: 'write' as const }],
  ])
    assert.equal(left(match), 1, JSON.stringify(match));
  assert.equal(left({ command }, 'ask'), 1);
});

test('a host that the command does not name is allowed only by its own rule', () => {
  const read = readCommand('make', { folder: '/work' });
  const effect = { kind: 'network', target: 'api.example.org', certain: true, isUnreached: true } as const;
  const call = { names: ['bash'], command: 'make', reading: { ...read, effects: [...read.effects, effect] } };
  const left = (match: RuleMatch) =>
    compileCallRules([rule('allow', match)], () => undefined).judge(call).special.hosts.length;
  for (const match of [
    { host: 'api.example.org' },
    { host: '*.example.org' },
    { tool: 'bash', host: 'API.example.org.' },
  ])
    assert.equal(left(match), 0, JSON.stringify(match));
  for (const match of [
    { command: 'make' },
    { tool: 'bash' },
    { host: 'example.org' },
    { program: 'make', host: 'api.example.org' },
  ])
    assert.equal(left(match), 1, JSON.stringify(match));
});

test('rules by host decide about connections: what denies first, and a program only where it denies', () => {
  const on = (host: string, ...rules: RuleSource[]) =>
    compileCallRules(rules, () => undefined).onHost(
      { names: ['bash'], command: 'curl x', reading: readCommand('curl https://example.com', { folder: '/work' }) },
      host,
    )?.action;
  const [allow, deny] = [rule('allow', { host: '*.example.org' }), rule('deny', { host: 'a.example.org' })];
  assert.deepEqual(
    [on('a.example.org', allow, deny), on('b.example.org', allow, deny), on('c.example.net', allow)],
    ['deny', 'allow', undefined],
  );
  assert.equal(on('example.com', rule('allow', { program: 'curl', host: 'example.com' })), undefined);
  assert.equal(on('example.com', rule('deny', { program: 'curl', host: 'example.com' })), 'deny');
  assert.equal(on('example.com', rule('deny', { program: 'wget', host: 'example.com' })), undefined);
  assert.equal(on('example.com', rule('ask', { host: 'example.com' }), rule('allow', { host: 'example.com' })), 'ask');
  assert.equal(on('127.0.0.1', rule('deny', { host: '0x7f.1' })), 'deny', 'another spelling');
  assert.equal(on('2001:db8::1', rule('deny', { host: '[2001:DB8:0::1]' })), 'deny');
});
