import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStranger } from '../support/clients/strangers.ts';
import { runHeadgate, startDaemon } from '../support/daemon/daemon.ts';

test('headgate cron and headgate nodes without a command print their lists, with the flags of the lists', async (t) => {
  await using daemon = await startDaemon();
  const env = { HEADGATE_HOME: daemon.home };
  const client = await daemon.client();
  await client.call('cron.add', {
    ...{ name: 'stand up', schedule: { kind: 'cron', expr: '0 9 * * *' }, wakeMode: 'next-heartbeat' },
    ...{ sessionTarget: 'main', payload: { kind: 'systemEvent', text: 'stand up' } },
  });
  const { request } = await (await openStranger(t, daemon, 'den')).ask({
    displayName: 'the den',
    commands: ['x.info'],
  });
  await client.call('node.pair.approve', { requestId: request.requestId });
  for (const [group, holds] of [
    ['cron', 'stand up'],
    ['nodes', 'the den'],
  ] as const) {
    const bare = await runHeadgate([group], env);
    assert.deepEqual([bare.code, bare.stdout.includes(holds), bare.stderr], [0, true, ''], group);
    const listed = await runHeadgate([group, 'list'], env);
    assert.equal(withoutMinutes(bare.stdout), withoutMinutes(listed.stdout), group);
    const json = await runHeadgate([group, '--json'], env);
    assert.equal(JSON.stringify(JSON.parse(json.stdout)).includes(holds), true);
    const elsewhere = await runHeadgate([group, '--home', '/nowhere']);
    assert.deepEqual([elsewhere.code, elsewhere.stdout], [3, '']);
  }
});

/** A minute may end between two calls. */
const withoutMinutes = (list: string): string => list.replaceAll(/\(in [^)]*\)|\d+ (?:s|min) ago/g, '');

test('what people and files have named adds no line of its own to a list', async () => {
  await using daemon = await startDaemon();
  const client = await daemon.client();
  const forged = 'x\nforged';
  await client.call('mcp.create', { name: 'notes', command: forged, args: [forged], enabled: false });
  for (const words of ['mcp', 'mcp show notes']) {
    const { code, stdout } = await runHeadgate(words.split(' '), { HEADGATE_HOME: daemon.home });
    assert.equal(code, 0);
    assert.match(stdout, /x\\nforged/);
    assert.doesNotMatch(stdout, /^forged/m, words);
  }
});

test('an unknown command of a group is an error, and nothing is listed', async () => {
  for (const group of ['cron', 'nodes']) {
    const { code, stdout, stderr } = await runHeadgate([group, 'dance']);
    assert.deepEqual([code, stdout], [2, '']);
    assert.match(stderr, /^headgate: unknown command 'dance' \(available: list, [^\n]+\)[^\n]*\n$/);
    const more = await runHeadgate([group, 'list', 'dance']);
    assert.deepEqual([more.code, more.stdout], [2, '']);
  }
});

test('a name or id that nothing has ends every command with 1, and with one line that says so', async () => {
  await using daemon = await startDaemon();
  const asked = [
    'agents show nobody',
    'background kill nobody',
    'channel revoke nobody',
    'channel restore nobody',
    'coordinator stop nobody',
    'cron show nobody',
    'mcp tools nobody',
    'nodes describe nobody',
    'plan approve nobody',
    'export nobody',
    'skill rescan nobody',
    'user disable nobody',
    'watch cancel nobody',
  ];
  for (const words of asked) {
    const { code, stdout, stderr } = await runHeadgate(words.split(' '), { HEADGATE_HOME: daemon.home });
    assert.deepEqual([code, stdout, stderr.split('\n').length], [1, '', 2], `${words}: ${stderr}`);
    assert.match(stderr, /nobody|NOT_FOUND/, words);
  }
});
