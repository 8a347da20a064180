import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Memory } from '../../../../protocol/methods/memory.ts';
import { createFakeClient } from '../fake-client.ts';
import { MemoryBoard } from './memory-board.ts';

const MEMORY: Memory = {
  ...{ memoryId: 'mem_1', name: 'harbour', description: '', type: 'project', scope: 'workstream', scopeId: 'w1' },
  ...{ content: 'kestrel', createdAtMs: 1, updatedAtMs: 1 },
};
const { updatedAtMs: _, ...waiting } = { ...MEMORY, memoryId: 'mem_2', taint: { kind: 'network' as const } };

function opened() {
  const { client, answer, calls } = createFakeClient();
  answer('memory.quarantine.list', () => ({ memories: [waiting], total: 1 }));
  answer('memory.list', () => ({ memories: [MEMORY], total: 1 }));
  return { board: new MemoryBoard(client), answer, calls };
}

test('the board has the memories that wait and those in use', async () => {
  const { board } = opened();
  await board.read();
  assert.deepEqual(board.listing.value, { waiting: [waiting], used: [MEMORY], isPart: false });
});

test('a search finds those in use by the daemon, and those that wait by their words; a full answer is only a part', async () => {
  const { board, answer, calls } = opened();
  answer('memory.search', () => ({ memories: [MEMORY], total: 50 }));
  await board.search(' KESTREL harb ');
  assert.deepEqual(calls.at(-1), ['memory.search', { query: 'KESTREL harb', limit: 50 }]);
  assert.deepEqual(board.listing.value, { waiting: [waiting], used: [MEMORY], isPart: true });
  await board.search('kestrel owl');
  assert.deepEqual(board.listing.value?.waiting, []);
});

test('after each decision both lists are read again, and a refusal is returned', async () => {
  const { board, answer, calls } = opened();
  answer('memory.quarantine.release', () => ({ memory: MEMORY, created: false }));
  answer('memory.quarantine.discard', () => ({ status: 'ok', name: 'harbour' }));
  assert.equal(await board.release('mem_2'), undefined);
  assert.equal(await board.discard('mem_2'), undefined);
  assert.equal(await board.remove(MEMORY), 'no answer to memory.delete');
  assert.deepEqual(
    calls.filter(([method]) => !method.endsWith('.list')),
    [
      ['memory.quarantine.release', { memoryId: 'mem_2' }],
      ['memory.quarantine.discard', { memoryId: 'mem_2' }],
      ['memory.delete', { name: 'harbour', scope: 'workstream', scopeId: 'w1' }],
    ],
  );
  assert.equal(calls.filter(([method]) => method === 'memory.quarantine.list').length, 3);
});
