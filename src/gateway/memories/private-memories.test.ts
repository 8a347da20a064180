import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempStore } from '../../testing/temp-store.ts';
import { DAEMON } from '../sharing/perception.ts';
import { markDeleted, removeRows } from '../store/deletion.ts';
import { type CallAs, type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { insertWorkstream, toWorkstreamRow } from '../workstreams/workstream-rows.ts';
import { createMemories } from './memories.ts';
import { insertMemory } from './memory-rows.ts';

/** Everything but the sight of private workstreams: also administrators of memories do not get theirs. */
const permissions = new Set([...ALL_PERMISSIONS].filter((permission) => permission !== 'workstreams.all'));
const BOB: CallAs = { id: 'bob', userId: 'user_bob', permissions };
const DAN: CallAs = { id: 'dan', userId: 'user_dan', permissions };
const OPERATOR: CallAs = { id: 'operator' };
const NOWHERE = 'f'.repeat(32);
const unknown = { code: 'NOT_FOUND', message: 'Unknown workstream' };

/** The names that a caller gets from each method that lists. */
async function found({ call }: WholeGateway, as: CallAs): Promise<string[][]> {
  const asked = { query: 'animal' };
  const pages = [
    await call('memory.list', {}, as),
    await call('memory.search', asked, as),
    await call('memory.admin.list', {}, as),
    await call('memory.admin.search', asked, as),
  ];
  for (const { memories, total } of pages) assert.equal(total, memories.length);
  return pages.map(({ memories }) => memories.map(({ name }) => name));
}

const four = (...names: string[]) => Array.from({ length: 4 }, () => names);

test('memories of a private workstream are read, found, changed and counted only by those who perceive it', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, BOB);
  const place = { scope: 'workstream', scopeId: wsId };
  const { memory } = await gateway.call('memory.save', { name: 'quokka', content: 'animal', ...place }, BOB);
  await gateway.call('memory.save', { name: 'open', content: 'animal' }, BOB);
  assert.deepEqual(await found(gateway, BOB), four('open', 'quokka'));
  assert.deepEqual(await found(gateway, DAN), four('open'));
  assert.deepEqual(await found(gateway, OPERATOR), four('open', 'quokka'));
  const id = { memoryId: memory.memoryId };
  const missing = { code: 'NOT_FOUND', message: "Memory 'quokka' not found" };
  for (const scopeId of [wsId, NOWHERE]) {
    const there = { scope: 'workstream', scopeId };
    assert.deepEqual(await gateway.refusal('memory.get', { name: 'quokka', ...there }, DAN), missing);
    assert.deepEqual(await gateway.refusal('memory.delete', { name: 'quokka', ...there }, DAN), missing);
    for (const name of ['quokka', 'new'])
      assert.deepEqual(await gateway.refusal('memory.save', { name, content: 'mine', ...there }, DAN), unknown);
    assert.equal((await gateway.call('memory.list', there, DAN)).total, 0);
    assert.equal((await gateway.call('memory.admin.search', { query: 'animal', ...there }, DAN)).total, 0);
  }
  for (const method of ['memory.admin.get', 'memory.admin.delete'] as const)
    assert.deepEqual(await gateway.refusal(method, id, DAN), { code: 'NOT_FOUND', message: 'Memory not found' });
  assert.equal((await gateway.call('memory.get', { name: 'quokka', ...place }, BOB)).content, 'animal');
});

test('memories follow their workstream: shared, private again, given to someone else', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, BOB);
  const place = { scope: 'workstream', scopeId: wsId };
  await gateway.call('memory.save', { name: 'quokka', content: 'animal', ...place }, BOB);
  await gateway.call('workstream.share', { wsId, visibility: 'shared' }, BOB);
  assert.deepEqual(await found(gateway, DAN), four('quokka'));
  assert.equal(
    (await gateway.call('memory.save', { name: 'quokka', content: 'animal 2', ...place }, DAN)).created,
    false,
  );
  await gateway.call('workstream.share', { wsId, visibility: 'private' }, BOB);
  assert.deepEqual(await found(gateway, DAN), four());
});

test('memories go with their workstream, and those of an unknown one are left to those who see everything', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { visibility: 'private' }, BOB);
  const place = { scope: 'workstream', scopeId: wsId };
  await gateway.call('memory.save', { name: 'quokka', content: 'animal', ...place }, BOB);
  const stray = { ...rowOf(1, NOWHERE), content: 'animal' };
  await gateway.store.commit({ statements: insertMemory(stray) });
  await gateway.call('workstream.delete', { wsId }, BOB);
  assert.deepEqual(await found(gateway, OPERATOR), four(stray.name));
  assert.deepEqual(await found(gateway, BOB), four());
  assert.deepEqual(await gateway.refusal('memory.save', { name: 'late', content: 'x', ...place }, BOB), unknown);
  await gateway.call('memory.delete', { name: stray.name, scope: 'workstream', scopeId: NOWHERE }, OPERATOR);
  assert.deepEqual(await found(gateway, OPERATOR), four());
});

test('while the memories of a deleted workstream are being removed, nobody else finds them', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {}, BOB);
  await gateway.call('memory.save', { name: 'quokka', content: 'animal', scope: 'workstream', scopeId: wsId }, BOB);
  await gateway.store.commit({ statements: [markDeleted(wsId)] });
  assert.deepEqual(await found(gateway, BOB), four());
});

const rowOf = (n: number, scopeId: string) => ({
  ...{ memory_id: `mem_${n}`, name: `n${n}`, scope: 'workstream' as const, scope_id: scopeId },
  ...{ type: 'project' as const, description: '', content: `about ${n} words`, created_ms: n, updated_ms: n },
  ...{ last_accessed_ms: null, access_count: 0, origin_json: null },
});

test('with 10 000 memories of private workstreams, neither a list, a search nor a deletion blocks for long', async () => {
  await using store = await tempStore({ clock: fakeClock(1_000) });
  const memories = createMemories({ store, clock: fakeClock(1_000), ids: randomIds, log: recordingLog() });
  const owned = { ownerId: 'user_bob', visibility: 'private' } as const;
  for (let first = 0; first < 10_000; first += 500) {
    const some = Array.from({ length: 500 }, (_, n) => first + n);
    const workstreams = some.map((n) => toWorkstreamRow({ wsId: `w${n}`, owned, workdir: '', nowMs: n }));
    const rows = some.map((n) => rowOf(n, n < 2_000 ? 'w0' : `w${n}`));
    await store.commit({ statements: [...workstreams.map(insertWorkstream), ...rows.flatMap(insertMemory)] });
  }
  const turns = await turnsDuring({
    list: () => memories.list({ viewer: { userId: 'user_dan', permissions: new Set() } }, 100),
    search: () =>
      memories.search(
        'about',
        { viewer: { userId: 'user_dan', permissions: new Set() } },
        { limit: 20, counts: false },
      ),
    deletion: async () => {
      await store.commit({ statements: [markDeleted('w0')] });
      await removeRows(store, 'w0');
    },
  });
  const { list = 0, search = 0, deletion = 0 } = turns;
  assert.ok(list >= 10 && search >= 10 && deletion >= 200, JSON.stringify(turns));
  assert.equal((await memories.list({ viewer: DAEMON, scope: 'workstream', scopeId: 'w0' }, 1)).rows.length, 0);
});

/** How often other work had its turn during each. */
async function turnsDuring(works: Record<string, () => Promise<unknown>>): Promise<Record<string, number>> {
  const turns: Record<string, number> = {};
  for (const [name, work] of Object.entries(works)) {
    let [isDone, count] = [false, 0];
    const ended = work().finally(() => {
      isDone = true;
    });
    for (; !isDone; count += 1) await nextTurn();
    await ended;
    turns[name] = count;
  }
  return turns;
}
