import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueuedMessage } from '../../../protocol/queue/queue-methods.ts';
import { openActions } from './actions-fixture.ts';

const sizes = { mime_type: 'image/png', size_bytes: 3, kind: 'image' } as const;
const file = (id: string) => ({ attachment_id: id, filename: `${id}.png`, ...sizes });
const waiting = (id: string): QueuedMessage => {
  const own = { source: 'person', sender: 'ada' } as const;
  return { runId: id, message: id === 'image' ? '' : id, ...own, attachments: [file(id)] };
};

test('the files of a message that is taken back or stopped return with it, if the person may send them', async () => {
  const { actions, tab, answer } = openActions({ pending: ['image', 'words', 'unused'].map(file) });
  answer('queue.remove', () => ({ removed: true }));
  answer('workstream.cancel', () => ({ status: 'ok' }));
  const inComposer = () => [tab.draft.value, tab.chips.value.map(({ name }) => name)];
  await actions.removeQueued(tab, waiting('image'));
  assert.deepEqual(inComposer(), ['', ['image.png']]);
  tab.queue.value = [waiting('words'), waiting('elsewhere')];
  await actions.cancel(tab, false);
  assert.deepEqual(inComposer(), ['words\n\nelsewhere', ['words.png', 'image.png']]);
});
