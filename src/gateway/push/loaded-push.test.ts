import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import { createPublicFetch, requirePublic } from '../../egress/public-fetch.ts';
import { randomIds } from '../../ids.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { recordingLog, tempDir, tempStore } from '../../testing/temp-store.ts';
import { OPERATOR, OPERATOR_ID } from '../auth/lineage.ts';
import type { Principal } from '../auth/principal.ts';
import type { Call } from '../call.ts';
import { createPushBrowser, readVapid } from '../testing/push-browser.ts';
import { testAccounts } from '../testing/test-accounts.ts';
import { Push } from './push-noun.ts';

const START_MS = 1_800_000_000_000;
const HIDDEN = 'kestrel-harbour';
type Asking = Parameters<Push['asked']>[0];
const TITLE = 'The agent asks before it acts';
const SHARED: Asking = { ownerId: '', visibility: 'shared', title: null, name: 'the place' };
const APPROVAL: Approval = {
  ...{ approvalId: 'apr_1', wsId: 'w1', sessionKey: 'main', kind: 'tools', expiresAtMs: START_MS + 3_600_000 },
  items: [
    {
      ...{ call_id: 'c', header: `bash ${HIDDEN}`, preview: `rm ${HIDDEN}`, func_name: 'bash', approval_label: 'bash' },
      ...{ needs_approval: true, error: null },
    },
  ],
};

/** A browser, logged in by a link, and the daemon’s side of its notifications. `answers`: of the push server, in order. */
async function setUp({ answers = [] as Response[], delayMs = 0 } = {}) {
  const clock = fakeClock(START_MS);
  const store = await tempStore({ clock });
  const home = tempDir();
  const log = recordingLog();
  const accounts = await testAccounts({ store, dir: home.path, clock, log });
  const received: { url: string; headers: Headers; text: string | undefined }[] = [];
  const browser = createPushBrowser('https://push.example.com/send/secret-path');
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const headers = new Headers(init.headers);
    const body = init.body instanceof Uint8Array ? init.body : new Uint8Array();
    received.push({ url, headers, text: browser.open(headers, body) });
    return answers.shift() ?? new Response(null, { status: 201 });
  };
  const push = new Push({
    store,
    services: {
      settings: () => ({ delayMs, contact: 'mailto:ada@example.org', ntfy: new Map(), webhooks: new Map() }),
      fetch,
      publicFetch: createPublicFetch(fetch, () => []),
      requirePublic: (address) => requirePublic(address, []),
      holders: accounts.holders,
      home: home.path,
    },
    ...{ holders: accounts.holders, url: () => 'https://headgate.example', clock, ids: randomIds, log },
  });
  const { principal } = await accounts.sessions.start(OPERATOR);
  const opening: Pick<Call, 'principal'> = { principal };
  await push.methods['push.list']({}, opening as Call); // makes the keys, which takes a while
  const records: unknown[] = [];
  /** A handler that does not ask for its records is recorded anyway. */
  const audited: Call['audited'] = (detail) => {
    records.push(detail);
    return [];
  };
  const callBy = (by: Principal = principal): Call => ({
    ...{ principal: by, signal: new AbortController().signal, address: '', kept: undefined, link: undefined },
    ...{ subscriptions: undefined, keep: () => [], audited, interim: () => undefined },
    ...{ momentary: () => undefined, perform: () => assert.fail('no other call') },
  });
  return {
    ...{ clock, store, log, accounts, push, received, principal, callBy, browser, records },
    subscribe: (more: Partial<ParamsInput<'push.subscribe'>> = {}, by = principal) =>
      push.methods['push.subscribe']({ ...browser.subscription, ...more }, callBy(by)),
    list: async (by = principal) => (await push.methods['push.list']({}, callBy(by))).subscriptions,
    async asks(of: Asking = SHARED, approval = APPROVAL) {
      push.asked(of, approval);
      await settled();
      await clock.advance(0); // the delay
      await settled();
    },
    async decides(approvalId = 'apr_1') {
      push.decided(approvalId);
      await settled();
    },
    /** Now the next attempt is due. */
    async later() {
      await clock.advance(60_000);
      await settled();
    },
    async logOut() {
      assert.ok(principal.source.kind === 'login');
      await accounts.sessions.revoke(principal.source.jti);
    },
    texts: () => received.map(({ text }) => text && JSON.parse(text)),
    async [Symbol.asyncDispose]() {
      await push.close();
      await store.close();
      home[Symbol.dispose]();
    },
  };
}

type World = Awaited<ReturnType<typeof setUp>>;

/** What was begun has been sent: the store is local, and `fetch` answers at once. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate);
}

test('a browser gets the kind of a question, encrypted for it and signed by the daemon, and nothing that an agent wrote', async () => {
  await using world = await setUp();
  await world.subscribe();
  await world.asks();
  assert.deepEqual(world.texts(), [{ id: 'apr_1', ws: 'w1', title: TITLE }]);
  const [{ headers, url } = assert.fail('nothing was sent')] = world.received;
  assert.equal(url, world.browser.subscription.endpoint);
  const { key, aud, sub } = readVapid(headers);
  const { publicKey } = await world.push.methods['push.list']({}, world.callBy());
  assert.deepEqual([key, aud, sub], [publicKey, 'https://push.example.com', 'mailto:ada@example.org']);
  assert.deepEqual([headers.get('ttl'), headers.get('urgency')], ['3600', 'high']);
  await world.decides();
  assert.deepEqual(world.texts()[1], { id: 'apr_1', gone: true });
  assert.equal(world.received[1]?.headers.get('topic'), headers.get('topic'), 'what was not fetched yet is replaced');
});

test('without a content, nothing is in the message, and nothing can be taken back', async () => {
  await using world = await setUp();
  await world.subscribe({ content: 'none' });
  await world.asks();
  await world.decides();
  assert.deepEqual(
    world.received.map(({ text, headers }) => [text, headers.get('content-encoding')]),
    [[undefined, null]],
  );
});

test('all of a question has buttons only while the login is confirmed, and only the kind after the login has expired', async () => {
  await using world = await setUp();
  await world.subscribe({ content: 'full' });
  const full = { title: TITLE, body: `the place\nbash ${HIDDEN}\nrm ${HIDDEN}` };
  const after = async (ms: number, approvalId: string) => {
    world.clock.jump(ms);
    await world.asks(SHARED, { ...APPROVAL, approvalId });
    const { id, ws, ...told } = world.texts().at(-1);
    assert.deepEqual([id, ws], [approvalId, 'w1']);
    return told;
  };
  assert.deepEqual(await after(0, 'a'), { ...full, act: true });
  assert.deepEqual(await after(300_000, 'b'), full);
  assert.deepEqual(await after(86_400_000, 'c'), { title: full.title });
  assert.equal((await world.list())[0]?.isExpired, true);
});

test('what does not fit, and what needs more than yes or no, has no buttons', async () => {
  const [item = assert.fail()] = APPROVAL.items;
  for (const change of [
    { items: [{ ...item, preview: 'x'.repeat(600) }] },
    { items: [item, { ...item, call_id: 'd' }] },
    { items: [{ ...item, not_sandboxed: 'no bwrap' }] },
    { kind: 'outcome' as const },
    { items: [{ ...item, question: { text: 'Which?', choices: [], allowOther: true } as never }] },
  ]) {
    await using world = await setUp();
    await world.subscribe({ content: 'full' });
    await world.asks(SHARED, { ...APPROVAL, ...change });
    assert.equal(world.texts()[0]?.act, undefined, JSON.stringify(change).slice(0, 80));
  }
});

test('logging out ends the notifications of this login at once, and of no other one', async () => {
  await using world = await setUp();
  const other = await world.accounts.sessions.start(OPERATOR);
  await world.subscribe();
  await world.subscribe({ endpoint: 'https://push.example.com/send/other' }, other.principal);
  await world.logOut();
  await world.asks();
  assert.deepEqual(
    world.received.map(({ url }) => url),
    ['https://push.example.com/send/other'],
  );
});

test('what a user may not perceive, or may not decide, is told to nobody; without the user, neither', async () => {
  await using world = await setUp();
  const { users } = world.accounts;
  const add = async (username: string, role: string) => {
    const person = { username, displayName: username, passwordHash: 'plain:x', roleIds: [role], by: OPERATOR_ID };
    const { userId } = await users.create(person, () => []);
    const minter = { parent: { kind: 'user' as const, id: userId }, scopes: OPERATOR.scopes };
    return { userId, ...(await world.accounts.sessions.start(minter)) };
  };
  const viewer = await add('vera', 'builtin-viewer');
  const admin = await add('ada', 'builtin-admin');
  await world.subscribe({ endpoint: 'https://push.example.com/vera' }, viewer.principal);
  await world.asks();
  assert.deepEqual(world.received, []);
  await world.subscribe({ endpoint: 'https://push.example.com/ada' }, admin.principal);
  await world.asks(SHARED, { ...APPROVAL, approvalId: 'b' });
  assert.equal(world.received.length, 1);
  await users.update(admin.userId, { disabled: true }, []);
  await world.asks(SHARED, { ...APPROVAL, approvalId: 'c' });
  assert.equal(world.received.length, 1);
});

test('a subscription of somebody else is not listed, tested or removed', async () => {
  await using world = await setUp();
  const { subscription } = await world.subscribe();
  const local: Principal = { ...world.principal, id: 'token:other', source: { kind: 'token', tokenId: 'other' } };
  assert.deepEqual(await world.list(local), []);
  for (const method of ['push.test', 'push.remove'] as const)
    await assert.rejects(
      async () => world.push.methods[method](subscription, world.callBy(local)),
      /Unknown subscription/,
    );
  assert.equal((await world.list()).length, 1);
});

test('an endpoint on this machine, in a private network or at a metadata service is refused before anything is sent', async () => {
  await using world = await setUp();
  for (const endpoint of [
    'http://127.0.0.1:8080/x',
    'https://localhost/x',
    'https://[::1]/x',
    'https://10.0.0.7/x',
    'http://169.254.169.254/latest/meta-data',
    'https://[::ffff:169.254.169.254]/x',
    'https://nas.local/x',
    'https://2130706433/x',
  ])
    await assert.rejects(async () => world.subscribe({ endpoint }), /endpoint: .* is private/, endpoint);
  assert.deepEqual([world.received, await world.list()], [[], []]);
});

test('a browser that the push server does not know any more is forgotten', async () => {
  for (const status of [404, 410]) {
    await using world = await setUp({ answers: [new Response(null, { status })] });
    await world.subscribe();
    await world.asks();
    assert.deepEqual(await world.list(), []);
  }
});

test('what a server refuses is shown, without the endpoint, which is in no log either', async () => {
  await using world = await setUp({ answers: [new Response('secret-path', { status: 403 })] });
  const { subscription } = await world.subscribe();
  await world.asks();
  assert.equal((await world.list())[0]?.problem, 'HTTP 403');
  assert.deepEqual(await world.push.methods['push.test'](subscription, world.callBy()), { accepted: true });
  assert.equal((await world.list())[0]?.problem, undefined);
  const logged = JSON.stringify([world.log.lines, world.log.fields, await world.list()]);
  for (const secret of ['secret-path', ...Object.values(world.browser.subscription.keys)])
    assert.ok(!logged.includes(secret), secret);
});

test('the same endpoint is one browser, whoever uses it now; one person has twenty at most', async () => {
  await using world = await setUp();
  const first = await world.subscribe({ label: 'phone' });
  const again = await world.subscribe({ label: 'phone', content: 'full' });
  assert.equal(again.subscription.subscriptionId, first.subscription.subscriptionId);
  for (let n = 1; n < 20; n += 1) await world.subscribe({ endpoint: `https://push.example.com/${n}` });
  await assert.rejects(async () => world.subscribe({ endpoint: 'https://push.example.com/20' }), /remove one first/);
  assert.equal((await world.list()).length, 20);
});

test('a page that subscribes again with nothing new stores and records nothing; a new login or content does', async (t) => {
  await using world = await setUp();
  const first = await world.subscribe({ label: 'phone' });
  world.clock.jump(60_000);
  const { mock } = t.mock.method(world.store, 'commit');
  assert.deepEqual(await world.subscribe({ label: 'phone' }), first);
  assert.deepEqual([mock.callCount(), world.records.length], [0, 2]);
  await world.subscribe({ label: 'phone', content: 'full' });
  assert.equal(mock.callCount(), 1);
  const again = await world.accounts.sessions.start(OPERATOR);
  const before = mock.callCount();
  await world.subscribe({ label: 'phone', content: 'full' }, again.principal);
  assert.equal(mock.callCount(), before + 1);
});

test('each attempt looks again: less content, a removed browser and a logout count at once', async () => {
  const busy = () => new Response(null, { status: 503 });
  for (const [change, told] of [
    [(world: World) => world.subscribe({ content: 'title' }), { id: 'apr_1', ws: 'w1', title: TITLE }],
    [(world: World) => world.subscribe({ content: 'none' }), undefined],
    [
      (world: World, id: string) => world.push.methods['push.remove']({ subscriptionId: id }, world.callBy()),
      'nothing',
    ],
    [(world: World) => world.logOut(), 'nothing'],
  ] as const) {
    await using world = await setUp({ answers: [busy()] });
    const { subscription } = await world.subscribe({ content: 'full' });
    await world.asks();
    assert.ok(world.texts()[0]?.body?.includes(HIDDEN));
    await change(world, subscription.subscriptionId);
    await world.later();
    assert.deepEqual(world.texts().slice(1), told === 'nothing' ? [] : [told]);
    await world.decides();
    const isTold = typeof told === 'object';
    assert.deepEqual(world.texts().slice(2), isTold ? [{ id: 'apr_1', gone: true }] : []);
  }
});

test('a workstream that is made private in the meantime tells nobody else, and takes back what was told', async () => {
  const shared = (): Asking => ({ ownerId: 'user_1', visibility: 'shared', title: null, name: 'the place' });
  await using world = await setUp({ delayMs: 10_000 });
  const { users, roles } = world.accounts;
  const decider = { name: 'decider', displayName: 'D', permissions: ['read', 'write', 'approve'] as const };
  const { roleId } = await roles.create(decider, () => []);
  const person = { username: 'ada', displayName: 'ada', passwordHash: 'plain:x', roleIds: [roleId], by: OPERATOR_ID };
  const { userId } = await users.create(person, () => []);
  const minter = { parent: { kind: 'user' as const, id: userId }, scopes: OPERATOR.scopes };
  const { principal } = await world.accounts.sessions.start(minter);
  await world.subscribe({}, principal);
  const early = shared();
  await world.asks(early);
  Object.assign(early, { visibility: 'private' });
  await world.later();
  assert.deepEqual(world.received, [], 'made private during the delay');
  const late = shared();
  await world.asks(late, { ...APPROVAL, approvalId: 'b' });
  await world.later();
  assert.equal(world.received.length, 1);
  Object.assign(late, { visibility: 'private' });
  world.push.shared('w1');
  await settled();
  assert.deepEqual(world.texts().slice(1), [{ id: 'b', gone: true }]);
});
