import assert from 'node:assert/strict';
import { test } from 'node:test';
import { build, statementOf } from '../store/statements.ts';
import { LIVE } from '../testing/default-deps.ts';
import { turnsUntil, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const queued = async (gateway: WholeGateway) => (await gateway.call('status', {})).queuedSystemEvents;
const last = (gateway: WholeGateway) => gateway.call('last-heartbeat', {});
/** The last message that the model got. */
const asked = ({ puppet }: WholeGateway) => {
  const message = puppet.requests.at(-1)?.messages.findLast(({ role }) => role === 'user');
  return message?.role === 'user' ? message.content : undefined;
};
const later = (gateway: WholeGateway, text: string) => gateway.call('wake', { mode: 'next-heartbeat', text });

test('an event waits for the next turn of the main session, also over a restart, and is carried once', async () => {
  await using gateway = await wholeGateway();
  await later(gateway, 'the build\nis red');
  await gateway.restart();
  await later(gateway, 'the build is green');
  assert.deepEqual(await queued(gateway), ['the build\nis red', 'the build is green']);
  await gateway.call('agent', { sessionKey: 'other', message: 'hi', idempotencyKey: 'k0' });
  assert.equal(asked(gateway), 'hi');
  await gateway.call('agent', { message: 'hello', idempotencyKey: 'k1' });
  assert.equal(
    asked(gateway),
    [
      'hello\n',
      'System: [1970-01-01 00:16 UTC] the build is red',
      'System: [1970-01-01 00:16 UTC] the build is green',
    ].join('\n'),
  );
  await gateway.restart();
  assert.deepEqual(await queued(gateway), []);
});

test('a turn that is not accepted leaves the queue unchanged', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('workstream.send', { wsId, message: 'long' });
  await later(gateway, 'news');
  const { status } = await gateway.call('workstream.send', { wsId, message: 'too soon' });
  assert.deepEqual([status, await queued(gateway)], ['busy', ['news']]);
});

test('twenty events are kept, the oldest are dropped, and a repeat of the last is ignored', async () => {
  await using gateway = await wholeGateway();
  for (let n = 0; n < 25; n++) for (const _twice of [1, 2]) await later(gateway, `event ${n}`);
  const kept = Array.from({ length: 20 }, (_event, n) => `event ${n + 5}`);
  assert.deepEqual(await queued(gateway), kept);
  await gateway.restart();
  assert.deepEqual(await queued(gateway), kept);
});

test('wake now starts a turn at once and reports how it ended', async () => {
  await using gateway = await wholeGateway();
  gateway.puppet.turn('The build is red, I look into it.');
  assert.deepEqual(await gateway.call('wake', { mode: 'now', text: 'build 7 failed' }), { ok: true });
  await turnsUntil(async () => (await last(gateway)) !== null, 'a heartbeat');
  const told = await last(gateway);
  assert.deepEqual(told, {
    ts: 1_000_000,
    status: 'sent',
    preview: 'The build is red, I look into it.',
    durationMs: 0,
  });
  assert.match(asked(gateway) ?? '', /^The system lines below woke you\. .*\n\nSystem: \[.*\] build 7 failed$/);
});

test('several wakes during a turn cause one more turn with all remaining events', async () => {
  await using gateway = await wholeGateway();
  const gate = Promise.withResolvers<void>();
  gateway.puppet.turn(gate.promise, 'HEARTBEAT_OK');
  await gateway.call('wake', { mode: 'now', text: 'one' });
  await turnsUntil(() => gateway.puppet.requests.length === 1, 'the first turn');
  for (const text of ['two', 'three']) await gateway.call('wake', { mode: 'now', text });
  gate.resolve();
  await turnsUntil(() => gateway.puppet.requests.length === 2, 'the second turn');
  assert.match(asked(gateway) ?? '', /two\nSystem: .*three$/);
  await gateway.isIdle(await gateway.main());
  assert.deepEqual([gateway.puppet.requests.length, await queued(gateway)], [2, []]);
});

test('a wake interrupted by a crash happens at the next start', async () => {
  await using gateway = await wholeGateway();
  const value = JSON.stringify({ text: 'build 7 failed', atMs: 1_000_000, wakes: 'ada' });
  const row = build.insertInto('meta').values({ key: 'system_event:000000000001', value });
  await gateway.store.commit({ statements: [statementOf(row)] });
  await gateway.restart();
  await turnsUntil(async () => (await last(gateway)) !== null, 'a heartbeat');
  assert.match(asked(gateway) ?? '', /^The system lines below woke you\. .*\n\nSystem: \[.*\] build 7 failed$/);
  await gateway.isIdle(await gateway.main());
  await gateway.restart();
  assert.equal(gateway.puppet.requests.length, 1);
});

test('the result of a heartbeat is reported: nothing to do, no answer, or a failure', async () => {
  await using gateway = await wholeGateway();
  const seen: unknown[] = [];
  for (const answer of ['HEARTBEAT_OK', '', new Error('the model is away')]) {
    gateway.puppet.turn(answer);
    const before = await last(gateway);
    await gateway.call('wake', { mode: 'now', text: `event ${seen.length}` });
    await turnsUntil(async () => (await last(gateway)) !== before, 'a heartbeat');
    seen.push((await last(gateway))?.status);
    await gateway.isIdle(await gateway.main());
  }
  assert.deepEqual(seen, ['ok-token', 'ok-empty', 'failed']);
});

test('a blank text does not wake', async () => {
  await using gateway = await wholeGateway();
  assert.deepEqual(await gateway.call('wake', { mode: 'now', text: ' \n' }), { ok: false });
  assert.deepEqual([await queued(gateway), await last(gateway)], [[], null]);
  for (const params of [{ mode: 'soon', text: 'x' }, { mode: 'now', text: '' }, { text: 'x' }]) {
    assert.equal((await gateway.refusal('wake', params)).code, 'INVALID_REQUEST');
  }
});

test('periodic heartbeats start on time, skip a busy session, and can be switched off', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, heartbeatMs: 600_000 } });
  const stop = new AbortController();
  const running = gateway.gateway.run(stop.signal);
  const statuses = async () => [(await gateway.call('status', {})).heartbeatSeconds, (await last(gateway))?.status];
  await gateway.clock.advance(599_999);
  assert.deepEqual(await statuses(), [600, undefined]);
  gateway.puppet.turn('HEARTBEAT_OK');
  await gateway.clock.advance(1);
  await turnsUntil(async () => (await last(gateway)) !== null, 'a heartbeat');
  assert.deepEqual(await statuses(), [600, 'ok-token']);
  await gateway.isIdle(await gateway.main());
  gateway.puppet.turn(new Promise(() => undefined));
  await gateway.call('chat.send', { sessionKey: 'main', message: 'long', idempotencyKey: 'k1' });
  await gateway.clock.advance(600_000);
  await turnsUntil(async () => (await last(gateway))?.status === 'skipped', 'a skipped one');
  assert.deepEqual(await gateway.call('set-heartbeats', { enabled: false }), { ok: true, enabled: false });
  const before = await last(gateway);
  await gateway.clock.advance(1_200_000);
  assert.deepEqual([await last(gateway), (await statuses())[0]], [before, 0]);
  stop.abort();
  await running;
});
