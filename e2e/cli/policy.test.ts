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
    [['remove', 'twin'], /Several tool policies are named "twin"; use the id: pol_/, 1],
    [['simulate', '--add', 'bash'], /use ACTION:PATTERN/, 2],
  ];
  for (const [words, rule, expected] of cases) {
    const { code, stderr } = await policy(...words);
    assert.equal(code, expected, stderr);
    assert.match(stderr, rule);
  }
});
