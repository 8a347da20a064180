import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fakeClock } from '../../../testing/fake-clock.ts';
import { recordingLog } from '../../../testing/temp-store.ts';
import { wholeGateway } from '../../testing/whole-gateway.ts';
import { createBalance, type Loads, shiftFor } from './balance.ts';
import type { Moves } from './moves.ts';

const shift = (here: number, ...workers: number[]) =>
  shiftFor(new Map([[null, here], ...workers.map((load, index) => [`w${index + 1}`, load] as const)]));

test('workstreams move from a machine that has more than twice as many as another one, and at least four more', () => {
  assert.deepEqual(shift(10, 0), { from: null, to: 'w1', most: 4 });
  assert.deepEqual(shift(0, 3, 4), { from: 'w2', to: null, most: 2 });
  assert.deepEqual(shift(5, 20, 2), { from: 'w1', to: 'w2', most: 4 });
});

test('smaller differences stay as they are', () => {
  for (const loads of [[3, 0], [8, 4], [100, 50], [4, 4], [7], [0, 0, 0]]) {
    const [here = 0, ...workers] = loads;
    assert.equal(shift(here, ...workers), undefined, String(loads));
  }
});

test('nothing goes back after it has moved: moves come to an end for any loads', () => {
  for (let most = 0; most <= 60; most += 1)
    for (let least = 0; least <= most; least += 7) {
      const loads = new Map<string | null, number>([
        [null, most],
        ['w1', least],
        ['w2', Math.floor((most + least) / 2)],
      ]);
      let moves = 0;
      for (let next = shiftFor(loads); next !== undefined; next = shiftFor(loads)) {
        const { from, to, most: count } = next;
        loads.set(from, (loads.get(from) ?? 0) - count);
        loads.set(to, (loads.get(to) ?? 0) + count);
        assert.ok((loads.get(from) ?? 0) >= (loads.get(to) ?? 0), 'the giver keeps at least as many');
        moves += 1;
        assert.ok(moves < 100, `${most} and ${least}`);
      }
    }
});

/** An active daemon with so many workstreams that were used long ago, and the worker `w`. */
async function world(count: number) {
  const it = await wholeGateway();
  const wsIds: string[] = [];
  while (wsIds.length < count) wsIds.push((await it.call('workstream.create', {})).wsId);
  const set = (sql: string) =>
    it.store.commit({ statements: [{ sql: `update workstreams set ${sql}`, parameters: [] }] });
  await set('updated_ms = 0');
  const clock = fakeClock(10_000_000);
  const over = new AbortController();
  const moved: unknown[] = [];
  let loads: Loads = new Map([[null, count]]);
  let obstacles: Moves['obstacles'] = async (_, folders) => folders.map(() => null);
  const balance = createBalance({
    store: it.store,
    moves: {
      obstacles: (machine, folders) => obstacles(machine, folders),
      async transfer(ids, { from, to }) {
        moved.push({ from, to, wsIds: ids.toSorted() });
        return { moved: ids.map((wsId) => ({ wsId, wasLoaded: true })), stay: [] };
      },
    },
    loads: () => loads,
    clock,
    log: recordingLog(),
  });
  const running = balance.run(over.signal);
  const look = async () => {
    const before = clock.now();
    await clock.advance(10_000);
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
    assert.equal(clock.now() - before, 10_000);
    return moved.splice(0);
  };
  return {
    it,
    wsIds,
    balance,
    set,
    look,
    load: (here: number, w: number) => {
      loads = new Map([
        [null, here],
        ['w', w],
      ]);
    },
    refuse: () => {
      obstacles = async (_, folders) => folders.map(({ workdir }) => ({ reason: 'folder', workdir }));
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await running;
      await it[Symbol.asyncDispose]();
    },
  };
}

test('a few workstreams that nobody uses move to a machine with fewer, each once', async () => {
  await using scene = await world(6);
  const { wsIds, look, load } = scene;
  assert.deepEqual(await look(), [], 'no worker has joined');
  load(10, 0);
  const [first] = await look();
  const [second] = await look();
  const all = [first, second].flatMap((one) => Object(one).wsIds);
  assert.deepEqual([all.length, new Set(all)], [6, new Set(wsIds)], 'not the main session, and none of them twice');
  assert.deepEqual([Object(first).from, Object(first).to, Object(first).wsIds.length], [null, 'w', 4]);
  assert.deepEqual(await look(), [], 'they have just moved');
});

test('workstreams that were used, whose changes can be undone, or whose folder is not there, stay', async () => {
  await using scene = await world(6);
  const { it, wsIds, set, look, load } = scene;
  load(10, 0);
  await set('updated_ms = 9900000');
  assert.deepEqual(await look(), [], 'they were used a moment ago');
  await set('updated_ms = 0');
  for (const wsId of wsIds)
    await it.store.commit({
      statements: [
        {
          sql: `insert into checkpoints (ws_id, n, run_id, at_seq, state, body_json, began_ms) values (?, 1, 'r', 1, 'done', '{}', 1)`,
          parameters: [wsId],
        },
      ],
    });
  assert.deepEqual(await look(), [], 'they have changes to undo');
  await it.store.commit({ statements: [{ sql: 'delete from checkpoints', parameters: [] }] });
  scene.refuse();
  assert.deepEqual(await look(), [], 'their folder is not there');
});

test('what came from a worker goes back to it, a few at a time, once it has joined', async () => {
  await using scene = await world(6);
  const { wsIds, balance, look, load } = scene;
  balance.cameFrom('w', wsIds);
  assert.deepEqual(await look(), []);
  load(7, 7);
  const counts = [Object((await look())[0]).wsIds.length, Object((await look())[0]).wsIds.length];
  assert.deepEqual([counts, await look()], [[4, 2], []]);
});
