import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { type NotificationOptions, onChange, onPress, onPush, type WorkerPort } from './worker.ts';

/** A browser: what it shows, and what was asked of it. */
function setUp({ tabs = [], answers = true }: { tabs?: readonly string[]; answers?: boolean | Error } = {}) {
  const shown: { title: string; tag: string; data: unknown; options: NotificationOptions; close(): void }[] = [];
  const later: (() => void)[] = [];
  const did: unknown[] = [];
  const port: WorkerPort = {
    async show(title, options) {
      const at = shown.findIndex(({ tag }) => tag === options.tag);
      const close = () =>
        void shown.splice(
          shown.findIndex(({ tag }) => tag === options.tag),
          1,
        );
      shown.splice(at === -1 ? shown.length : at, at === -1 ? 0 : 1, {
        title,
        tag: options.tag,
        data: options.data,
        options,
        close,
      });
    },
    shown: async () => [...shown],
    tabs: async () =>
      tabs.map((path) => ({
        url: `https://headgate.example${path}`,
        focus: async () => did.push(`focus ${path}`),
        postMessage: (message: unknown) => did.push(message),
      })),
    open: async (address) => did.push(address),
    async fetch(path, init) {
      did.push([path, init]);
      if (answers instanceof Error) throw answers;
      return { ok: answers };
    },
    badge: async (count) => did.push(`badge ${count}`),
    subscribe: async (options) => {
      did.push(['subscribe', options]);
      if (answers !== true) throw new Error('no');
    },
    after: (ms, work) => {
      did.push(ms);
      later.push(work);
    },
  };
  return { port, shown, did, later };
}

const ASKED = { id: 'apr_1', ws: 'w1', title: 'A plan waits for you' };

test('a question is shown, replaced by its next message, and closed when it does not wait any more', async () => {
  const { port, shown, did, later } = setUp();
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
  const titles = () => shown.map(({ title, tag, options }) => [title, tag, options.silent]);
  const second = ['A plan waits for you', 'apr_2', undefined];
  // Until the event has ended, something is shown; it makes no sound, and is not counted.
  assert.deepEqual(
    [titles(), did.slice(-2)],
    [
      [['Decided', 'apr_1', true], second],
      [5_000, 'badge 1'],
    ],
  );
  for (const work of later) work();
  await setImmediate();
  assert.deepEqual(titles(), [second]);
});

test('what a stopped worker could not close is closed by the next message', async () => {
  const { port, shown } = setUp();
  await onPush(port, ASKED);
  await onPush(port, { id: 'apr_1', gone: true });
  await onPush(port, { ...ASKED, id: 'apr_2' });
  assert.deepEqual(
    shown.map(({ tag }) => tag),
    ['apr_2'],
  );
});

test('the worker counts on the icon only while no page does', async () => {
  for (const [tabs, did] of [
    [['/docs/guide.html'], ['badge 1']],
    [['/docs/guide.html', '/'], []],
  ] as const) {
    const set = setUp({ tabs });
    await onPush(set.port, ASKED);
    assert.deepEqual(set.did, did);
  }
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

test('a press opens the question in the page that is open, or in a new one; a tab with documentation is no page', async () => {
  const data = { id: 'apr_1', ws: 'w1' };
  const open = setUp({ tabs: ['/docs/guide.html', '/?x#inbox', '/'] });
  await onPress(open.port, '', data);
  assert.deepEqual(open.did, [{ inbox: 'apr_1' }, 'focus /?x#inbox']);
  const closed = setUp({ tabs: ['/docs/guide.html'] });
  await onPress(closed.port, '', data);
  await onPress(closed.port, '', { id: '', ws: '' });
  assert.deepEqual(closed.did, ['/#inbox=apr_1', '/#inbox']);
});

test('a notification of something else leads to its entry of the inbox', async () => {
  const data = { id: 'wait-1', ws: '', at: 'person telegram 7' };
  const closed = setUp();
  await onPush(closed.port, { ...data, title: 'Somebody asks to write from a chat' });
  assert.deepEqual(closed.shown[0]?.data, data);
  await onPress(closed.port, '', data);
  assert.equal(closed.did.at(-1), '/#inbox=person%20telegram%207');
  const open = setUp({ tabs: ['/'] });
  await onPress(open.port, '', data);
  assert.deepEqual(open.did[0], { inbox: 'person telegram 7' });
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

test('a new address of the push server is told to the daemon by a page with a login; without one, a notification asks to open it', async () => {
  const options = { userVisibleOnly: true };
  const open = setUp({ tabs: ['/', '/docs'] });
  await onChange(open.port, options);
  assert.deepEqual([open.did, open.shown.length], [[['subscribe', options], { renew: true }], 0]);
  const refused = setUp({ answers: false });
  await onChange(refused.port, undefined);
  assert.deepEqual(refused.did, [['subscribe', undefined]], 'the daemon is not asked');
  assert.deepEqual(
    refused.shown.map(({ title, options: { body } }) => [title, body]),
    [['Headgate', 'Open Headgate once, so that notifications go on']],
  );
});
