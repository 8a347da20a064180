import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { WaitEnd } from '../../../agent/coordinator/wait-end.ts';
import type { ModelRequest } from '../../../agent/providers/model.ts';
import { ANYONE } from '../../sharing/perception.ts';
import type { Unit } from '../../store/store.ts';
import { LIVE } from '../../testing/default-deps.ts';
import { calling, type Move } from '../../testing/puppet-model.ts';
import { type CallAs, turnsUntil } from '../../testing/whole-gateway.ts';
import { coordinatorGateway, LOCAL, taskOf } from '../coordinators-fixture.ts';

type Gateway = Awaited<ReturnType<typeof coordinatorGateway>>;

const metricsOf = ({ call, wsId }: Gateway, as: CallAs = LOCAL) => call('coordinator.metrics', { wsId }, as);
const waiting = (ws_ids: string[], args: object = {}, id = 'wait') =>
  calling('wait_for_workstream', { ws_ids, ...args }, id);
const batchOf = (...names: string[]) =>
  calling('spawn_batch', { workstreams: names.map((name) => ({ name, message: name })) });

const NOTHING = {
  ...{ spawnsTotal: 0, spawnsLastHour: 0, childStates: {}, judgeFallbackRate: 0, verdictSample: 0 },
  ...{ waitCompletions: 0, waitTimeouts: 0, waitAvgElapsedMs: 0 },
};

test('a coordinator that has done nothing has figures of zero', async () => {
  await using gateway = await coordinatorGateway();
  assert.deepEqual(await metricsOf(gateway), { wsId: gateway.wsId, ...NOTHING });
});

test('children are counted by state, with those that are closed and without those of children', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  gateway.children((request) => {
    const asks = taskOf(request) === 'asks' && request.messages.at(-1)?.role !== 'tool';
    return asks ? [calling('touch', { text: 'a' })] : ['done'];
  });
  await gateway.coordinate([batchOf('asks', 'idle', 'gone')]);
  const [asks = '', idle = '', gone = ''] = await gateway.named('asks', 'idle', 'gone');
  await gateway.reaches(asks, 'approve_request');
  for (const one of [idle, gone]) await gateway.isIdle(one);
  await call('workstream.close', { wsId: gone }, LOCAL);
  gateway.clock.jump(3_600_001);
  const below = await call('workstream.create', { kind: 'coordinator', parentWsId: wsId }, LOCAL);
  await call('workstream.create', { parentWsId: below.wsId }, LOCAL);
  const { spawnsTotal, spawnsLastHour, childStates } = await metricsOf(gateway);
  assert.deepEqual([spawnsTotal, spawnsLastHour], [4, 1]);
  assert.deepEqual(childStates, { attention: 1, idle: 2, closed: 1 });
});

test('a caller who may not see a child does not count it', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  await call('workstream.create', { parentWsId: wsId, visibility: 'private' }, LOCAL);
  await call('workstream.create', { parentWsId: wsId }, LOCAL);
  const bob = { id: 'bob', userId: 'user_bob', permissions: ANYONE.permissions };
  const counts = [await metricsOf(gateway), await metricsOf(gateway, bob)];
  assert.deepEqual(
    counts.map(({ spawnsTotal, childStates }) => [spawnsTotal, childStates]),
    [
      [2, { idle: 2 }],
      [1, { idle: 1 }],
    ],
  );
});

test('only a coordinator that the caller sees and that is open has figures', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  const hidden = await call('workstream.create', { kind: 'coordinator', visibility: 'private' }, LOCAL);
  const bob = { id: 'bob', userId: 'user_bob', permissions: ANYONE.permissions };
  await call('workstream.close', { wsId }, LOCAL);
  const asked: [string, CallAs][] = [
    [await gateway.main(), LOCAL],
    ['f'.repeat(32), LOCAL],
    ['', LOCAL],
    [wsId, LOCAL],
    [hidden.wsId, bob],
  ];
  for (const [of, as] of asked)
    assert.deepEqual(await gateway.refusal('coordinator.metrics', { wsId: of }, as), {
      code: 'NOT_FOUND',
      message: 'coordinator not found',
    });
});

test('waits are counted by how they ended, with the average of their times, and a cancelled one is not', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, call } = gateway;
  const held = Promise.withResolvers<void>();
  gateway.children(() => [held.promise, 'late']);
  await gateway.coordinate([batchOf('one')]);
  const child = (await gateway.child()).wsId;
  const begin = async (secs: number) => {
    const before = gateway.results.length;
    gateway.turns.push([waiting([child], { timeout_secs: secs })]);
    await call('workstream.send', { wsId, message: 'go on' }, LOCAL);
    return before;
  };
  const before = await begin(30);
  await turnsUntil(async () => {
    await gateway.clock.advance(30_000);
    return gateway.results.length > before;
  }, 'the end of the wait');
  await gateway.isIdle(wsId);
  const late = await metricsOf(gateway);
  assert.deepEqual([late.waitCompletions, late.waitTimeouts], [0, 1]);
  assert.ok(late.waitAvgElapsedMs >= 30_000);
  await begin(600);
  await gateway.reaches(wsId, 'wait_started', 2);
  await call('workstream.cancel', { wsId }, LOCAL);
  await gateway.isIdle(wsId);
  held.resolve();
  await gateway.isIdle(child);
  await gateway.coordinate([waiting([child]), waiting([child], { mode: 'any' }, 'wait_2')]);
  await gateway.call('workstream.command', { wsId, command: '/clear' }, LOCAL);
  await gateway.restart();
  const { waitCompletions, waitTimeouts, waitAvgElapsedMs } = await metricsOf(gateway);
  assert.deepEqual([waitCompletions, waitTimeouts], [2, 1]);
  assert.equal(waitAvgElapsedMs, Math.round(late.waitAvgElapsedMs / 3));
});

test('A wait of a coordinator must be counted once, also when the daemon is killed', async (t) => {
  const finished = (unit: Unit) =>
    (unit.statements ?? []).some(
      ({ sql, parameters }) => /INTO journal/.test(sql) && parameters.includes('tool_finished'),
    );
  const told = ({ events }: Unit) => events?.events.some(({ type }) => type === 'wait_ended') === true;
  const kills = [
    ['before the end of the wait is told', told],
    ['before the result of the call is stored', finished],
  ] as const;
  for (const [when, isThen] of kills)
    await t.test(`killed ${when}`, async () => {
      await using gateway = await coordinatorGateway();
      const { wsId, call } = gateway;
      await gateway.coordinate([batchOf('one')]);
      const child = (await gateway.child()).wsId;
      await gateway.isIdle(child);
      let isDead = false;
      gateway.disk.diesAt = (unit) => {
        isDead ||= isThen(unit);
        return isDead;
      };
      gateway.turns.push([waiting([child])]);
      await call('workstream.send', { wsId, message: 'go on' }, LOCAL);
      await turnsUntil(() => isDead, 'the kill');
      await gateway.crash();
      await gateway.answered(wsId);
      const { waitCompletions, waitTimeouts } = await metricsOf(gateway);
      assert.deepEqual([waitCompletions, waitTimeouts], [1, 0]);
    });
});

test('calls for which the judge gave no verdict are a share of the verdicts', async () => {
  const judge = { ...LIVE.judge, enabled: true, usesModel: true };
  await using gateway = await coordinatorGateway({ live: { ...LIVE, judge } });
  const { wsId, call } = gateway;
  const verdict = JSON.stringify({
    ...{ intent_summary: 'Makes one.', risk_level: 'low', confidence: 0.9, recommendation: 'approve' },
  });
  const said: Move[][] = [['no verdict'], [verdict]];
  gateway.children((request: ModelRequest) => (request.system.startsWith('You judge') ? (said.shift() ?? []) : ['ok']));
  for (const [name, event] of [
    ['one', 'judge_state'],
    ['two', 'intent_verdict'],
  ] as const) {
    gateway.turns.push([batchOf(name)]);
    await call('workstream.send', { wsId, message: 'go on' }, LOCAL);
    await gateway.reaches(wsId, event);
    await gateway.answered(wsId);
  }
  await gateway.restart();
  const { judgeFallbackRate, verdictSample } = await metricsOf(gateway);
  assert.deepEqual([judgeFallbackRate, verdictSample], [1 / 3, 3], 'two of the rules, and one of a model');
});

test('a damaged entry of the journal is left out of the figures', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId, store } = gateway;
  await gateway.coordinate([batchOf('one')]);
  const child = (await gateway.child()).wsId;
  await gateway.isIdle(child);
  await gateway.coordinate([waiting([child])]);
  await store.commit({
    statements: [
      { sql: `update journal set body_json = '{"waited"' where body_json like '%"waited"%'`, parameters: [] },
    ],
  });
  const { waitCompletions, waitAvgElapsedMs } = await gateway.call('coordinator.metrics', { wsId }, LOCAL);
  assert.deepEqual([waitCompletions, waitAvgElapsedMs], [0, 0]);
});

test('all waits are counted, but only the latest 500 are read', async () => {
  await using gateway = await coordinatorGateway();
  const { store } = gateway;
  await gateway.coordinate([batchOf('one')]);
  const child = (await gateway.child()).wsId;
  await gateway.isIdle(child);
  await gateway.coordinate([waiting([child])]);
  const { run_id } = await store.db
    .selectFrom('journal')
    .select('run_id')
    .where('body_json', 'like', '%"waited"%')
    .executeTakeFirstOrThrow();
  const wait = (at: number, waited: WaitEnd) => ({
    sql: 'INSERT INTO journal (run_id, seq, kind, body_json, at_ms) VALUES (?, ?, ?, ?, ?)',
    parameters: [run_id, 1_000 + at, 'tool_finished', JSON.stringify({ callId: 'a "isMet":true', waited }), at],
  });
  const latestMs = gateway.clock.now() + 1;
  await store.commit({
    statements: [
      ...Array.from({ length: 20 }, (_, index) => wait(index, { isMet: true, elapsedMs: 9_000_000 })),
      ...Array.from({ length: 500 }, (_, index) => wait(latestMs + index, { isMet: false, elapsedMs: 1_000 })),
    ],
  });
  const { waitCompletions, waitTimeouts, waitAvgElapsedMs } = await metricsOf(gateway);
  assert.deepEqual([waitCompletions, waitTimeouts, waitAvgElapsedMs], [21, 500, 1_000]);
});
