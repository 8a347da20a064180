import assert from 'node:assert/strict';
import { mkdtempDisposable, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { within } from '../support/deadline.ts';

interface Example {
  name: string;
  args: readonly string[];
  daemon: DaemonUnderTest;
}

/** Runs one of docs/examples as a reader would, with `import … from 'headgate/…'`. */
async function start(t: TestContext, { name, args, daemon }: Example) {
  const child = await spawnHeadgate({
    entry: `docs/examples/${name}.mjs`,
    args,
    env: { HEADGATE_URL: name.startsWith('http') ? daemon.url : daemon.wsUrl, HEADGATE_TOKEN: daemon.token },
  });
  t.after(() => child.kill('SIGKILL'));
  return child;
}

async function run(t: TestContext, example: Example) {
  const child = await start(t, example);
  const { code } = await within(child.exited, 60_000, () => `an end of ${example.name}: ${child.stderr()}`);
  return { code, stdout: child.stdout(), stderr: child.stderr() };
}

test('the example that asks a question prints the answer', async (t) => {
  await using daemon = await startDaemon();
  const { code, stdout, stderr } = await run(t, { name: 'ask', args: ['say', 'good', 'morning'], daemon });
  assert.deepEqual(
    { code, stdout, stderr },
    { code: 0, stdout: 'good morning\n\n*(said by the demo model)*\n[ok]\n', stderr: '' },
  );
});

test('the example that follows a workstream continues after its last event when either side restarts', async (t) => {
  await using daemon = await startDaemon();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-follow-'));
  const { ws_id: wsId } = (await daemon.post('/v1/api/workstreams/new', { name: 'followed' })).body;
  const follow = { name: 'follow', args: [wsId, path.join(folder.path, 'cursor.txt')], daemon };
  const say = (word: string) => daemon.post('/v1/api/send', { ws_id: wsId, message: `say ${word}` });

  const first = await start(t, follow);
  await first.printed(/snapshot of 0 messages/);
  await say('one');
  await first.printed(/user_turn[\s\S]*stream_end[\s\S]*ws_state/);
  await daemon.restart();
  await say('two');
  await first.printed(/(?:user_turn[\s\S]*){2}stream_end[\s\S]*ws_state/);
  first.kill('SIGTERM');
  assert.deepEqual(await first.exited, { code: 0, signal: null });
  await say('three');
  const second = await start(t, follow);
  await second.printed(/user_turn[\s\S]*stream_end[\s\S]*ws_state/);
  second.kill('SIGTERM');
  await second.exited;

  const [, ...told] = `${first.stdout()}${second.stdout()}`.trim().split('\n');
  const offsets = told.map((line) => Number(/^\S+:(\d+) \w+$/.exec(line)?.[1]));
  assert.deepEqual(
    offsets,
    [...new Set(offsets)].sort((a, b) => a - b),
  );
  assert.equal(told.filter((line) => line.endsWith(' user_turn')).length, 3);
});

test('the example that sends over HTTP prints the answer and closes its workstream each time', async (t) => {
  await using daemon = await startDaemon();
  const open = async () => (await daemon.get('/v1/api/workstreams')).body.workstreams;
  const before = await open();
  for (const word of ['evening', 'night']) {
    const { code, stdout, stderr } = await run(t, { name: 'http-send', args: ['say', 'good', word], daemon });
    assert.deepEqual(
      { code, stdout, stderr },
      { code: 0, stdout: `good ${word}\n\n*(said by the demo model)*\n`, stderr: '' },
    );
  }
  assert.deepEqual(await open(), before);
});

test('the examples report a wrong token in one line', async (t) => {
  await using daemon = await startDaemon();
  const stranger = { ...daemon, token: 'svc_wrong' };
  const told = await Promise.all(
    ['ask', 'decide', 'follow', 'http-send'].map((name) => run(t, { name, args: ['hello'], daemon: stranger })),
  );
  assert.deepEqual(told, [
    { code: 1, stdout: '', stderr: 'UNAUTHORIZED: unauthorized\n' },
    { code: 1, stdout: '', stderr: 'UNAUTHORIZED: unauthorized\n' },
    { code: 1, stdout: '', stderr: 'RequestError: unauthorized\n' },
    { code: 1, stdout: '', stderr: '401: Unauthorized: missing or invalid token\n' },
  ]);
});

test('long-running examples report that their token was revoked and fail, and their position is kept', async (t) => {
  await using daemon = await startDaemon();
  await using folder = await mkdtempDisposable(path.join(tmpdir(), 'headgate-follow-'));
  const cursorFile = path.join(folder.path, 'cursor.txt');
  const operator = await daemon.client();
  const { token, tokenId } = await operator.call('token.create', { name: 'revoked', scope: 'approve' });
  const { wsId } = await operator.call('workstream.create', {});
  const guest = { ...daemon, token };
  const follow = await start(t, { name: 'follow', args: [wsId, cursorFile], daemon: guest });
  const decide = await start(t, { name: 'decide', args: [], daemon: guest });
  await follow.printed(/snapshot of 0 messages/);
  await Promise.all([follow, decide].map(({ printed }) => printed(/connected/, 'stderr')));
  await operator.call('token.revoke', { tokenId });

  const ends = [];
  for (const { exited, stderr } of [follow, decide]) {
    const { code } = await within(exited, 60_000, () => `an end: ${stderr()}`);
    ends.push({ code, stderr: stderr() });
  }
  const why = 'unauthorized: the token was revoked or replaced, or has expired';
  assert.deepEqual(ends, [
    { code: 1, stderr: `connected\nRequestError: ${why}\n` },
    { code: 1, stderr: `connected\nUNAUTHORIZED: ${why}\n` },
  ]);
  assert.equal(await readFile(cursorFile, 'utf8'), follow.stdout().split(' ')[0]);
});

test('the example that decides approves only the commands it was given and denies the rest', async (t) => {
  await using daemon = await startDaemon();
  const decide = await start(t, { name: 'decide', args: ['touch good'], daemon });
  for (const command of ['touch good', 'touch bad']) {
    const { ws_id: wsId } = (await daemon.post('/v1/api/workstreams/new', {})).body;
    await daemon.post('/v1/api/send', { ws_id: wsId, message: `run ${command}` });
  }
  await decide.printed(/^approved: .*touch good$/m);
  await decide.printed(/^denied: .*touch bad$/m);
  decide.kill('SIGTERM');
  assert.deepEqual(await decide.exited, { code: 0, signal: null });
});
