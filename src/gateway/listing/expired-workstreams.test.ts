import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomIds } from '../../ids.ts';
import { setWorkstream } from '../runs/run-rows.ts';
import { build, statementOf } from '../store/statements.ts';
import { LIVE } from '../testing/default-deps.ts';
import { testAccounts } from '../testing/test-accounts.ts';
import { type WholeGateway, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';
import { createExpiredWorkstreams } from './expired-workstreams.ts';

const DAY = 86_400_000;
const never = new AbortController().signal;

async function open(retentionDays: number, options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway(options);
  const told = { removed: 0 };
  const live = { session: { ...LIVE.session, retentionDays } };
  const { store, dir, clock, log } = gateway;
  const { trail } = await testAccounts({ store, dir, enabled: false, clock, log });
  const expired = createExpiredWorkstreams({
    ...{ store, live, trail, ids: randomIds, clock, log },
    onRemoved: async () => {
      told.removed += 1;
    },
  });
  return { gateway, expired, told };
}

/** A closed conversation with one message. */
async function closed(gateway: WholeGateway, params: { name?: string } = {}): Promise<string> {
  const { wsId } = await gateway.call('workstream.create', params);
  await gateway.call('workstream.send', { wsId, message: 'hello' });
  await gateway.isIdle(wsId);
  await gateway.call('workstream.close', { wsId });
  return wsId;
}

const stored = async ({ store }: WholeGateway) =>
  new Set((await store.db.selectFrom('workstreams').select('ws_id').execute()).map(({ ws_id }) => ws_id));

const rowsOf = async ({ store }: WholeGateway, wsId: string) => {
  const tables = ['workstreams', 'messages', 'events', 'runs', 'notes', 'attachments'] as const;
  const counts = tables.map((table) =>
    store.db
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where('ws_id', '=', wsId)
      .executeTakeFirstOrThrow(),
  );
  return (await Promise.all(counts)).map(({ n }) => n);
};

test('closed conversations without a name are deleted after the days of the setting, with all their rows', async () => {
  const { gateway, expired, told } = await open(30);
  await using _ = gateway;
  const old = await closed(gateway);
  gateway.clock.jump(20 * DAY);
  const newer = await closed(gateway);
  gateway.clock.jump(11 * DAY);
  assert.equal(await expired.sweep(never), 1);
  const left = await stored(gateway);
  assert.deepEqual([left.has(old), left.has(newer), told.removed], [false, true, 1]);
  assert.deepEqual(await rowsOf(gateway, old), [0, 0, 0, 0, 0, 0]);
  const { events } = await gateway.call('audit.list', { action: 'sessions.expire' });
  assert.deepEqual(
    events.map(({ userId, resourceId, outcome }) => [userId, resourceId, outcome]),
    [['daemon', old, 'ok']],
  );
  assert.equal(await expired.sweep(never), 0, 'nothing is left to do');
});

test('0 days delete nothing', async () => {
  const { gateway, expired, told } = await open(0);
  await using _ = gateway;
  await closed(gateway);
  gateway.clock.jump(10_000 * DAY);
  assert.deepEqual([await expired.sweep(never), told.removed], [0, 0]);
});

test('what is loaded, named, of a job, or has something pending stays', async () => {
  const { gateway, expired } = await open(1);
  await using _ = gateway;
  const { wsId: loaded } = await gateway.call('workstream.create', {});
  const named = await closed(gateway, { name: 'garden' });
  const aliased = await closed(gateway);
  await gateway.call('workstream.update', { wsId: aliased, name: 'tomatoes' });
  const pending = await closed(gateway);
  const target = await closed(gateway);
  const ofJob = await closed(gateway);
  const { id: jobId } = await gateway.call('cron.add', {
    schedule: { kind: 'every', everyMs: 100_000 * DAY },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message: `tell ${target}` },
  });
  const kept = [await gateway.main(), loaded, named, aliased, pending, target, ofJob];
  await gateway.store.commit({
    statements: [
      { sql: `update workstreams set session_key = ? where ws_id = ?`, parameters: [`cron:${jobId}`, ofJob] },
      statementOf(build.updateTable('runs').set({ status: 'queued' }).where('ws_id', '=', pending)),
    ],
  });
  gateway.clock.jump(100 * DAY);
  assert.equal(await expired.sweep(never), 0);
  const left = await stored(gateway);
  assert.deepEqual(
    kept.filter((wsId) => !left.has(wsId)),
    [],
  );
});

test('conversations of removed jobs, and those that were unloaded to make room, are deleted, too', async () => {
  const { gateway, expired } = await open(1);
  await using _ = gateway;
  const [ofJob, unloaded] = [await closed(gateway), await closed(gateway)];
  await gateway.store.commit({
    statements: [
      { sql: `update workstreams set session_key = 'cron:gone' where ws_id = ?`, parameters: [ofJob] },
      setWorkstream(unloaded, { loaded: 2 }),
    ],
  });
  gateway.clock.jump(2 * DAY);
  assert.equal(await expired.sweep(never), 2);
});

test('one that was unloaded to make room stays as long as a watch of it is active, or has something to tell', async () => {
  const { gateway, expired } = await open(1);
  await using _ = gateway;
  const { store, background } = gateway;
  const wsIds = [await closed(gateway), await closed(gateway), await closed(gateway)];
  const asked = {
    name: 'it',
    command: 'ls',
    intervalSecs: 86_400,
    stopOn: undefined,
    maxPolls: 100,
    allowed: undefined,
  };
  for (const wsId of wsIds) await background.watches.records.create({ wsId, ...asked });
  const [active = '', telling = '', over = ''] = wsIds;
  const change = (wsId: string, row: { active: 0 | 1; result_json?: string }) =>
    statementOf(build.updateTable('watches').set(row).where('ws_id', '=', wsId));
  await store.commit({
    statements: [
      ...wsIds.map((wsId) => setWorkstream(wsId, { loaded: 2 })),
      change(telling, { active: 0, result_json: '{"text":"done"}' }),
      change(over, { active: 0 }),
    ],
  });
  gateway.clock.jump(2 * DAY);
  assert.equal(await expired.sweep(never), 1);
  const left = await stored(gateway);
  assert.deepEqual([left.has(active), left.has(telling), left.has(over)], [true, true, false]);
});

test('one that is opened during the sweep stays', async () => {
  const { gateway, expired } = await open(1);
  await using _ = gateway;
  const first = await closed(gateway);
  gateway.clock.jump(1_000); // the sweep begins with the older one
  const second = await closed(gateway);
  gateway.clock.jump(2 * DAY);
  const sweeping = expired.sweep(never);
  const opened = gateway.call('workstream.open', { wsId: second });
  await Promise.all([sweeping, opened]);
  const left = await stored(gateway);
  assert.deepEqual([left.has(first), left.has(second)], [false, true]);
  await gateway.call('workstream.send', { wsId: second, message: 'still here' });
  await gateway.isIdle(second);
});

test('many conversations are deleted page by page, and an abort ends the sweep between two of them', async () => {
  const { gateway, expired } = await open(1);
  await using _ = gateway;
  const wsId = await closed(gateway);
  const columns = await gateway.store.db
    .selectFrom('workstreams')
    .selectAll()
    .where('ws_id', '=', wsId)
    .executeTakeFirstOrThrow();
  const copies = Array.from({ length: 120 }, (_none, n) => {
    const id = n.toString(16).padStart(32, '0');
    return { ...columns, ws_id: id, generated_name: `ws-${id.slice(0, 4)}` };
  });
  await gateway.store.commit({
    statements: copies.map((row) => statementOf(build.insertInto('workstreams').values(row), 1)),
  });
  gateway.clock.jump(2 * DAY);
  const stop = new AbortController();
  const begun = expired.sweep(stop.signal);
  await new Promise(setImmediate);
  stop.abort();
  assert.ok((await begun) < 121);
  await expired.sweep(never);
  assert.deepEqual([...(await stored(gateway))], [await gateway.main()]);
});
