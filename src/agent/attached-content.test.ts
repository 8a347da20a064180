import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Attachment } from '../../protocol/stream-events.ts';
import { findCrowded, readAttached } from './attached-content.ts';
import type { Message, UserMessage } from './message.ts';

const MIB = 1024 * 1024;
const FULL = { kind: 'absent', why: 'newer attachments filled the request' };

const messageOf = (kind: Attachment['kind'], sizes: readonly number[], name = 'f'): UserMessage => ({
  role: 'user',
  content: 'look',
  attachments: sizes.map((size_bytes, i) => ({
    attachment_id: `${name}${i}`,
    filename: 'f',
    mime_type: kind === 'image' ? 'image/png' : 'text/plain',
    size_bytes,
    kind,
  })),
});

/** The attachments that were read, and whether each exists. */
function disk(bytes: Uint8Array | undefined = Buffer.from('x')) {
  const read: string[] = [];
  return {
    read,
    of: async ({ attachment_id }: Attachment) => {
      read.push(attachment_id);
      return bytes;
    },
  };
}

test('only the newest twenty images are read; the others are not opened', async () => {
  const { read, of } = disk();
  const sizes = Array.from({ length: 10 }, () => 1);
  const messages = [messageOf('image', [1], 'oldest'), messageOf('image', sizes, 'a'), messageOf('image', sizes, 'b')];
  const contents = await readAttached(messages, of);
  assert.deepEqual([contents.get('oldest0'), read.length, read.includes('oldest0')], [FULL, 20, false]);
});

test('images are read up to 20 MiB per request, newest first', async () => {
  const { read, of } = disk();
  const contents = await readAttached([messageOf('image', [1, 9 * MIB, 6 * MIB, 6 * MIB])], of);
  assert.deepEqual(read, ['f3', 'f2', 'f0']);
  assert.deepEqual(contents.get('f1'), FULL);
});

test('a long text is cut to its beginning and end, with a note of how much is missing', async () => {
  const text = `${'a'.repeat(128 * 1024)}${'b'.repeat(1_000)}${'c'.repeat(128 * 1024)}`;
  const contents = await readAttached([messageOf('text', [text.length])], disk(Buffer.from(text)).of);
  assert.deepEqual(contents.get('f0'), {
    kind: 'text',
    text: `${'a'.repeat(128 * 1024)}\n[… 1000 bytes left out …]\n${'c'.repeat(128 * 1024)}`,
  });
});

test('a missing file is described in words, and a file named by two messages is read once', async () => {
  const { read, of } = disk();
  await readAttached([messageOf('text', [1]), messageOf('text', [1])], of);
  assert.deepEqual(read, ['f0']);
  const contents = await readAttached([messageOf('image', [1])], async () => undefined);
  assert.deepEqual(contents.get('f0'), { kind: 'absent', why: 'its file is gone or damaged' });
});

test('attachments that are no longer shown are not read', async () => {
  const { read, of } = disk();
  await readAttached([{ ...messageOf('image', [1]), unseen: 'all' }], of);
  await readAttached([{ ...messageOf('image', [1]), unseen: 'images' }], of);
  assert.deepEqual(read, []);
  await readAttached([{ ...messageOf('text', [1]), unseen: 'images' }], of);
  assert.deepEqual(read, ['f0']);
});

test('beyond 20 images, those leave that do not fit into half of the room; the newest message keeps its own', () => {
  const five = (name: string) => messageOf('image', [1, 1, 1, 1, 1], name);
  const crowd = ['a', 'b', 'c', 'd', 'e'].map(five);
  const unseen = crowd.slice(0, 3).map((message): Message => ({ ...message, unseen: 'all' }));
  assert.deepEqual(
    [
      findCrowded(crowd.slice(0, 4)),
      findCrowded(crowd),
      findCrowded([...unseen, ...crowd.slice(3)]),
      findCrowded([
        messageOf(
          'image',
          Array.from({ length: 21 }, () => 1),
        ),
      ]),
      findCrowded([five('a'), five('a'), five('a'), five('a'), five('a')]),
    ],
    [undefined, 2, undefined, undefined, undefined],
  );
});

test('the room for images and for texts counts bytes, too', () => {
  const big = messageOf('image', [12 * MIB], 'big');
  const text = (name: string) => messageOf('text', [MIB, MIB], name);
  assert.deepEqual([findCrowded([big, messageOf('image', [9 * MIB])]), findCrowded(['a', 'b', 'c'].map(text))], [0, 1]);
});
