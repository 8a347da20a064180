import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type NotificationOptions, onPress, onPush, type WorkerPort } from './worker.ts';

/** A browser: what it shows, and what was asked of it. */
function setUp({ pages = 0, answers = true }: { pages?: number; answers?: boolean | Error } = {}) {
  const shown: { title: string; tag: string; options: NotificationOptions; close(): void }[] = [];
  const did: unknown[] = [];
  const port: WorkerPort = {
    async show(title, options) {
      const at = shown.findIndex(({ tag }) => tag === options.tag);
      const close = () =>
        void shown.splice(
          shown.findIndex(({ tag }) => tag === options.tag),
          1,
        );
      shown.splice(at === -1 ? shown.length : at, at === -1 ? 0 : 1, { title, tag: options.tag, options, close });
    },
    shown: async () => [...shown],
    pages: async () =>
      Array.from({ length: pages }, () => ({
        focus: async () => did.push('focus'),
        postMessage: (message: unknown) => did.push(message),
      })),
    open: async (address) => did.push(address),
    async fetch(path, init) {
      did.push([path, init]);
      if (answers instanceof Error) throw answers;
      return { ok: answers };
    },
    badge: async (count) => did.push(`badge ${count}`),
  };
  return { port, shown, did };
}

const ASKED = { id: 'apr_1', ws: 'w1', title: 'A plan waits for you' };

test('a question is shown, replaced by its next message, and closed when it does not wait any more', async () => {
  const { port, shown, did } = setUp();
  await onPush(port, ASKED);
  await onPush(port, { ...ASKED, id: 'apr_2' });
  await onPush(port, { ...ASKED, body: 'kestrel' });
  assert.deepEqual(
    shown.map(({ title, tag, options }) => [title, tag, options.body, options.actions]),
    [
      ['A plan waits for you', 'apr_1', 'kestrel', []],
      ['A plan waits for you', 'apr_2', undefined, []],
    ],
  );
  await onPush(port, { id: 'apr_1', gone: true });
  assert.deepEqual([shown.map(({ tag }) => tag), did.at(-1)], [['apr_2'], 'badge 1']);
});

test('a message without a content says that something waits, and one that makes no sense says no more', async () => {
  for (const message of [undefined, {}, 7, { title: 7, body: ['x'], id: null, act: 'yes' }]) {
    const { port, shown } = setUp();
    await onPush(port, message);
    assert.deepEqual(
      shown.map(({ title, tag, options }) => [title, tag, options.actions]),
      [['Headgate', 'headgate', []]],
      JSON.stringify(message),
    );
  }
});

test('a press opens the question in the page that is open, or in a new one', async () => {
  const data = { id: 'apr_1', ws: 'w1' };
  const open = setUp({ pages: 2 });
  await onPress(open.port, '', data);
  assert.deepEqual(open.did, [{ inbox: 'apr_1' }, 'focus']);
  const closed = setUp();
  await onPress(closed.port, '', data);
  await onPress(closed.port, '', { id: '', ws: '' });
  assert.deepEqual(closed.did, ['/#inbox=apr_1', '/#inbox']);
});

test('a button decides this question, with the login of the browser, and says where it was pressed', async () => {
  const { port, did } = setUp();
  await onPress(port, 'approve', { id: 'apr_1', ws: 'w1' });
  const body = JSON.stringify({ ws_id: 'w1', approval_id: 'apr_1', approved: true, from_notification: true });
  const init = { method: 'POST', headers: { 'Content-Type': 'application/json' }, credentials: 'same-origin', body };
  assert.deepEqual(did, [['/v1/api/approve', init]]);
});

test('what is refused, or does not get through, is decided on the page', async () => {
  for (const answers of [false, new Error('offline')]) {
    const { port, did } = setUp({ answers });
    await onPress(port, 'deny', { id: 'apr_1', ws: 'w1' });
    assert.equal(did.at(-1), '/#inbox=apr_1');
  }
});
