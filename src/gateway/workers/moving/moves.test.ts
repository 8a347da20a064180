import assert from 'node:assert/strict';
import { test } from 'node:test';
import { recordingLog } from '../../../testing/temp-store.ts';
import type { Viewer } from '../../sharing/perception.ts';
import type { Store } from '../../store/store.ts';
import type { Link } from '../links/link.ts';
import { createMoves } from './moves.ts';
import type { Given, MovingHere } from './moving-here.ts';

const notServed = () => assert.fail('it is not asked');

type Row = { ws_id: string; machine: string | null; owner_id: string; visibility: 'shared' | 'private' };

const OPERATOR: Viewer = { permissions: new Set(['workstreams.all']) };
const ADA: Viewer = { permissions: new Set(), userId: 'ada' };
const BOB: Viewer = { permissions: new Set(), userId: 'bob' };

/** An active daemon `a` and the workers `w` and `v`, of which `v` has no folders. `answers` replaces what a machine says. */
function world(row: Partial<Row> = {}, answers: Partial<MovingHere> = {}) {
  const steps: unknown[] = [];
  const stored = { ws_id: 'one', machine: null, owner_id: 'ada', visibility: 'shared', workdir: '/x', ...row };
  const given = (wsIds: readonly string[]): Given => ({
    moved: wsIds.map((wsId) => ({ wsId, wasLoaded: true })),
    stay: [],
  });
  const machineOf = (name: string): MovingHere => ({
    async give(wsIds, to) {
      steps.push([name, 'give', ...wsIds, to]);
      return given(wsIds);
    },
    take: async (moved) => void steps.push([name, 'take', ...moved.map(({ wsId }) => wsId)]),
    obstacles: async (folders) => folders.map(({ workdir }) => (name === 'v' ? { reason: 'folder', workdir } : null)),
    ...answers,
  });
  const linkOf = (name: string): Link => {
    const machine = machineOf(name);
    return {
      async ask(what, body) {
        const { wsIds, to } = Object(body);
        if (what === 'give') return machine.give(wsIds, to);
        return what === 'take' ? machine.take(Object(body)) : machine.obstacles(Object(body));
      },
      tell: notServed,
      take: notServed,
      ended: new AbortController().signal,
      end: notServed,
    };
  };
  const links = new Map(['w', 'v'].map((name) => [name, linkOf(name)]));
  const query = {
    selectAll: () => query,
    where: () => query,
    executeTakeFirst: async () => (stored.ws_id === '' ? undefined : stored),
  };
  const moves = createMoves({
    nodeId: 'a',
    store: { db: { selectFrom: () => query } } as unknown as Store, // one row is read
    far: {
      linkTo: (machine) => links.get(machine),
      openLogs: async (machine, wsIds) => void steps.push(['follow', machine, ...wsIds]),
    },
    here: machineOf('a'),
    workstreams: {
      async whileArriving(wsIds, work) {
        steps.push(['wait for', ...wsIds]);
        return work();
      },
    },
    log: recordingLog(),
  });
  return { moves, steps };
}

test('the log of a workstream is followed before a worker gets it, and it is loaded there afterwards', async () => {
  const { moves, steps } = world();
  assert.equal(await moves.move('one', 'w', OPERATOR), true);
  assert.deepEqual(steps, [
    ['follow', 'w', 'one'],
    ['a', 'give', 'one', 'w'],
    ['w', 'take', 'one'],
  ]);
});

test('callers wait here while a worker gives a workstream to the active daemon', async () => {
  const { moves, steps } = world({ machine: 'w' });
  assert.equal(await moves.move('one', 'a', OPERATOR), true);
  assert.deepEqual(steps, [
    ['wait for', 'one'],
    ['w', 'give', 'one', null],
    ['a', 'take', 'one'],
  ]);
});

test('a machine that has a workstream already is asked nothing', async () => {
  const { moves, steps } = world({ machine: 'w' });
  assert.deepEqual([await moves.move('one', 'w', OPERATOR), steps], [false, []]);
});

test('a workstream does not move to a machine without its folder, to an unknown one, or from one that cannot be reached', async () => {
  const { moves, steps } = world();
  await assert.rejects(moves.move('one', 'v', OPERATOR), {
    code: 'CONFLICT',
    message: /v does not have the same folder/,
  });
  await assert.rejects(moves.move('one', 'nobody', OPERATOR), { code: 'NOT_FOUND' });
  for (const machine of ['gone', 'moving gone'])
    await assert.rejects(world({ machine }).moves.move('one', 'a', OPERATOR), { code: 'UNAVAILABLE' });
  assert.deepEqual(steps, []);
});

test('only its owner and those who see everything move a workstream', async () => {
  assert.equal(await world().moves.move('one', 'w', ADA), true);
  const { moves, steps } = world();
  await assert.rejects(moves.move('one', 'w', BOB), { code: 'FORBIDDEN' });
  await assert.rejects(world({ ws_id: '' }).moves.move('one', 'w', BOB), { code: 'NOT_FOUND' });
  assert.deepEqual(steps, []);
});

test('the reason of a giver that keeps a workstream reaches the caller', async () => {
  const give: MovingHere['give'] = async () => ({ moved: [], stay: [{ wsId: 'one', code: 'CONFLICT', why: 'busy' }] });
  await assert.rejects(world({}, { give }).moves.move('one', 'w', OPERATOR), { code: 'CONFLICT', message: 'busy' });
});

test('a workstream that could not be loaded at the receiver has moved all the same', async () => {
  const take: MovingHere['take'] = () => Promise.reject(new Error('lost'));
  assert.equal(await world({}, { take }).moves.move('one', 'w', OPERATOR), true);
});
