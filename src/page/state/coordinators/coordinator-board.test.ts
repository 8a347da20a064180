import assert from 'node:assert/strict';
import { test } from 'node:test';
import { signal } from '@preact/signals';
import { type Conversation, toConversation } from '../conversation/conversation.ts';
import { snapshot } from '../conversation/conversation-fixture.ts';
import { createFakeClient } from '../fake-client.ts';
import { CoordinatorBoard } from './coordinator-board.ts';

test('the actions say what they have done, and to how many not', async () => {
  const { client, answer } = createFakeClient();
  const coordinator = { wsId: 'w', name: 'main', state: 'idle', trustSend: false, revokedTools: [], openChildren: 1 };
  const child = { wsId: 'a', nodeId: 'n', name: 'a', state: 'idle', isOpen: true };
  answer('coordinator.list', () => ({ coordinators: [coordinator] }));
  answer('coordinator.tasks', () => ({ version: 1, tasks: [] }));
  answer('coordinator.children', () => ({ items: [child], truncated: false }));
  answer('coordinator.stop', () => ({ status: 'ok', cancelled: ['a'], failed: ['0123456789'], skipped: [] }));
  const conversation = signal<Conversation | undefined>(toConversation(snapshot()));
  const board = new CoordinatorBoard(client, { wsId: 'w', conversation, catchUp: () => undefined });
  assert.equal(await board.stop(), true);
  assert.equal(board.done.value, 'Stopped it and 1 workstream. 1 could not be: 01234567.');
  assert.deepEqual(
    conversation.value?.children.all.map(({ wsId }) => wsId),
    ['a'],
  );
  assert.equal(await board.close(), false);
  assert.deepEqual([board.done.value, board.problem.value], [undefined, 'no answer to coordinator.close']);
});
