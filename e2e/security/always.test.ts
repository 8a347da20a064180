import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { createGatewayClient, type GatewayClient } from '../../protocol/client/ws-client.ts';
import type { CronApproval } from '../../protocol/cron.ts';
import { systemClock } from '../../src/clock.ts';
import type { SseFrame, SseReader } from '../support/clients/sse.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const HOURS_MS = 3_600_000;

const { model, daemon } = await openStage();
// The model creates every file that a message asks for.
model.onRequest(({ messages }) => {
  if (messages.at(-1)?.role === 'tool') return say('done');
  const asked = messages.flatMap(({ role, content }) => (role === 'user' ? [JSON.stringify(content)] : []));
  const names = asked.flatMap((text) => [...text.matchAll(/make (\w+)/g)].map(([, name]) => name));
  const calls = names.map((name, n) => ({ name: 'bash', arguments: { command: `touch ${name}` }, id: `call_${n}` }));
  return calls.length === 0 ? say('hello') : callTools(...calls);
});

interface Caller {
  tokenId: string;
  client: GatewayClient;
}

/** A user with an API token. */
async function caller(scope: 'write' | 'approve'): Promise<Caller> {
  const { token, tokenId } = await (await daemon.client()).call('token.create', {
    scope,
    name: `${scope} ${counter++}`,
  });
  const client = createGatewayClient({ url: daemon.wsUrl, token, client: { name: 'e2e', version: '1', mode: 'test' } });
  clients.push(client);
  await client.connect();
  return { tokenId, client };
}
let counter = 0;
const clients: GatewayClient[] = [];
after(() => {
  for (const client of clients) client.close();
});

/** Watches the effects of messages in the workstream's stream. */
function watch(stream: SseReader) {
  let seen: SseFrame | undefined;
  const next = async (fits: (data: SseFrame['data']) => boolean) => {
    seen = await stream.until(({ data }) => fits(data), seen && { after: seen });
    return seen.data;
  };
  return {
    next,
    /** Whether an approval is requested before the run ends; denies it. */
    async asks(send: () => Promise<unknown>): Promise<boolean> {
      await send();
      const { type, approval_id: approvalId } = await next((data) => data.type === 'approve_request' || isEnd(data));
      if (type !== 'approve_request') return false;
      await (await daemon.client()).call('approval.resolve', { approvalId, approved: false });
      await next(isEnd);
      return true;
    },
    /** Requests a file and answers the approval with "always". */
    async giveAlways({ client }: Pick<Caller, 'client'>, wsId: string) {
      await client.call('chat.send', sending(wsId, 'make first'));
      const { approval_id: approvalId } = await next(({ type }) => type === 'approve_request');
      await client.call('approval.resolve', { approvalId, approved: true, always: true });
      const settings = await next(({ type }) => type === 'settings_changed');
      await next(isEnd);
      return settings;
    },
  };
}

const isEnd = ({ type, run }: SseFrame['data']) => type === 'ws_state' && Boolean(run);
const sending = (sessionKey: string, message: string) => ({ sessionKey, message, idempotencyKey: crypto.randomUUID() });
const says =
  ({ client }: Pick<Caller, 'client'>, wsId: string, message: string) =>
  () =>
    client.call('chat.send', sending(wsId, message));
const isMade = (name: string, { home }: Pick<DaemonUnderTest, 'home'> = daemon) =>
  existsSync(path.join(home, 'workspace', name));

test('always shows its expiry, survives a kill, and never applies to a message of a write token', async () => {
  const giver = await caller('approve');
  const other = await caller('approve');
  const writer = await caller('write');
  const { wsId } = await giver.client.call('workstream.create', {});
  const before = systemClock.now();
  let stream = watch(await daemon.sse(wsId));
  const { skip_permissions_until_ms: untilMs } = await stream.giveAlways(giver, wsId);
  assert.ok(untilMs >= before + 8 * HOURS_MS && untilMs <= systemClock.now() + 8 * HOURS_MS);
  for (const restarted of [false, true]) {
    if (restarted) {
      await daemon.kill9();
      await daemon.restart();
      stream = watch(await daemon.sse(wsId));
    }
    const connected = (await (await daemon.sse(wsId)).until('connected')).data;
    const { snapshot } = await giver.client.call('workstream.get', { wsId });
    assert.deepEqual(
      [connected.skip_permissions, connected.skip_permissions_until_ms, snapshot.workstream.skipPermissionsUntilMs],
      [true, untilMs, untilMs],
    );
    assert.equal(await stream.asks(says(giver, wsId, 'hello')), false);
    assert.equal(await stream.asks(says(other, wsId, `make other${restarted}`)), false);
    assert.equal(isMade(`other${restarted}`), true);
    const evil = `make evil${restarted}`;
    const key = () => crypto.randomUUID();
    for (const send of [
      says(writer, wsId, evil),
      () => writer.client.call('workstream.send', { wsId, message: evil, idempotencyKey: key() }),
      async () => {
        void writer.client.call('agent', { message: evil, sessionKey: wsId, idempotencyKey: key() }).catch(() => 0);
      },
    ])
      assert.equal(await stream.asks(send), true);
    assert.equal(isMade(`evil${restarted}`), false);
  }
});

test('always ends at once, with a note, when the token that granted it is revoked', async () => {
  const operator = { client: await daemon.client() };
  const giver = await caller('approve');
  const { wsId } = await operator.client.call('workstream.create', {});
  const stream = watch(await daemon.sse(wsId));
  await stream.giveAlways(giver, wsId);
  assert.equal(await stream.asks(says(operator, wsId, 'make again')), false);
  await operator.client.call('token.revoke', { tokenId: giver.tokenId });
  assert.equal((await stream.next(({ type }) => type === 'settings_changed')).skip_permissions, false);
  assert.match((await stream.next(({ type }) => type === 'info')).message, /^Auto-approve has ended: .* revoked/);
  assert.equal(await stream.asks(says(operator, wsId, 'make after')), true);
});

const ENDS: Record<string, (client: GatewayClient, wsId: string) => Promise<unknown>> = {
  '/clear': (client, wsId) => client.call('workstream.command', { wsId, command: '/clear' }),
  '/new': (client, wsId) => client.call('workstream.command', { wsId, command: '/new' }),
  'sessions.reset': (client, key) => client.call('sessions.reset', { key }),
  '/resume': async (client, wsId) => {
    const saved = await client.call('workstream.create', {});
    await client.call('workstream.close', { wsId: saved.wsId });
    await client.call('workstream.command', { wsId, command: `/resume ${saved.wsId}` });
  },
  'close and resume': async (client, wsId) => {
    await client.call('workstream.close', { wsId });
    await client.call('workstream.create', { resumeWs: wsId });
  },
};
for (const [name, end] of Object.entries(ENDS))
  test(`always and auto_approve do not survive ${name}`, async () => {
    const operator = { client: await daemon.client() };
    for (const give of ['always', 'auto_approve']) {
      const { wsId } = await operator.client.call('workstream.create', { autoApprove: give === 'auto_approve' });
      const before = watch(await daemon.sse(wsId));
      if (give === 'always') await before.giveAlways(operator, wsId);
      else assert.equal(await before.asks(says(operator, wsId, 'make first')), false);
      await end(operator.client, wsId);
      const reader = await daemon.sse(wsId);
      assert.equal((await reader.until('connected')).data.skip_permissions, false, give);
      assert.equal(await watch(reader).asks(says(operator, wsId, 'make second')), true, give);
    }
  });

test('a conversation saved by /new does not inherit always', async () => {
  const operator = { client: await daemon.client() };
  const { wsId } = await operator.client.call('workstream.create', {});
  const stream = watch(await daemon.sse(wsId));
  await stream.giveAlways(operator, wsId);
  await operator.client.call('workstream.command', { wsId, command: '/new' });
  const { message } = await stream.next(({ type, message }) => type === 'info' && /saved as/.test(message));
  const copy = await operator.client.call('workstream.create', {
    resumeWs: /saved as (\S+)\./.exec(message)?.[1] ?? '',
  });
  assert.notEqual(copy.wsId, wsId);
  const reader = await daemon.sse(copy.wsId);
  assert.equal((await reader.until('connected')).data.skip_permissions, false);
});

test('after a system event of a write token, always does not apply to the next turn of the main session', async () => {
  const operator = { client: await daemon.client() };
  const writer = await caller('write');
  const { workstreams } = await operator.client.call('workstream.list', {});
  const wsId = workstreams.find(({ sessionKey }) => sessionKey === 'main')?.wsId ?? '';
  const stream = watch(await daemon.sse(wsId));
  await stream.giveAlways(operator, wsId);
  await writer.client.call('system-event', { text: 'make poison' });
  assert.equal(await stream.asks(says(operator, wsId, 'make wanted')), true);
  assert.equal(await stream.asks(() => writer.client.call('wake', { mode: 'now', text: 'make poison' })), true);
  assert.deepEqual([isMade('poison'), isMade('wanted')], [false, false]);
});

test('always ends with a note when it expires', async () => {
  await using brief = await startDaemon({ config: { approvals: { alwaysSecs: 1 } }, model: model.url });
  const { body } = await brief.post('/v1/api/workstreams/new', { auto_approve: true });
  await using stream = await brief.sse(body.ws_id);
  const { message } = (await stream.until('info')).data;
  assert.equal(message, 'Auto-approve has expired. Tool calls that need approval ask again.');
  await brief.post('/v1/api/send', { ws_id: body.ws_id, message: 'make late' });
  await stream.until('approve_request');
  assert.equal(isMade('late', brief), false);
});

test('a message of a write token in the session of a job does not run with the tools the job allows', async () => {
  const operator = await daemon.client();
  const writer = await caller('write');
  const approval: CronApproval = { mode: 'allow', tools: ['bash'] };
  const { id } = await operator.call('cron.add', {
    schedule: { kind: 'every', everyMs: HOURS_MS },
    ...{ sessionTarget: 'isolated', wakeMode: 'next-heartbeat', approval },
    payload: { kind: 'agentTurn', message: 'make wanted1' },
  });
  const force = () => operator.call('cron.run', { id, mode: 'force' });
  await force();
  assert.equal(isMade('wanted1'), true);
  const { workstreams } = await operator.call('workstream.list', {});
  const { wsId = '' } = workstreams.find(({ sessionKey }) => sessionKey === `cron:${id}`) ?? {};
  const stream = watch(await daemon.sse(wsId));
  assert.equal(await stream.asks(says(writer, wsId, 'make injected')), true);
  await operator.call('cron.update', { id, patch: { payload: { kind: 'agentTurn', message: 'make wanted2' } } });
  await force();
  assert.match((await stream.next(({ type }) => type === 'info')).message, /^The context was cleared: /);
  assert.deepEqual([isMade('wanted2'), isMade('injected')], [true, false]);
});
