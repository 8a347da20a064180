import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { NoticeContent } from '../../../protocol/methods/channels/push.ts';
import { OPERATOR, OPERATOR_ID } from '../auth/lineage.ts';
import type { Principal } from '../auth/principal.ts';
import { askForPairing, revokeSender } from '../channels/inbox/sender-rows.ts';
import { deletePending, putPending } from '../mcp/oauth/consent-rows.ts';
import { deleteQuarantined, insertQuarantined } from '../memories/quarantine-rows.ts';
import { pushFixture, settled, type World } from './push-fixture.ts';

const HOUR_MS = 3_600_000;
const WORDS = 'kestrel-harbour';

/** What can wait, and how it ends. */
const things = ({ store, clock, requests }: World) => ({
  machine(nodeId = 'den') {
    requests.unshift({ requestId: `r-${nodeId}`, nodeId, displayName: WORDS, isRepair: false, ts: clock.now() });
  },
  async person(senderId = '4915551234', nowMs = clock.now()) {
    const asked = { channel: 'telegram', senderId, name: WORDS, codeHash: `hash ${nowMs}`, nowMs };
    await store.commit({ statements: [askForPairing({ ...asked, expiresMs: nowMs + HOUR_MS, most: 50 })] });
  },
  async account(user = '', server = 'notes') {
    const pending = { user, server, code: 'mcp_consent_required', scopes: [], nowMs: clock.now() };
    await store.commit({ statements: [putPending(pending)] });
  },
  async memory(id = 'mem_1', { scope = 'global', scopeId = '', nowMs = clock.now() } = {}) {
    const row = { memory_id: id, scope, scope_id: scopeId, type: 'project', name: id, description: '' };
    const origin_json = JSON.stringify({ by: 'agent', isTrusted: false });
    await store.commit({
      statements: [insertQuarantined({ ...row, created_ms: nowMs, origin_json, content: WORDS } as never)],
    });
  },
  machineLeaves: () => void requests.splice(0),
  personIsRefused: (senderId = '4915551234') =>
    store.commit({
      statements: [revokeSender({ channel: 'telegram', senderId }, { by: 'x', nowMs: clock.now() })],
    }),
  accountIsDismissed: () => store.commit({ statements: [deletePending('')] }),
  memoryIsDiscarded: () => store.commit({ statements: [deleteQuarantined('mem_1')] }),
});

async function newUser({ accounts }: World, permissions: readonly Permission[]) {
  const name = `role-of-${permissions.join('-').replaceAll('.', '-')}`;
  const { roleId } = await accounts.roles.create({ name, displayName: name, permissions }, () => []);
  const person = { username: name, displayName: name, passwordHash: 'plain:x', roleIds: [roleId], by: OPERATOR_ID };
  const { userId } = await accounts.users.create(person, () => []);
  const minter = { parent: { kind: 'user' as const, id: userId }, scopes: OPERATOR.scopes };
  return { userId, roleId, ...(await accounts.sessions.start(minter)) };
}

const titlesOf = (world: World) => world.texts().map(({ title, gone }) => (gone ? 'gone' : title));

async function everything(world: World): Promise<void> {
  const { machine, person, account, memory } = things(world);
  machine();
  await person();
  await account();
  await memory();
  await world.looks();
}

test('a machine, a person, an account and a memory are told once, lead to their entries, and are taken back', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  await everything(world);
  await world.looks();
  const told = world.texts();
  assert.deepEqual(
    told.map(({ id: _, ...rest }) => rest),
    [
      { ws: '', at: 'machine den', title: 'A machine asks to be paired' },
      { ws: '', at: 'person telegram 4915551234', title: 'Somebody asks to write from a chat' },
      { ws: '', at: 'account notes', title: 'A call needed an account of yours' },
      { ws: '', at: 'memory mem_1', title: 'A memory waits for you' },
    ],
  );
  const { machineLeaves, personIsRefused, accountIsDismissed, memoryIsDiscarded } = things(world);
  machineLeaves();
  await personIsRefused();
  await accountIsDismissed();
  await memoryIsDiscarded();
  await world.looks();
  assert.deepEqual(
    world.texts().slice(4),
    told.map(({ id }) => ({ id, gone: true })),
  );
});

test('words of others are told only in full, never with buttons; without a content nothing is said', async () => {
  for (const [content, texts] of [
    ['full', [WORDS, `${WORDS} (telegram)`, 'notes', `mem_1\n${WORDS}`]],
    ['title', [undefined, undefined, undefined, undefined]],
  ] as const) {
    await using world = await pushFixture();
    await world.subscribe({ content: content as NoticeContent });
    await everything(world);
    assert.deepEqual(
      world.texts().map(({ body, act }) => [body, act]),
      texts.map((text) => [text, undefined]),
    );
  }
  await using world = await pushFixture();
  await world.subscribe({ content: 'none' });
  await everything(world);
  assert.deepEqual(world.texts(), [undefined, undefined, undefined, undefined]);
});

test('push servers learn nothing from the ids, which are the same after a restart', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  await everything(world);
  const ids = world.texts().map(({ id }) => id);
  assert.ok(ids.every((id) => /^wait-[\w-]{32}$/.test(id)));
  assert.equal(new Set(ids).size, 4);
  await world.restart();
  await world.looks();
  assert.deepEqual(
    world
      .texts()
      .slice(4)
      .map(({ id }) => id),
    ids,
  );
});

test('each thing is told only to those who may decide about it', async () => {
  await using world = await pushFixture();
  const { person, account, memory, machine } = things(world);
  const decider = await newUser(world, ['read', 'write', 'approve']);
  const admin = await newUser(world, ['read', 'tools.approve', 'admin.users', 'admin.nodes']);
  const subscribe = (name: string, principal: Principal) =>
    world.subscribe({ endpoint: `https://push.example.com/${name}` }, principal);
  await subscribe('decider', decider.principal);
  await subscribe('admin', admin.principal);
  const toldTo = async (begin: () => unknown) => {
    const before = world.received.length;
    await begin();
    await world.looks();
    const told = world.received.slice(before).map(({ url }) => new URL(url).pathname);
    return told.toSorted().toReversed();
  };
  assert.deepEqual(await toldTo(machine), ['/decider', '/admin']);
  assert.deepEqual(await toldTo(person), ['/admin']);
  assert.deepEqual(await toldTo(account), [], 'the operator has no browser here');
  assert.deepEqual(await toldTo(() => account(decider.userId)), ['/decider']);
  assert.deepEqual(await toldTo(memory), ['/decider', '/admin']);
  const own = { scope: 'user', scopeId: decider.userId };
  assert.deepEqual(await toldTo(() => memory('mem_2', own)), ['/decider']);
});

test('who loses a right loses what was told, within a minute', async () => {
  await using world = await pushFixture();
  const { userId: _, roleId, principal } = await newUser(world, ['read', 'tools.approve', 'admin.users']);
  await world.subscribe({}, principal);
  await things(world).person();
  await world.looks();
  const [{ id } = assert.fail('nothing was told')] = world.texts();
  await world.accounts.roles.update(roleId, { permissions: ['read', 'tools.approve'] }, []);
  await world.later();
  assert.deepEqual(world.texts().slice(1), [{ id, gone: true }]);
});

test('a code that expires is taken back without any hint; the next one is told again', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  await things(world).person();
  await world.looks();
  for (let minute = 0; minute < 61; minute += 1) await world.later();
  assert.deepEqual(titlesOf(world), ['Somebody asks to write from a chat', 'gone']);
  await things(world).person();
  await world.looks();
  assert.equal(titlesOf(world).length, 3);
});

test('whether it still waits is looked up before each attempt', async () => {
  await using world = await pushFixture({ answers: [new Response(null, { status: 503 })] });
  await world.subscribe();
  await things(world).memory();
  await world.looks();
  await things(world).memoryIsDiscarded(); // without a hint
  await world.clock.advance(30_000);
  await settled();
  assert.equal(world.received.length, 1);
});

test('what began to wait more than a day ago is not told, and at most 20 of a kind are', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  const { memory } = things(world);
  await memory('old', { nowMs: world.clock.now() - 25 * HOUR_MS });
  await world.looks();
  assert.deepEqual(world.received, []);
  for (let n = 0; n < 30; n += 1) await memory(`mem_${n}`);
  await world.looks();
  await world.looks();
  assert.equal(world.received.length, 20);
});

test('nothing is read while nobody wants to be notified', async (t) => {
  await using world = await pushFixture();
  const { mock } = t.mock.method(world.store.db, 'selectFrom');
  things(world).machine();
  await world.looks();
  assert.deepEqual(
    mock.calls.map(({ arguments: [table] }) => table),
    ['push_subscriptions'],
  );
  assert.deepEqual(world.received, []);
});

test('what could not be read is looked at again a minute later', async () => {
  await using world = await pushFixture();
  await world.subscribe();
  await things(world).person();
  const { db } = world.store;
  let reads = 0;
  Object.defineProperty(world.store, 'db', {
    get() {
      reads += 1;
      if (reads === 2) throw new Error('the database does not answer'); // after the look whether anybody wants it
      return db;
    },
  });
  await world.looks();
  assert.deepEqual(titlesOf(world), []);
  await world.later();
  await world.later();
  assert.deepEqual(titlesOf(world), ['Somebody asks to write from a chat']);
});
