import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());
const policy = (...words: string[]) => runHeadgate(['policy', ...words], { HEADGATE_HOME: daemon.home });

test('policies are added, listed, changed, tried and removed', async () => {
  assert.match((await policy()).stderr, /^No tool policies\. Add one with: /);
  const added = await policy('add', 'deny', 'node*', '--priority', '10', '--name', 'no machines');
  assert.deepEqual([added.code, /^pol_\S+\n$/.test(added.stdout)], [0, true]);
  assert.match(
    (await policy('list')).stdout,
    new RegExp(`^${added.stdout.trim()} +10 +deny +node\\* +no machines$`, 'm'),
  );
  const changed = await policy('change', 'no machines', '--action', 'ask', '--disable');
  assert.equal(changed.code, 0, changed.stderr);
  const [listed] = JSON.parse((await policy('list', '--json')).stdout);
  assert.deepEqual([listed.action, listed.enabled, listed.priority], ['ask', false, 10]);
  const tried = await policy('simulate', '--add', 'deny:bash', 'ask:*:-1', '--without', 'no machines');
  assert.deepEqual([tried.code, tried.stderr], [0, '0 of the latest 0 calls would have been decided otherwise.\n']);
  const removed = await policy('remove', added.stdout.trim());
  assert.deepEqual([removed.code, removed.stderr], [0, 'Removed "no machines".\n']);
});

test('wrong words are refused with the rule', async () => {
  await policy('add', 'deny', 'x', '--name', 'twin');
  await policy('add', 'deny', 'y', '--name', 'twin');
  const cases: [string[], RegExp, number][] = [
    [['add', 'maybe', 'bash'], /action must be one of: allow, deny, ask/, 1],
    [['add', 'deny', '[ab]'], /tool_pattern may contain \* and \?/, 1],
    [['add', 'deny', 'bash', '--priority', 'high'], /the priority must be a whole number, not "high"/, 2],
    [['change', 'twin', '--enable', '--disable'], /exclude each other/, 2],
    [['change', 'nobody', '--enable'], /No tool policy "nobody"/, 1],
    [['remove', 'twin'], /Several tool policies are named "twin"; use the id: pol_/, 2],
    [['simulate', '--add', 'bash'], /use ACTION:PATTERN/, 2],
  ];
  for (const [words, rule, expected] of cases) {
    const { code, stderr } = await policy(...words);
    assert.equal(code, expected, stderr);
    assert.match(stderr, rule);
  }
});

const rule = (...words: string[]) => runHeadgate(['rule', ...words], { HEADGATE_HOME: daemon.home });

test('rules are added, listed, changed, tried and removed', async () => {
  const added = await rule('add', 'deny', '--program', 'curl', '--hours', '2');
  const id = added.stdout.trim();
  assert.deepEqual([added.code, /^rule_\S+$/.test(id)], [0, true], added.stderr);
  assert.match((await rule()).stdout, new RegExp(`^${id} +deny +the program “curl” +everywhere +\\S`, 'm'));
  const changed = await rule('change', id, '--action', 'ask', '--priority', '5', '--no-end', '--json');
  assert.deepEqual([changed.code, JSON.parse(changed.stdout).action], [0, 'ask'], changed.stderr);
  const [listed] = JSON.parse((await rule('list', '--json')).stdout);
  assert.deepEqual([listed.action, listed.priority, listed.expiresAtMs], ['ask', 5, undefined]);
  const tried = await rule('simulate', 'deny', '--program', 'rm', '--args-start=-rf', '--without', id, '--json');
  assert.deepEqual([tried.code, JSON.parse(tried.stdout)], [0, { total: 0, changed: 0, calls: [] }], tried.stderr);
  const removed = await rule('remove', id);
  assert.deepEqual([removed.code, removed.stderr], [0, 'Removed.\n']);
});

test('lists name users instead of their ids', async () => {
  const operator = await daemon.client();
  const { userId } = await operator.call('user.create', {
    ...{ username: 'ada.l', displayName: 'Ada', password: 'correct horse battery', roles: ['builtin-viewer'] },
  });
  const added = await rule('add', 'ask', '--program', 'wget', '--user', userId);
  assert.match((await rule()).stdout, / user ada\.l /);
  const audit = await runHeadgate(['audit', 'list'], { HEADGATE_HOME: daemon.home });
  assert.match(audit.stdout, / user\.create +ada\.l /);
  assert.equal((await rule('remove', added.stdout.trim())).code, 0);
});

test('a rule that is tried lists the calls that would have been decided otherwise', async () => {
  const wsId = (await (await daemon.client()).call('workstream.create', { name: 'tried', mode: 'full' })).wsId;
  const ran = await runHeadgate(['run', '--ws', 'tried', 'run echo x > tried.txt'], { HEADGATE_HOME: daemon.home });
  assert.equal(ran.code, 0, ran.stderr);
  const { code, stdout, stderr } = await rule('simulate', 'deny', '--path', `${daemon.home}/workspace`);
  assert.deepEqual([code, stderr], [0, '1 of the latest 1 calls would have been decided otherwise.\n']);
  assert.match(stdout, new RegExp(` ${wsId} +bash echo x > tried\\.txt +run +deny +the new rule$`, 'm'));
});

test('wrong words about rules are refused with what would be right', async () => {
  const cases: [string[], RegExp, number][] = [
    [['change', 'rule_x'], /nothing to change: use --action, --priority, --hours or --no-end/, 2],
    [['change', 'rule_x', '--hours', '1', '--no-end'], /exclude each other/, 2],
    [['change', 'rule_x', '--action', 'maybe'], /the action must be one of allow, deny, ask/, 2],
    [['change', 'rule_x', '--priority', '1'], /No rule "rule_x"\. List them with/, 1],
    [['remove', 'rule_x'], /No rule "rule_x"\. List them with/, 1],
    [['add', 'deny'], /say what the rule is about: --program/, 2],
    [['simulate'], /nothing to try/, 2],
    [['simulate', '--program', 'rm'], /begins with its action/, 2],
    [['simulate', '--without', 'rule_x'], /No rule "rule_x"/, 1],
    [['simulate', 'deny', '--path', 'x'], /must be absolute/, 1],
  ];
  for (const [words, said, expected] of cases) {
    const { code, stderr } = await rule(...words);
    assert.equal(code, expected, `${words.join(' ')}: ${stderr}`);
    assert.match(stderr, said);
  }
});

test('a new workstream begins in the mode of --mode', async () => {
  const env = { HEADGATE_HOME: daemon.home };
  const ran = await runHeadgate(['run', '--mode', 'edits', '--ws', 'moded', 'run echo x > moded.txt'], env);
  assert.equal(ran.code, 0, ran.stderr);
  const { workstreams } = await (await daemon.client()).call('workstream.list', {});
  assert.equal(workstreams.find(({ name }) => name === 'moded')?.mode, 'edits');
  const again = await runHeadgate(['run', '--mode', 'ask', '--ws', 'moded', 'help'], env);
  assert.deepEqual([again.code, /--mode apply only to a new one/.test(again.stderr)], [2, true], again.stderr);
  const wrong = await runHeadgate(['run', '--mode', 'wild', 'help'], env);
  assert.deepEqual([wrong.code, /Allowed choices are ask, read_only/.test(wrong.stderr)], [2, true], wrong.stderr);
});
