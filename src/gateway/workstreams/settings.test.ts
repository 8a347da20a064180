import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON, OF_EVERYONE } from '../sharing/perception.ts';
import { calling } from '../testing/puppet-model.ts';
import { shapesOf, wholeGateway } from '../testing/whole-gateway.ts';

const unknown = { code: 'NOT_FOUND', message: 'Unknown workstream' };
const taken = { code: 'CONFLICT', message: 'That name is already used by another workstream' };

test('of two renames to the same name at the same time, one gets CONFLICT', async () => {
  await using gateway = await wholeGateway();
  const first = await gateway.main();
  const { wsId: second } = await gateway.call('workstream.create', {});
  const [renamed, refused] = await Promise.all([
    gateway.call('workstream.update', { wsId: first, name: 'desk' }),
    gateway.refusal('workstream.update', { wsId: second, name: 'desk' }),
  ]);
  assert.deepEqual([renamed.name, refused], ['desk', taken]);
});

test('a change of a workstream whose row is gone gets NOT_FOUND, whatever it changes', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', {});
  const sql = 'delete from workstreams where ws_id = ?';
  await gateway.store.commit({ statements: [{ sql, parameters: [wsId], expect: 1 }] });
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, model: 'other' }), unknown);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, name: 'desk' }), unknown);
});

test('settings are stored, applied and sent to all readers; a name in use is refused', async () => {
  await using gateway = await wholeGateway();
  const { settings } = gateway.parts;
  const main = gateway.mainWorkstream();
  await gateway.parts.workstreams.create({ owned: OF_EVERYONE, alias: 'a' });
  await Promise.all([
    settings.change(main, { name: { text: ' work ', by: DAEMON } }),
    settings.change(main, { model: 'other', always: { by: 'ada', untilMs: 9_000_000 } }),
  ]);
  await assert.rejects(settings.change(main, { name: { text: 'a', by: DAEMON } }), taken);
  await settings.change(main, {});
  const events = await gateway.events(main.data.wsId);
  const event = {
    type: 'settings_changed',
    name: 'work',
    model: 'puppet',
    model_alias: 'puppet',
    skip_permissions: false,
    mode: 'ask',
    effort: 'medium',
  };
  assert.deepEqual(events, [
    event,
    {
      ...event,
      model: 'other',
      model_alias: 'other',
      skip_permissions: true,
      skip_permissions_until_ms: 9_000_000,
      mode: 'full',
    },
  ]);
  await gateway.crash();
  const { name, always, modelAlias } = gateway.mainWorkstream().data;
  assert.deepEqual(
    { name, always, modelAlias },
    { name: 'work', always: { by: 'ada', untilMs: 9_000_000 }, modelAlias: 'other' },
  );
  await gateway.parts.settings.change(gateway.mainWorkstream(), { name: { text: '', by: DAEMON } });
  assert.equal(gateway.mainWorkstream().data.name, `ws-${gateway.mainWorkstream().data.wsId.slice(0, 4)}`);
});

test('a setting that could not be stored has no effect', async () => {
  await using gateway = await wholeGateway();
  gateway.disk.fails = () => true;
  await assert.rejects(
    gateway.parts.settings.change(gateway.mainWorkstream(), { always: { by: 'ada', untilMs: null } }),
    {
      code: 'UNAVAILABLE',
    },
  );
  gateway.disk.fails = undefined;
  gateway.puppet.turn(calling('touch'));
  await gateway.accept('x');
  await gateway.reaches(await gateway.main(), 'approve_request');
  assert.equal(shapesOf(await gateway.events(gateway.mainWorkstream().data.wsId)).includes('settings_changed'), false);
});
