import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../../protocol/methods/accounts/permissions.ts';
import type { Authenticator } from '../auth/authenticator.ts';
import { calling } from '../testing/puppet-model.ts';
import type { CallAs } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { coordinatorGateway, LOCAL } from './coordinators-fixture.ts';

const EVE: CallAs = { id: 'eve', userId: 'user_eve', scope: 'write' };
const MEMBER = new Set<Permission>(['read', 'write', 'workstreams.create', 'workstreams.close']);
const REFUSED = ["Forbidden: missing 'admin.coordinator' permission"];

/** Eve may not coordinate; all others may. */
const authenticator: Authenticator = {
  enabled: true,
  authenticate: () => undefined,
  endOf: () => undefined,
  viewerOf: (id) => (id === 'eve' ? { permissions: MEMBER, userId: 'user_eve' } : { permissions: ALL_PERMISSIONS }),
};

/** A coordinator whose run goes on until `goOn`, and a message that waits for it. */
async function setUp(message: object = {}) {
  const gateway = await coordinatorGateway({ authenticator });
  const { wsId } = gateway;
  const look = Promise.withResolvers<void>();
  gateway.turns.push([look.promise, calling('look', {}, 'c0')]);
  await gateway.call('workstream.send', { wsId, message: 'go' }, LOCAL);
  await gateway.reaches(wsId, 'thinking_start');
  await gateway.call(
    'workstream.send',
    { wsId, message: 'then this', queue: true, idempotencyKey: 'next', ...message },
    LOCAL,
  );
  return { gateway, wsId, goOn: () => look.resolve() };
}

test('a message that somebody who may not coordinate has edited does not coordinate, also after a restart', async () => {
  for (const isRestarted of [false, true]) {
    const { gateway, wsId, goOn } = await setUp();
    await using _ = gateway;
    await gateway.call('queue.edit', { wsId, runId: 'next', message: 'rather that' }, EVE);
    gateway.turns.push(['done'], [calling('list_workstreams', {}, 'c1')]);
    if (isRestarted) await gateway.restart();
    else goOn();
    await gateway.answered(wsId);
    assert.deepEqual(gateway.results.at(-1), REFUSED, `restarted: ${isRestarted}`);
  }
});

test('a steering message that somebody who may not coordinate has edited takes that right from its run', async () => {
  const { gateway, wsId, goOn } = await setUp({ steer: true });
  await using _ = gateway;
  await gateway.call('queue.edit', { wsId, runId: 'next', message: 'rather that' }, EVE);
  gateway.turns.push([calling('list_workstreams', {}, 'c1')]);
  goOn();
  await gateway.answered(wsId);
  assert.deepEqual(gateway.results.at(-1), REFUSED);
});

test('a sender who takes an edited message back into their own words does not get rid of its other author', async () => {
  const { gateway, wsId, goOn } = await setUp();
  await using _ = gateway;
  await gateway.call('queue.edit', { wsId, runId: 'next', message: 'rather that' }, EVE);
  await gateway.call('queue.edit', { wsId, runId: 'next', message: 'rather that, please' }, LOCAL);
  gateway.turns.push(['done'], [calling('list_workstreams', {}, 'c1')]);
  goOn();
  await gateway.answered(wsId);
  assert.deepEqual(gateway.results.at(-1), REFUSED);
});
