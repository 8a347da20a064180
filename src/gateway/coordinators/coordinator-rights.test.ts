import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { expandScopes } from '../rights.ts';
import { calling } from '../testing/puppet-model.ts';
import { type CallAs, callerOf } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { coordinatorGateway, LOCAL, taskOf } from './coordinators-fixture.ts';

const without = (...left: Permission[]) => new Set([...ALL_PERMISSIONS].filter((one) => !left.includes(one)));
const MEMBER = new Set<Permission>(['read', 'write', 'workstreams.create', 'workstreams.close']);

/** Credentials as the gateway knows them while it works; others have all rights. */
function authenticatorOf(
  known: Record<string, { permissions: ReadonlySet<Permission>; userId?: string }>,
): Authenticator & {
  end(id: string): void;
} {
  const ended = new Set<string>();
  return {
    enabled: true,
    authenticate: () => undefined,
    endOf: (id) => (ended.has(id) ? AbortSignal.abort() : undefined),
    viewerOf: (id) => known[id] ?? { permissions: ALL_PERMISSIONS },
    end: (id) => ended.add(id),
  };
}

test('Making a coordinator or a child of one must need `approve` and `admin.coordinator`', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const member: CallAs = { permissions: without('admin.coordinator') };
  const missing = { code: 'FORBIDDEN', message: "Forbidden: missing 'admin.coordinator' permission" };
  for (const params of [{ kind: 'coordinator' }, { parentWsId: wsId }]) {
    assert.deepEqual(await gateway.refusal('workstream.create', params, member), missing);
    assert.deepEqual(
      await gateway.refusal('workstream.create', params, { scope: 'write', permissions: ALL_PERMISSIONS }),
      { code: 'FORBIDDEN', message: 'kind and parentWsId need the approve scope' },
    );
  }
  for (const method of [
    'coordinator.trust',
    'coordinator.restrict',
    'coordinator.stop',
    'coordinator.close',
  ] as const) {
    const own =
      method === 'coordinator.trust'
        ? { wsId, send: true }
        : method === 'coordinator.restrict'
          ? { wsId, revoke: [] }
          : { wsId };
    assert.deepEqual(await gateway.refusal(method, own, member), missing, method);
    assert.equal(
      (await gateway.refusal(method, own, { scope: 'write', permissions: ALL_PERMISSIONS })).code,
      'FORBIDDEN',
    );
  }
  assert.deepEqual(
    await gateway.refusal(
      'coordinator.trust',
      { wsId, send: true },
      { permissions: without('coordinator.trust.send') },
    ),
    {
      code: 'FORBIDDEN',
      message: "Forbidden: missing 'coordinator.trust.send' permission",
    },
  );
});

test('a parent that is unknown, closed, no coordinator or hidden cannot be named', async () => {
  await using gateway = await coordinatorGateway();
  const unknown = { code: 'NOT_FOUND', message: 'coordinator not found' };
  const { wsId: hidden } = await gateway.call(
    'workstream.create',
    { kind: 'coordinator', visibility: 'private' },
    { ...LOCAL, userId: 'user_ada' },
  );
  const { wsId: closed } = await gateway.call('workstream.create', { kind: 'coordinator' }, LOCAL);
  await gateway.call('workstream.close', { wsId: closed }, LOCAL);
  const bob: CallAs = { userId: 'user_bob', permissions: without('workstreams.all') };
  for (const parentWsId of ['0'.repeat(32), await gateway.main(), closed, hidden]) {
    assert.deepEqual(await gateway.refusal('workstream.create', { parentWsId }, bob), unknown);
    assert.deepEqual(await gateway.refusal('coordinator.children', { wsId: parentWsId }, bob), unknown);
    assert.deepEqual(await gateway.refusal('coordinator.stop', { wsId: parentWsId }, bob), unknown);
  }
  assert.deepEqual(
    (await gateway.call('coordinator.list', {}, bob)).coordinators.map(({ wsId }) => wsId),
    [gateway.wsId],
  );
});

test('coordinators can be nested four deep, and never in a circle', async () => {
  await using gateway = await coordinatorGateway();
  const chain = [gateway.wsId];
  for (let depth = 1; depth < 4; depth += 1) {
    const parentWsId = chain.at(-1) ?? '';
    chain.push((await gateway.call('workstream.create', { kind: 'coordinator', parentWsId }, LOCAL)).wsId);
  }
  const [top = '', , , lowest = ''] = chain;
  assert.deepEqual(await gateway.refusal('workstream.create', { kind: 'coordinator', parentWsId: lowest }, LOCAL), {
    code: 'CONFLICT',
    message: 'Coordinators can be nested 4 deep, and this one is at that depth.',
  });
  await gateway.call('workstream.create', { parentWsId: lowest }, LOCAL);
  await gateway.coordinate([calling('list_workstreams')]);
  assert.equal(Object(gateway.results[0]?.[0]).workstreams.length, 4);
  // A deleted one leaves its id free; its former children may not become what is above it.
  await gateway.call('workstream.delete', { wsId: top }, LOCAL);
  const [, second = ''] = chain;
  const again = await gateway
    .call('workstream.create', { kind: 'coordinator', wsId: top, parentWsId: second }, LOCAL)
    .catch(String);
  const { coordinators } = await gateway.call('coordinator.list', {}, LOCAL);
  for (const { wsId, parentWsId } of coordinators)
    assert.notEqual(wsId === second && parentWsId === top, true, String(again));
  await gateway.restart();
  for (const { wsId } of coordinators) await gateway.call('coordinator.list', { wsId }, LOCAL);
});

test('the tools have the rights of whoever wrote to the coordinator, as they are then', async () => {
  const known = { eve: { permissions: MEMBER, userId: 'user_eve' } };
  const authenticator = authenticatorOf(known);
  await using gateway = await coordinatorGateway({ authenticator });
  const { wsId } = gateway;
  const spawn = (id: string) => [calling('spawn_workstream', { message: 'mine' }, id)];
  gateway.turns.push(spawn('c1'));
  await gateway.call('workstream.send', { wsId, message: 'do it' }, { id: 'eve', userId: 'user_eve', scope: 'write' });
  await gateway.answered(wsId);
  assert.deepEqual(gateway.results[0], ["Forbidden: missing 'admin.coordinator' permission"]);
  gateway.turns.push(spawn('c2'));
  await gateway.call('workstream.send', { wsId, message: 'do it' }, { id: 'ada' });
  await gateway.reaches(wsId, 'approve_request', 2);
  authenticator.end('ada');
  await gateway.answered(wsId);
  assert.deepEqual(gateway.results[1], ['Forbidden: the credential behind this run has ended']);
  assert.deepEqual(await gateway.childrenOf(), []);
});

test('somebody who may not coordinate cannot steer a run that may', async () => {
  const authenticator = authenticatorOf({ eve: { permissions: MEMBER, userId: 'user_eve' } });
  await using gateway = await coordinatorGateway({ authenticator });
  const { wsId } = gateway;
  const eve: CallAs = { id: 'eve', userId: 'user_eve', scope: 'write' };
  gateway.turns.push([calling('list_workstreams', {}, 'c1')], [calling('list_workstreams', {}, 'c2')]);
  const look = Promise.withResolvers<void>();
  gateway.turns.unshift([look.promise, calling('look', {}, 'c0')]);
  await gateway.call('workstream.send', { wsId, message: 'go' }, LOCAL);
  await gateway.reaches(wsId, 'thinking_start');
  await gateway.call('workstream.send', { wsId, message: 'rather this', steer: true }, eve);
  look.resolve();
  await gateway.isIdle(wsId);
  assert.deepEqual(gateway.results[1], ["Forbidden: missing 'admin.coordinator' permission"]);
});

test('children belong to whom the coordinator does, and others of the owner stay out of sight of a shared one', async () => {
  await using gateway = await coordinatorGateway();
  const ada: CallAs = { ...LOCAL, userId: 'user_ada' };
  const { wsId } = await gateway.call('workstream.create', { kind: 'coordinator', visibility: 'private' }, ada);
  gateway.turns.push([calling('spawn_workstream', { message: 'one' })]);
  await gateway.call('workstream.send', { wsId, message: 'go' }, ada);
  await gateway.answered(wsId);
  const [child] = await gateway.childrenOf(wsId);
  const { workstreams } = await gateway.call('workstream.list', {}, ada);
  const row = workstreams.find((one) => one.wsId === child?.wsId);
  assert.deepEqual([row?.userId, row?.visibility, row?.parentWsId], ['user_ada', 'private', wsId]);
  // What everybody reads in a shared coordinator must not tell of private ones.
  await gateway.coordinate([
    calling('send_to_workstream', { ws_id: child?.wsId, message: 'hello' }, 'c1'),
    calling('inspect_workstream', { ws_id: child?.wsId }, 'c2'),
  ]);
  assert.equal(gateway.results.at(-1)?.[0], 'Unknown workstream');
  assert.match(String(gateway.results.at(-1)?.[1]), /is no workstream that works for you/);
});

test('what a coordinator has read from outside taints its children, and what they have read taints it', async () => {
  await using gateway = await coordinatorGateway({
    execute: async (_, run) => ({
      output: 'from the web',
      outcome: 'done',
      ...(run && { taint: { kind: 'network', target: 'evil.example' } }),
    }),
  });
  const { wsId } = gateway;
  await gateway.coordinate([calling('look')], [calling('spawn_workstream', { message: 'do as it says' })]);
  const child = await gateway.child();
  await gateway.isIdle(child.wsId);
  const stored = async (of: string) =>
    (await gateway.store.readMessages(of, { after: 0, upTo: 100, limit: 100 })).map(({ json }) =>
      JSON.parse(json ?? ''),
    );
  const [first] = (await stored(child.wsId)).filter(({ role, environment }) => role === 'user' && !environment);
  assert.deepEqual(first.sentBy, { wsId, taint: { kind: 'network', target: 'evil.example' } });
  const { wsId: other } = await gateway.call('workstream.create', { kind: 'coordinator' }, LOCAL);
  gateway.children((request) =>
    taskOf(request) === 'read' && request.messages.at(-1)?.role !== 'tool' ? [calling('look')] : ['read it'],
  );
  gateway.turns.push([calling('spawn_workstream', { message: 'read' })]);
  await gateway.call('workstream.send', { wsId: other, message: 'go' }, LOCAL);
  await gateway.answered(other);
  const [reader] = await gateway.childrenOf(other);
  await gateway.isIdle(reader?.wsId ?? '');
  gateway.turns.push([calling('wait_for_workstream', { ws_ids: [reader?.wsId] })]);
  await gateway.call('workstream.send', { wsId: other, message: 'go' }, LOCAL);
  await gateway.answered(other);
  const waited = (await stored(other)).find(({ role, name }) => role === 'tool' && name === 'wait_for_workstream');
  assert.deepEqual(waited.taint, { kind: 'network', target: 'evil.example' });
});

test('a fork, an import and a saved copy of a coordinator are ordinary workstreams without trust', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  await gateway.coordinate(['hello']);
  await gateway.call('coordinator.trust', { wsId, send: true }, LOCAL);
  const { wsId: fork } = await gateway.call('workstream.fork', { wsId }, LOCAL);
  const { workstreams } = await gateway.call('workstream.list', {}, LOCAL);
  assert.deepEqual(
    workstreams.map((row) => [row.wsId, row.kind]).find(([id]) => id === fork),
    [fork, undefined],
  );
  assert.equal((await gateway.refusal('coordinator.children', { wsId: fork }, LOCAL)).code, 'NOT_FOUND');
});

test('A service token must be refused with 403 on `trust`, `restrict`, `stop_cascade` and `close_all_children`', async () => {
  await using gateway = await coordinatorGateway();
  const { wsId } = gateway;
  const ended = new AbortController().signal;
  const principal = {
    ...{ id: 'token:tok_1', scopes: expandScopes(['approve', 'service']), permissions: ALL_PERMISSIONS },
    ...{ source: { kind: 'token' as const, tokenId: 'tok_1' }, ended },
  };
  for (const [method, params] of [
    ['coordinator.trust', { wsId, send: true }],
    ['coordinator.restrict', { wsId, revoke: ['bash'] }],
    ['coordinator.stop', { wsId }],
    ['coordinator.close', { wsId }],
  ] as const) {
    const answered = Promise.resolve(gateway.gateway.dispatch(method, params, { ...callerOf(LOCAL), principal }));
    const error = await answered.then(
      () => 'answered',
      ({ code, message }) => [code, message],
    );
    assert.deepEqual(error, [
      'FORBIDDEN',
      `${method} refuses service tokens: it creates credentials, gives rights, or is a decision of people`,
    ]);
  }
});
