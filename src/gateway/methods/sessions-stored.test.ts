import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OF_EVERYONE } from '../sharing/perception.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { LIVE } from '../testing/default-deps.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { toWorkstreamRow } from '../workstreams/workstream-rows.ts';

const HOUR_MS = 3_600_000;

/** `main` and two others are open, earlier ones were unloaded; each is an hour younger than the previous one. */
async function openCrowded(names: readonly string[]): Promise<WholeGateway> {
  const gateway = await wholeGateway({ live: { ...LIVE, maxWorkstreams: 3 } });
  for (const name of names) {
    await gateway.clock.advance(HOUR_MS);
    await gateway.call('sessions.patch', { key: name, thinkingLevel: 'high' });
  }
  return gateway;
}

const idsOf = (gateway: WholeGateway, names: readonly string[]) =>
  Promise.all(names.map(async (key) => (await gateway.call('sessions.resolve', { key })).key));

test('sessions unloaded to make room are listed and counted like open ones', async () => {
  await using gateway = await openCrowded(['a', 'b', 'c', 'd']);
  const { sessions, count } = await gateway.call('sessions.list', {});
  assert.deepEqual(
    [count, ...sessions.map(({ key }) => key)],
    [5, ...(await idsOf(gateway, ['d', 'c', 'b', 'a', 'main']))],
  );
  assert.deepEqual(
    sessions.map(({ thinkingLevel }) => thinkingLevel),
    ['high', 'high', 'high', 'high', undefined],
  );
  assert.equal((await gateway.call('workstream.list', {})).workstreams.length, 3, 'none was opened for it');
  const status = await gateway.call('status', {});
  const recent = status.sessions.recent.map(
    ({ age: _, remainingTokens: __, percentUsed: ___, flags: ____, ...session }) => session,
  );
  assert.deepEqual([status.sessions.count, recent], [5, sessions]);
});

test('the limit and the time also apply to stored sessions', async () => {
  await using gateway = await openCrowded(['a', 'b', 'c', 'd']);
  const listed = async (params: object) => (await gateway.call('sessions.list', params)).sessions.map(({ key }) => key);
  const [d, c, b] = await idsOf(gateway, ['d', 'c', 'b']);
  assert.deepEqual(await listed({ limit: 3 }), [d, c, b]);
  assert.deepEqual(await listed({ activeMinutes: 120 }), [d, c, b]);
});

test('a session deleted without its conversation is no longer a session', async () => {
  await using gateway = await openCrowded(['a', 'b', 'c']);
  await gateway.call('sessions.delete', { key: 'c', deleteTranscript: false });
  await gateway.call('sessions.delete', { key: 'a' });
  const { sessions } = await gateway.call('sessions.list', {});
  assert.deepEqual(
    sessions.map(({ key }) => key),
    await idsOf(gateway, ['b', 'main']),
  );
});

test('of ten thousand stored sessions the thousand newest are listed, or the requested number', async () => {
  await using gateway = await wholeGateway();
  const rows = Array.from({ length: 10_000 }, (_, n): WorkstreamTable => {
    const row = toWorkstreamRow({
      owned: OF_EVERYONE,
      wsId: n.toString(16).padStart(32, '0'),
      workdir: '/srv',
      nowMs: 1_000 + n,
    });
    return { ...row, loaded: 2 };
  });
  const statements = rows.map((row) => statementOf(build.insertInto('workstreams').values(row)));
  await gateway.store.commit({ statements });
  const { sessions } = await gateway.call('sessions.list', {});
  const all = await gateway.call('sessions.list', { limit: 20_000 });
  assert.deepEqual([sessions.length, all.count, sessions[1]?.updatedAt], [1_000, 10_001, 10_999]);
  assert.equal((await gateway.call('status', {})).sessions.count, 10_001);
});
