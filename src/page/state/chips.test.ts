import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attachment } from '../../../protocol/stream-events.ts';
import { createChips, isUploading } from './chips.ts';
import { snapshot } from './conversation/conversation-fixture.ts';
import { createFakeClient } from './fake-client.ts';
import { openTab } from './tab.ts';

const attachmentOf = (name: string): Attachment => ({
  attachment_id: `att_${name}`,
  filename: name,
  mime_type: 'text/plain',
  size_bytes: 1,
  kind: 'text',
});

/** A tab, and uploads that end when the test says so. */
function setUp() {
  const uploads = new Map<string, PromiseWithResolvers<Attachment>>();
  const removed: string[] = [];
  const stopped: string[] = [];
  let keys = 0;
  const chips = createChips({
    files: {
      upload(_wsId, { name }, signal) {
        const upload = Promise.withResolvers<Attachment>();
        signal.addEventListener('abort', () => stopped.push(name));
        uploads.set(name, upload);
        return upload.promise;
      },
      async remove(_wsId, id) {
        removed.push(id);
      },
    },
    newKey: () => `key${++keys}`,
  });
  const tab = openTab(snapshot().workstream, {
    client: createFakeClient().client,
    schedule: (run) => run(),
    isInFront: () => true,
    asides: { find: () => undefined, keep: () => undefined },
    drafts: { find: () => '', findFiles: () => [], keep: () => undefined },
    onRetitled: () => undefined,
    onWatch: () => undefined,
    onGone: () => undefined,
  });
  const names = () => tab.chips.value.map(({ name, attachment }) => [name, attachment?.attachment_id]);
  return { chips, tab, removed, stopped, names, uploads };
}

const file = (name: string) => new File(['x'], name);

test('files keep the order in which they were chosen, however fast they upload', async () => {
  const { chips, tab, uploads, names } = setUp();
  const attached = chips.attach(tab, [file('a'), file('b')]);
  uploads.get('b')?.resolve(attachmentOf('b'));
  await Promise.resolve();
  assert.equal(isUploading(tab.chips.value), true);
  uploads.get('a')?.resolve(attachmentOf('a'));
  await attached;
  assert.deepEqual(
    [names(), isUploading(tab.chips.value)],
    [
      [
        ['a', 'att_a'],
        ['b', 'att_b'],
      ],
      false,
    ],
  );
});

test('a refused file disappears with an error; the others stay', async () => {
  const { chips, tab, uploads, names } = setUp();
  const attached = chips.attach(tab, [file('a'), file('b')]);
  uploads.get('a')?.reject(new Error('The file is empty'));
  uploads.get('b')?.resolve(attachmentOf('b'));
  await attached;
  assert.deepEqual([names(), tab.problem.value], [[['b', 'att_b']], 'a: The file is empty']);
});

test('a removed file is deleted from the daemon too, and its upload is aborted', async () => {
  const { chips, tab, uploads, names, removed, stopped } = setUp();
  const attached = chips.attach(tab, [file('a'), file('b')]);
  const [a, b] = tab.chips.value;
  if (!a || !b) return assert.fail('no chips');
  await chips.detach(tab, a);
  uploads.get('a')?.resolve(attachmentOf('a'));
  uploads.get('b')?.resolve(attachmentOf('b'));
  await attached;
  const [arrived = b] = tab.chips.value;
  await chips.detach(tab, arrived);
  assert.deepEqual([names(), stopped, removed, tab.problem.value], [[], ['a'], ['att_a', 'att_b'], undefined]);
});

test('the refusal of a file that was already removed is not shown', async () => {
  const { chips, tab, uploads } = setUp();
  const attached = chips.attach(tab, [file('a')]);
  const [a] = tab.chips.value;
  if (a) await chips.detach(tab, a);
  uploads.get('a')?.reject(new Error('The file is empty'));
  await attached;
  assert.equal(tab.problem.value, undefined);
});
