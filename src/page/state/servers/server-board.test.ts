import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { McpServer } from '../../../../protocol/methods/admin/mcp.ts';
import { createFakeClient } from '../fake-client.ts';
import { changedTools, ServerBoard } from './server-board.ts';

const TOOL = {
  ...{ name: 'mcp__notes__add', tool: 'add', description: 'Adds', inputSchema: '{}', isGone: false },
  changed: { description: 'Adds and sends', inputSchema: '{}', digest: 'd' },
};
const SERVER: McpServer = {
  ...{ name: 'notes', transport: 'stdio', command: 'notes', url: '', headers: {}, args: [], env: {}, network: [] },
  ...{ folders: [], writesFolders: false, sandbox: true, autoApprove: false, enabled: true, timeoutSecs: 120 },
  ...{ state: 'idle', notes: [], about: '', calls: 0, resources: 0, prompts: 0, tools: [TOOL] },
  ...{ serverId: 'config:notes', source: 'config', createdBy: '', nodeId: 'box-1', authType: 'none' },
};
const other: McpServer = { ...SERVER, name: 'tracker', tools: [] };

function opened() {
  const fake = createFakeClient();
  fake.answer('mcp.list', () => ({ servers: [SERVER, other] }));
  return { ...fake, board: new ServerBoard(fake.client) };
}

test('the servers are read when they are shown, and with each tick until they are not', async () => {
  const { board, emit, calls } = opened();
  const stop = board.follow();
  await board.read();
  assert.deepEqual(board.servers.value?.map(changedTools), [[TOOL], []]);
  emit('tick', {});
  assert.equal(calls.length, 3);
  stop();
  emit('tick', {});
  assert.equal(calls.length, 3);
});

test('an accepted tool and a refreshed server replace what was shown; a refusal is returned', async () => {
  const { board, answer, calls } = opened();
  await board.read();
  const { changed: _, ...accepted } = TOOL;
  answer('mcp.accept', () => ({ ...SERVER, tools: [accepted] }));
  assert.equal(await board.accept('notes', { shown: [TOOL], tool: 'add' }), undefined);
  assert.deepEqual(board.servers.value, [{ ...SERVER, tools: [accepted] }, other]);
  answer('mcp.refresh', () => ({ ...other, state: 'connected' }));
  assert.equal(await board.refresh('tracker'), undefined);
  assert.equal(board.servers.value?.[1]?.state, 'connected');
  answer('mcp.accept', () => {
    throw new Error('notes has no tool add');
  });
  assert.equal(await board.accept('notes', { shown: [TOOL, accepted] }), 'notes has no tool add');
  assert.deepEqual(calls.slice(1), [
    ['mcp.accept', { name: 'notes', digests: { add: 'd' }, tool: 'add' }],
    ['mcp.refresh', { name: 'tracker' }],
    ['mcp.accept', { name: 'notes', digests: { add: 'd' } }],
    ['mcp.list', {}],
  ]);
});
