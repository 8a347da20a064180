import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR, OPERATOR_ID } from '../auth/lineage.ts';
import type { Principal } from '../auth/principal.ts';
import { build, statementOf } from '../store/statements.ts';
import { readVapid } from '../testing/push-browser.ts';
import { APPROVAL, HIDDEN, pushFixture, SHARED, TITLE } from './push-fixture.ts';

test('a browser gets the kind of a question, encrypted for it and signed by the daemon, and nothing that an agent wrote', async () => {
  await using world = await pushFixture();
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
  await using world = await pushFixture();
  await world.subscribe({ content: 'none' });
  await world.asks();
  await world.decides();
  assert.deepEqual(
    world.received.map(({ text, headers }) => [text, headers.get('content-encoding')]),
    [[undefined, null]],
  );
});

test('all of a question has buttons only while the login is confirmed, and only the kind after the login has expired', async () => {
  await using world = await pushFixture();
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
    await using world = await pushFixture();
    await world.subscribe({ content: 'full' });
    await world.asks(SHARED, { ...APPROVAL, ...change });
    assert.equal(world.texts()[0]?.act, undefined, JSON.stringify(change).slice(0, 80));
  }
});

test('logging out ends the notifications of this login at once, and of no other one', async () => {
  await using world = await pushFixture();
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
  await using world = await pushFixture();
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
  await using world = await pushFixture();
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
  await using world = await pushFixture();
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

/** 65 bytes, but no point of the curve. */
const NO_POINT = Buffer.alloc(65, 4).toString('base64url');

test('a browser with a key that nothing can be encrypted for is refused', async () => {
  await using world = await pushFixture();
  const keys = { ...world.browser.subscription.keys, p256dh: NO_POINT };
  await assert.rejects(async () => world.subscribe({ keys }), {
    code: 'INVALID_REQUEST',
    message: 'keys.p256dh: must be a point of the curve P-256',
  });
  assert.deepEqual(await world.list(), []);
});

test('a browser with such a key, stored by an earlier version, is not tried again, and this is shown', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  const bad = build.updateTable('push_subscriptions').set({ p256dh: NO_POINT });
  await world.store.commit({ statements: [statementOf(bad)] });
  await world.asks();
  await world.later();
  assert.deepEqual(
    [(await world.list())[0]?.problem, world.received, world.log.lines.filter(([level]) => level === 'warn').length],
    ['nothing can be encrypted for this browser', [], 1],
  );
});

test('a browser that the push server does not know any more is forgotten', async () => {
  for (const status of [404, 410]) {
    await using world = await pushFixture({ answers: [new Response(null, { status })] });
    await world.subscribe();
    await world.asks();
    assert.deepEqual(await world.list(), []);
  }
});

test('what a server refuses is shown, without the endpoint, which is in no log either', async () => {
  await using world = await pushFixture({ answers: [new Response('secret-path', { status: 403 })] });
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
  await using world = await pushFixture();
  const first = await world.subscribe({ label: 'phone' });
  const again = await world.subscribe({ label: 'phone', content: 'full' });
  assert.equal(again.subscription.subscriptionId, first.subscription.subscriptionId);
  for (let n = 1; n < 20; n += 1) await world.subscribe({ endpoint: `https://push.example.com/${n}` });
  await assert.rejects(async () => world.subscribe({ endpoint: 'https://push.example.com/20' }), /remove one first/);
  assert.equal((await world.list()).length, 20);
});
