import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATOR, OPERATOR_ID } from '../auth/lineage.ts';
import { APPROVAL, type Asking, HIDDEN, pushFixture, settled, TITLE, type World } from './push-fixture.ts';

test('a page that subscribes again with nothing new stores and records nothing; a new login or content does', async (t) => {
  await using world = await pushFixture();
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
    await using world = await pushFixture({ answers: [busy()] });
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
  await using world = await pushFixture({ delayMs: 10_000 });
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
