import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Contract } from '../../../protocol/contract.ts';
import { GatewayError } from '../../../protocol/errors.ts';
import { CONTRACTS } from '../../../protocol/index.ts';
import { calling } from '../testing/puppet-model.ts';
import { wholeGateway } from '../testing/whole-gateway.ts';

/** The rows whose calls are not recorded, although they are no mere reading, by the reason. */
const UNRECORDED: Readonly<Record<string, readonly string[]>> = {
  'a conversation, which tells by itself what was said and done': [
    ...['agent', 'agent.wait', 'chat.send', 'chat.abort', 'send', 'system-event', 'wake'],
    ...['send', 'cancel', 'proceed', 'rewind', 'retry', 'edit', 'remove', 'retitle'].map((it) => `workstream.${it}`),
    ...['background.kill', 'watch.cancel', 'subagent.cancel'],
    ...['queue.edit', 'queue.move', 'queue.steer', 'queue.remove'],
    ...['sessions.patch', 'sessions.reset', 'sessions.compact'],
  ],
  'changes nothing': [
    ...[
      'checkpoint.preview',
      'channel.test',
      'push.test',
      'models.test',
      'file.changes',
      'file.diff',
      'file.find',
      'file.read',
    ],
  ],
  'a new workstream, or one that is opened or closed; nothing is lost': [
    ...['workstream.fork', 'workstream.import', 'workstream.open', 'workstream.close'],
  ],
  'performs other methods, which are recorded': ['workstream.command'],
  'a node that does what it was paired for': [
    ...['node.pair.request', 'node.invoke', 'node.invoke.result', 'node.event'],
  ],
  'prolongs a login, whose start is recorded': ['auth.refresh'],
  'the beginning of something whose end is recorded': ['connect', 'oidc.authorize'],
};

const READING =
  /\.(?:list|get|details|versions|schema|runs|search|verify|report|choices|whoami|status|tail|simulate|discover)$/;

test('every row that changes configuration, rights, credentials, decisions or auto-approve is recorded', () => {
  const rows: [string, Contract][] = Object.entries(CONTRACTS);
  const changing = rows.filter(([method, { scope }]) => scope !== 'read' && !READING.test(method));
  const unrecorded = changing.filter(([, { audit }]) => audit === undefined).map(([method]) => method);
  assert.deepEqual(new Set(unrecorded), new Set(Object.values(UNRECORDED).flat()));
});

test('records name what was changed, also where only the handler knows it', async () => {
  await using gateway = await wholeGateway();
  const { call, accept, reaches } = gateway;
  const wsId = await gateway.main();
  const role = await call('role.create', { name: 'talker', permissions: ['read'] });
  const { userId } = await call('user.create', { username: 'ada', displayName: 'Ada', password: 'correct horse' });
  await call('user.role.assign', { userId, roleId: role.roleId });
  await call('org.update', { orgId: 'default', settings: '{"secret":1}' });
  await call('set-heartbeats', { enabled: false });
  await call('voicewake.set', { triggers: ['hey'] });
  await call('workstream.update', { wsId, autoApprove: true });
  await call('workstream.update', { wsId, autoApprove: false });
  await call('workstream.update', { wsId, name: 'renamed' });
  await call('workstream.update', { wsId, readable: ['/usr'] });
  const made = await call('workstream.create', { autoApproveTools: ['touch'] });
  await call('workstream.create', {});
  const denied = await gateway.refusal('workstream.update', { wsId, autoApprove: true }, { scope: 'write' });
  assert.ok(denied);
  gateway.puppet.turn(calling('touch', { text: 'it' }));
  await accept('touch it');
  await reaches(wsId, 'approve_request');
  await call('workstream.approve', { wsId, approved: true, always: true });
  const { events } = await call('audit.list', {});
  const told = events.map(({ action, outcome, resourceType, resourceId, detail }) => [
    ...[action, ...(outcome === 'ok' ? [] : [outcome]), resourceType, resourceId, JSON.parse(detail)],
  ]);
  const approvalId = events.find(({ action }) => action === 'approval.resolve')?.resourceId;
  assert.deepEqual(told.toReversed(), [
    ['role.create', 'role', role.roleId, { name: 'talker', permissions: ['read'] }],
    ['user.create', 'user', userId, { username: 'ada', roles: ['builtin-viewer'] }],
    ['role.assign', 'user', userId, { roleId: role.roleId }],
    ['org.update', 'org', 'default', { changed: ['settings'] }],
    ['heartbeats.set', 'heartbeats', '', { enabled: false }],
    ['voicewake.set', 'voicewake', '', { triggers: ['hey'] }],
    ['workstream.allow', 'workstream', wsId, { autoApprove: true }],
    ['workstream.allow', 'workstream', wsId, { autoApprove: false }],
    ['workstream.allow', 'workstream', wsId, { readable: ['/usr'] }],
    ['workstream.allow', 'workstream', made.wsId, { autoApprove: false, autoApproveTools: ['touch'] }],
    ['workstream.allow', 'denied', 'workstream', wsId, { code: 'FORBIDDEN' }],
    ['approval.resolve', 'approval', approvalId, { approved: true, always: true }],
    ['workstream.allow', 'workstream', wsId, { autoApprove: true, approvalId }],
  ]);
});

test('calls of nobody in particular cannot fill the trail, and a logout that ended nothing is no event', async () => {
  await using gateway = await wholeGateway();
  const nobody = {
    ...{ principal: undefined, address: '1.2.3.4', signal: new AbortController().signal },
    ...{ interim: () => undefined, subscriptions: undefined },
  };
  for (let n = 0; n < 600; n += 1) await gateway.gateway.dispatch('auth.logout', {}, nobody);
  assert.equal((await gateway.call('audit.list', {})).total, 0);
  for (let n = 0; n < 600; n += 1)
    await Promise.resolve(gateway.gateway.dispatch('auth.login', { token: 'wrong' }, nobody)).catch((error: unknown) =>
      assert.ok(error instanceof GatewayError),
    );
  const { total } = await gateway.call('audit.list', {});
  assert.ok(total <= 301, `${total} records`);
});
