import assert from 'node:assert/strict';
import { test } from 'node:test';
import { turnsUntil, type WholeGatewayOptions, wholeGateway } from '../testing/whole-gateway.ts';
import { ALL_PERMISSIONS } from '../users/grant.ts';
import { announceAlwaysEnds } from './announce-always-ends.ts';

/** A daemon's main workstream, with announcements of the end of auto-approve. */
async function announcing(options: WholeGatewayOptions = {}) {
  const gateway = await wholeGateway(options);
  const stop = new AbortController();
  const { clock, log } = gateway;
  const begin = () => announceAlwaysEnds({ ...gateway.parts, clock, log }, stop.signal);
  let running = begin();
  const wsId = await gateway.main();
  return {
    gateway,
    give: (id: string) => gateway.call('workstream.update', { wsId, autoApprove: true }, { id }),
    isGiven: async () => (await gateway.call('workstream.get', { wsId })).snapshot.workstream.skipPermissions,
    notes: async () => (await gateway.events(wsId)).flatMap((event) => (event.type === 'info' ? [event.message] : [])),
    stored: () => gateway.store.db.selectFrom('workstreams').select(['always_by', 'always_until_ms']).execute(),
    async crash(downMs: number) {
      await gateway.crash({ downMs });
      running = begin();
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await gateway[Symbol.asyncDispose]();
    },
  };
}

const EXPIRED = 'Auto-approve has expired. Tool calls that need approval ask again.';
const LAST_MS = 28_800_000;

test('the end of auto-approve is stored and announced when it expires', async () => {
  await using daemon = await announcing();
  await daemon.give('ada');
  await daemon.gateway.clock.advance(LAST_MS - 1);
  assert.deepEqual(await daemon.notes(), []);
  await daemon.gateway.clock.advance(1);
  await turnsUntil(async () => (await daemon.notes()).length === 1, 'the end');
  assert.deepEqual(await daemon.notes(), [EXPIRED]);
  assert.deepEqual(await daemon.stored(), [{ always_by: null, always_until_ms: null }]);
});

test('an end while the daemon was down is announced at the start', async () => {
  await using daemon = await announcing();
  await daemon.give('ada');
  await daemon.crash(LAST_MS);
  await turnsUntil(async () => (await daemon.notes()).length === 1, 'the end');
  assert.deepEqual(await daemon.notes(), [EXPIRED]);
});

test('the end of the giver’s credential is announced at once', async () => {
  const credential = new AbortController();
  const endOf = (id: string) => (id === 'token:t' ? credential.signal : undefined);
  await using daemon = await announcing({
    authenticator: {
      enabled: false,
      authenticate: () => undefined,
      endOf,
      viewerOf: () => ({ permissions: ALL_PERMISSIONS }),
    },
  });
  await daemon.give('token:t');
  credential.abort();
  await turnsUntil(async () => (await daemon.notes()).length === 1, 'the end');
  assert.match((await daemon.notes())[0] ?? '', /revoked or has expired/);
});

test('auto-approve that is granted again lasts until its new end', async () => {
  await using daemon = await announcing();
  await daemon.give('ada');
  await daemon.gateway.clock.advance(LAST_MS - 1);
  await daemon.give('ada');
  await daemon.gateway.clock.advance(LAST_MS - 1);
  assert.deepEqual(await daemon.notes(), []);
  assert.equal((await daemon.stored())[0]?.always_by, 'ada');
});

test('an end that cannot be stored is announced later, but has its effect meanwhile', async () => {
  await using daemon = await announcing();
  await daemon.give('ada');
  daemon.gateway.disk.fails = () => true;
  await daemon.gateway.clock.advance(LAST_MS);
  assert.equal(await daemon.isGiven(), false);
  assert.deepEqual(await daemon.notes(), []);
  daemon.gateway.disk.fails = undefined;
  await daemon.gateway.clock.advance(1_000);
  await turnsUntil(async () => (await daemon.notes()).length === 1, 'the end');
});

test('the end of the giver’s right to decide is announced at once', async () => {
  await using daemon = await announcing();
  const { call } = daemon.gateway;
  const { roleId } = await call('role.create', {
    name: 'lead',
    displayName: 'Lead',
    permissions: ['write', 'approve'],
  });
  const person = { username: 'ada', displayName: 'Ada', password: 'correct horse', roles: ['builtin-viewer', roleId] };
  const { userId } = await call('user.create', person);
  await daemon.give(`user:${userId}`);
  await call('user.role.unassign', { userId, roleId });
  await turnsUntil(async () => (await daemon.notes()).length === 1, 'the end');
  assert.equal(await daemon.isGiven(), false);
});
