import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../../clock.ts';
import { needs } from '../../../testing/needs.ts';
import { queryPostgres, sharedPostgres } from '../../../testing/postgres-server.ts';
import { someMachine } from '../../../testing/some-machine.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { openPostgresStore } from '../../store/postgres/postgres-store.ts';
import { type Store, tookEffect } from '../../store/store.ts';
import type { Link } from '../links/link.ts';
import { isWatched, moveStatement, whyFixed } from './movable.ts';
import { createMoves } from './moves.ts';

const installed = await needs('postgresql');

const open = (url: string, nodeId: string, isWorker = false) =>
  openPostgresStore({ url, machine: { ...someMachine(nodeId), isWorker }, clock: systemClock, log: recordingLog() });

/** An active daemon and the worker `w`, with a workstream that one of them has. */
async function scene(machine: string | null, { loaded = 1 } = {}) {
  const url = await (await sharedPostgres()).createDatabase();
  const active = await open(url, 'a');
  const worker = await open(url, 'w', true);
  await queryPostgres(
    url,
    `insert into headgate.workstreams (ws_id, generated_name, workdir, machine, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
      values ('one', 'n', '/here', ${machine === null ? 'null' : `'${machine}'`}, ${loaded}, 0, 0, 0, 1, 1)`,
  );
  const row = async () => {
    const [found] = await queryPostgres(url, `select machine, loaded from headgate.workstreams where ws_id = 'one'`);
    return [found?.machine, Number(found?.loaded)];
  };
  const move = (from: Store, to: string | null) =>
    tookEffect(from.commit({ statements: [moveStatement('one', { to, from })] }));
  const dispose = async () => {
    for (const store of [worker, active]) await store.close();
  };
  return { url, active, worker, row, move, [Symbol.asyncDispose]: dispose };
}

test(
  'only the machine that has a workstream gives it, and it is loaded there when it is asked for',
  installed,
  async () => {
    await using world = await scene(null);
    assert.equal(await world.move(world.worker, 'v'), false);
    assert.deepEqual(await world.row(), [null, 1]);
    assert.equal(await world.move(world.active, 'w'), true);
    assert.deepEqual(await world.row(), ['w', 2]);
    assert.equal(await world.move(world.active, 'v'), false, 'it has it no more');
    assert.equal(await world.move(world.worker, null), true);
    assert.deepEqual(await world.row(), [null, 2]);
  },
);

test('a closed workstream stays closed, and a deleted one does not move', installed, async () => {
  for (const [loaded, isMoved] of [
    [0, true],
    [3, false],
  ] as const) {
    await using world = await scene('w', { loaded });
    assert.equal(await world.move(world.worker, null), isMoved);
    assert.deepEqual(await world.row(), isMoved ? [null, loaded] : ['w', loaded]);
  }
});

test('a workstream does not move once a run has begun in it, or a watch is polled', installed, async () => {
  await using world = await scene('w');
  const { url } = world;
  await queryPostgres(
    url,
    `insert into headgate.runs (run_id, ws_id, principal, source, status, epoch, accepted_ms, request_json)
      values ('r', 'one', 'p', 'person', 'queued', 0, 1, '{}')`,
  );
  assert.equal(await world.move(world.worker, null), false);
  await queryPostgres(url, `update headgate.runs set status = 'ok'`);
  await queryPostgres(
    url,
    `insert into headgate.watches (watch_id, ws_id, node_id, created_by, rights, name, command, interval_secs, max_polls, poll_count, missed_polls, is_polling, active, created_ms, updated_ms)
      values ('x', 'one', 'w', 'p', 'write', 'n', 'true', 60, 5, 0, 0, 0, 1, 1, 1)`,
  );
  assert.equal(await isWatched(world.worker, 'one'), true);
  assert.equal(await world.move(world.worker, null), false);
  await queryPostgres(url, 'update headgate.watches set active = 0');
  assert.equal(await isWatched(world.worker, 'one'), false);
  assert.equal(await world.move(world.worker, null), true);
});

test('a worker whose lease has been ended gives nothing', installed, async () => {
  await using world = await scene('w');
  await queryPostgres(world.url, `update headgate.leases set epoch = epoch + 1, owner = '' where name like '%w'`);
  await assert.rejects(world.worker.commit({ statements: [moveStatement('one', { to: null, from: world.worker })] }));
  assert.deepEqual(await world.row(), ['w', 1]);
});

test(
  'a daemon adds nothing to a log that it has given, and goes on where the other one ended when it is back',
  installed,
  async () => {
    await using world = await scene(null);
    const { active, worker } = world;
    const say = (store: Store, message: string) =>
      store.commit({ events: { wsId: 'one', events: [{ type: 'info', message }] } });
    await active.openLogs(['one']);
    await say(active, 'first');
    const refusal = new Error('it has moved');
    active.leaveLog?.('one', refusal);
    await world.move(active, 'w');
    await assert.rejects(say(active, 'too late'), refusal);
    await assert.rejects(active.commit({ elsewhere: [{ wsId: 'one', events: [] }] }), refusal);
    await worker.takeLogs?.(['one']);
    assert.equal(await say(worker, 'second'), 2);
    worker.leaveLog?.('one', refusal);
    await world.move(worker, null);
    await active.takeLogs?.(['one']);
    assert.equal(await say(active, 'third'), 3);
    assert.deepEqual(
      (await active.readEvents('one', 0, 10)).map(({ offset, json }) => [offset, JSON.parse(json).message]),
      [
        [1, 'first'],
        [2, 'second'],
        [3, 'third'],
      ],
    );
  },
);

test('the main session, those of jobs and chats, and coordinators with theirs stay with the active daemon', () => {
  const row = { session_key: null, kind: 'interactive', parent_ws_id: null } as const;
  const fixed = [
    { ...row, session_key: 'main' },
    { ...row, session_key: 'cron:abc' },
    { ...row, session_key: 'telegram:dm:5' },
    { ...row, kind: 'coordinator' as const },
    { ...row, parent_ws_id: 'p' },
  ];
  assert.deepEqual(
    fixed.map((one) => whyFixed(one)?.split(' ')[0]),
    ['The', 'The', 'The', 'Coordinators', 'Coordinators'],
  );
  assert.deepEqual([whyFixed(row), whyFixed({ ...row, session_key: 'notes' })], [undefined, undefined]);
});

test(
  'the active daemon takes all that a worker has and whose folder is there, first what is loaded',
  installed,
  async () => {
    await using world = await scene('w', { loaded: 0 });
    const { url, active } = world;
    for (const [wsId, loaded, workdir] of [
      ['three', 2, '/here'],
      ['two', 1, '/here'],
      ['away', 1, '/away'],
    ])
      await queryPostgres(
        url,
        `insert into headgate.workstreams (ws_id, generated_name, workdir, machine, loaded, context_after_seq, message_count, run_epoch, created_ms, updated_ms)
        values ('${wsId}', 'n', '${workdir}', 'w', ${loaded}, 0, 0, 0, 1, 1)`,
      );
    const given: string[] = [];
    const notAsked = () => assert.fail('it is not asked');
    const link: Link = {
      async ask(what, { wsIds }) {
        assert.equal(what, 'give');
        given.push(...wsIds);
        return { moved: wsIds.map((wsId: string) => ({ wsId, wasLoaded: true })), stay: [] };
      },
      tell: notAsked,
      take: notAsked,
      ended: new AbortController().signal,
      end: notAsked,
    };
    const moves = createMoves({
      nodeId: 'a',
      store: active,
      far: { linkTo: () => link, openLogs: notAsked },
      here: {
        give: notAsked,
        take: async () => undefined,
        obstacles: async (folders) =>
          folders.map(({ workdir }) => (workdir === '/here' ? null : { reason: 'folder', workdir })),
      },
      workstreams: { whileArriving: (_, work) => work() },
      log: recordingLog(),
    });
    assert.deepEqual([await moves.takeAll('w'), given], [['two', 'one', 'three'], given]);
  },
);
