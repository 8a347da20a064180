import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { GATEWAY_EVENTS } from '../../protocol/events/gateway.ts';
import type { MethodName, ParamsInput, Result } from '../../protocol/index.ts';
import { Approval } from '../../protocol/methods/approval.ts';
import type { NodeInvokeRequest, NodePairing } from '../../protocol/methods/node.ts';
import { type CheckedClient, openChecked } from '../support/clients/checked-client.ts';
import { sampleConversation } from '../support/clients/sample-conversation.ts';
import { within } from '../support/deadline.ts';
import { namesUnder } from '../support/documented-names.ts';
import { callTools, fail, say } from '../support/model/scripted-steps.ts';
import { startProvider } from '../support/oidc/provider.ts';
import { answerOf, oidcEnvironment } from '../support/oidc/provider-login.ts';
import { accountCases } from './account-cases.ts';
import { backgroundCalls } from './background-calls.ts';
import { checkpointCalls } from './checkpoint-calls.ts';
import { clusterCalls } from './cluster-calls.ts';
import { cronCalls } from './cron-calls.ts';
import { eventCalls } from './event-calls.ts';
import { mcpCases } from './mcp-cases.ts';
import { memoryCalls } from './memory-calls.ts';
import { policyCases, secretsCases } from './policy-cases.ts';
import { queueCalls } from './queue-calls.ts';
import { scheduleCalls } from './schedule-calls.ts';
import { openStageWithSkills } from './skill-cases.ts';
import { takingBackCalls } from './taking-back-calls.ts';
import { templateCases } from './template-cases.ts';

// Uses everything in PROTOCOL.md. A new method or event there without a case here makes the test fail.

const provider = await startProvider();
const { model, daemon } = await openStageWithSkills({ env: oidcEnvironment(provider) });
await provider.serve(daemon.url);
after(() => provider[Symbol.asyncDispose]());
const clients: CheckedClient[] = [];

async function open(options?: Parameters<typeof openChecked>[1]): Promise<CheckedClient> {
  const client = await openChecked(daemon, options);
  clients.push(client);
  return client;
}

let operator = await open();
/** A client with fewer rights than the operator. */
await open({ token: (await operator.ask('token.create', { name: 'reader', scope: 'read' })).token });
after(() => {
  for (const { socket } of clients) socket.close();
});

/** Each case has its own operator: all calls together are more than one client may make in this time. */
async function changeOperator(): Promise<void> {
  operator.socket.close();
  operator = await open();
}

let keys = 0;
const key = () => `key-${++keys}`;
const call = <M extends MethodName>(method: M, params: ParamsInput<M>): Promise<Result<M>> =>
  operator.ask(method, params);
const newSession = async () => (await call('workstream.create', {})).wsId;

model.when('', say('hello'));
model.when('look around', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('nothing there'));
model.when('refuse it', fail(400));
model.when('change it', callTools({ name: 'bash', arguments: { command: 'touch it' } }), say('done'));

/** A pending approval in a new session. */
async function waitingApproval() {
  const wsId = await newSession();
  await call('chat.send', { sessionKey: wsId, message: 'change it', idempotencyKey: key() });
  const asked = operator.event('approval.requested', (payload) => Approval.parse(payload).wsId === wsId);
  const { payload } = await within(asked, 60_000, () => 'an approval');
  return { wsId, approvalId: Approval.parse(payload).approvalId };
}

/** A machine that requests pairing. */
async function asking(nodeId = `node-${key()}`) {
  const node = await open({ token: '', client: { mode: 'node', instanceId: nodeId } });
  const { request } = await node.ask('node.pair.request', { nodeId, commands: ['camera.snap'] });
  return { node, nodeId, requestId: request.requestId };
}

/** A paired, connected node. */
async function connected() {
  const { node, nodeId, requestId } = await asking();
  await call('node.pair.approve', { requestId });
  const { token } = (await node.event('node.pair.token')).payload as { token: string };
  node.socket.close();
  return { nodeId, token, node: await open({ token, client: { mode: 'node', instanceId: nodeId } }) };
}

/** Invokes a command, which the node answers. */
async function invoked() {
  const { node, nodeId } = await connected();
  const answer = call('node.invoke', { nodeId, command: 'camera.snap', params: { at: 1 }, idempotencyKey: key() });
  const request = (await node.event('node.invoke.request')).payload as NodeInvokeRequest;
  const told = await node.ask('node.invoke.result', { id: request.id, nodeId, ok: true, payload: { seen: 2 } });
  assert.deepEqual([JSON.parse(request.paramsJSON ?? ''), told], [{ at: 1 }, { ok: true }]);
  assert.deepEqual((await answer).payload, { seen: 2 });
}

/** A run that is cancelled while a node has its command. */
async function calledOff() {
  const { node, nodeId } = await connected();
  const wsId = await newSession();
  await call('workstream.update', { wsId, autoApprove: true });
  model.when(
    nodeId,
    callTools({ name: 'node', arguments: { action: 'invoke', node: nodeId, command: 'camera.snap' } }),
  );
  await call('chat.send', { sessionKey: wsId, message: nodeId, idempotencyKey: key() });
  const { id } = (await node.event('node.invoke.request')).payload as NodeInvokeRequest;
  await call('chat.abort', { sessionKey: wsId });
  assert.deepEqual((await node.event('node.invoke.cancel')).payload, { id, nodeId });
}

const nothing = <M extends MethodName>(method: M) => call(method, {} as ParamsInput<M>); // these want no params

/** A successful call of each method. */
const METHODS: Record<MethodName, () => Promise<unknown>> = {
  connect: () => open(),
  ...{ health: () => nothing('health'), 'health.history': () => nothing('health.history') },
  ...{ status: () => nothing('status'), 'system-presence': () => nothing('system-presence') },
  'system-event': () => call('system-event', { text: 'the door was opened', instanceId: 'door' }),
  wake: () => call('wake', { mode: 'now', text: 'it is late' }),
  'set-heartbeats': () => call('set-heartbeats', { enabled: true }),
  ...{ 'last-heartbeat': () => nothing('last-heartbeat'), 'voicewake.get': () => nothing('voicewake.get') },
  'voicewake.set': () => call('voicewake.set', { triggers: ['computer'] }),
  agent: () => call('agent', { message: 'hi', idempotencyKey: key() }),
  async 'agent.wait'() {
    const runId = key();
    await call('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: runId });
    assert.equal((await call('agent.wait', { runId, timeoutMs: 60_000 })).status, 'ok');
  },
  'chat.history': () => call('chat.history', { sessionKey: 'main', limit: 5 }),
  'chat.send': () => call('chat.send', { sessionKey: 'main', message: 'hi', idempotencyKey: key() }),
  'chat.abort': () => call('chat.abort', { sessionKey: 'main', runId: 'nobody' }),
  send: async () => call('send', { to: await newSession(), message: 'a note', idempotencyKey: key() }),
  'sessions.list': () => call('sessions.list', { limit: 10 }),
  'sessions.patch': () => call('sessions.patch', { key: 'main', thinkingLevel: 'low' }),
  'sessions.reset': async () => call('sessions.reset', { key: await newSession() }),
  'sessions.delete': async () => call('sessions.delete', { key: await newSession() }),
  'sessions.compact': () => call('sessions.compact', { key: 'main' }),
  'sessions.preview': () => call('sessions.preview', { keys: ['main', 'nobody'] }),
  'sessions.resolve': () => call('sessions.resolve', { key: 'main' }),
  'models.test': () => call('models.test', { model: 'demo' }),
  'workstream.dashboard': () => nothing('workstream.dashboard'),
  ...{ 'logs.tail': () => nothing('logs.tail'), 'config.get': () => nothing('config.get') },
  'config.schema': () => nothing('config.schema'),
  'config.set': () => call('config.set', { raw: '{ retentionDays: 29 }' }),
  async 'config.patch'() {
    await call('config.set', { raw: '{}' });
    const { hash: baseHash } = await nothing('config.get');
    await call('config.patch', { raw: '{ "retentionDays": 28 }', baseHash });
  },
  ...checkpointCalls({ call, key, model, home: daemon.home }),
  ...cronCalls({ call }),
  ...eventCalls({ open, newSession, call }),
  ...{ 'workstream.list': () => nothing('workstream.list'), 'models.list': () => nothing('models.list') },
  'workstream.saved': () => call('workstream.saved', { limit: 3 }),
  'workstream.create': () => newSession(),
  async 'workstream.retitle'() {
    const wsId = await newSession();
    await call('agent', { sessionKey: wsId, message: 'hello', idempotencyKey: key() });
    await call('workstream.retitle', { wsId });
  },
  'workstream.get': async () => call('workstream.get', { wsId: await newSession() }),
  'workstream.history': async () => call('workstream.history', { wsId: await newSession() }),
  async 'output.read'() {
    const [wsId, runId] = [await newSession(), key()];
    await call('agent', { sessionKey: wsId, message: 'look around', idempotencyKey: runId });
    const { messages } = await call('workstream.history', { wsId });
    const callId = messages.find(({ role }) => role === 'tool')?.call_id ?? '';
    await call('output.read', { wsId, callId });
  },
  'usage.get': async () => call('usage.get', { by: 'model' }),
  'budget.list': async () => call('budget.list', {}),
  'budget.set': async () => call('budget.set', { wsId: await newSession(), tokens: 1_000_000 }),
  'workstream.open': async () => call('workstream.open', { wsId: await newSession() }),
  'workstream.delete': async () => call('workstream.delete', { wsId: await newSession() }),
  'workstream.update': async () => call('workstream.update', { wsId: await newSession(), name: 'mine' }),
  'workstream.send': async () => call('workstream.send', { wsId: await newSession(), message: 'hi' }),
  async 'workstream.approve'() {
    const { wsId, approvalId } = await waitingApproval();
    await call('workstream.approve', { wsId, approvalId, approved: false, feedback: 'no' });
  },
  'plan.resolve': async () => call('plan.resolve', { wsId: await newSession(), feedback: '' }),
  'workstream.cancel': async () => call('workstream.cancel', { wsId: await newSession() }),
  ...takingBackCalls({ call, newSession, key }),
  'workstream.commands': async () => call('workstream.commands', { wsId: await newSession() }),
  ...queueCalls({ call, waitingApproval, key }),
  ...backgroundCalls({ call, newSession, model, key }),
  ...memoryCalls({ call, open, newSession, model, key }),
  ...scheduleCalls({ call }),
  ...clusterCalls({ call, newSession }),
  'workstream.command': async () => call('workstream.command', { wsId: await newSession(), command: '/help' }),
  'workstream.close': async () => call('workstream.close', { wsId: await newSession() }),
  'workstream.export': async () => {
    const { wsId } = await call('workstream.import', { conversation: sampleConversation() });
    return call('workstream.export', { wsId });
  },
  'workstream.import': () => call('workstream.import', { conversation: sampleConversation() }),
  ...{ 'approval.list': () => nothing('approval.list'), 'node.list': () => nothing('node.list') },
  async 'approval.resolve'() {
    const { approvalId } = await waitingApproval();
    await call('approval.resolve', { approvalId, approved: true });
  },
  'node.pair.request': () => asking(),
  'node.pair.list': () => nothing('node.pair.list'),
  'node.pair.approve': () => connected(),
  async 'node.pair.reject'() {
    const { node, requestId } = await asking();
    await call('node.pair.reject', { requestId });
    const { payload } = await node.event('node.pair.resolved');
    assert.equal((payload as NodePairing & { decision: string }).decision, 'rejected');
  },
  async 'node.pair.verify'() {
    const { nodeId, token } = await connected();
    assert.equal((await call('node.pair.verify', { nodeId, token })).ok, true);
  },
  'node.describe': async () => call('node.describe', { nodeId: (await connected()).nodeId }),
  'node.rename': async () => call('node.rename', { nodeId: (await connected()).nodeId, displayName: 'attic' }),
  'node.invoke': invoked,
  'node.invoke.result': invoked,
  async 'node.event'() {
    const { node } = await connected();
    await node.ask('node.event', { event: 'door', payload: { open: true } });
  },
  'node.token.rotate': async () => call('node.token.rotate', { nodeId: (await connected()).nodeId }),
  'node.token.revoke': async () => call('node.token.revoke', { nodeId: (await connected()).nodeId }),
  'auth.login': () => call('auth.login', { token: daemon.token }),
  ...{ 'auth.logout': () => nothing('auth.logout'), 'auth.status': () => nothing('auth.status') },
  'auth.link': () => nothing('auth.link'),
  'token.create': () => call('token.create', { name: 'one', scope: 'read' }),
  'token.list': () => nothing('token.list'),
  async 'token.revoke'() {
    const { tokenId } = await call('token.create', { name: 'two', scope: 'read' });
    await call('token.revoke', { tokenId });
  },
  ...accountCases({ call, open: (token) => open({ token }), key, answer: answerOf }),
  ...policyCases({ call }),
  ...mcpCases({ call, home: daemon.home, url: daemon.url }),
  'assessment.list': () => call('assessment.list', { limit: 1 }),
  ...secretsCases({ call }),
  'verdict.list': () => call('verdict.list', { limit: 1 }),
  ...templateCases({ call, key }),
};

test('every method of PROTOCOL.md has a case', async () => {
  assert.deepEqual(new Set(Object.keys(METHODS)), await namesUnder('Methods'));
});

for (const [method, use] of Object.entries(METHODS)) {
  test(`${method} is answered as its row in PROTOCOL.md says`, async () => {
    await changeOperator();
    await within(use(), 60_000, () => method);
    for (const client of clients) client.check();
  });
}

test('a node is notified when the run that requested its command is cancelled', async () => {
  await within(calledOff(), 60_000, () => 'the cancel');
});

test('every event of PROTOCOL.md reaches an authorized client as its row says', async () => {
  const names = await namesUnder('Events');
  assert.deepEqual(names, new Set(Object.keys(GATEWAY_EVENTS)));
  await model.close();
  // Enough failures that the daemon reports them in its health.
  for (let n = 0; n < 5; n += 1)
    await call('chat.send', { sessionKey: await newSession(), message: 'anybody?', idempotencyKey: key() });
  await within(Promise.all([operator.event('health'), operator.event('tick')]), 60_000, () => 'a tick');
  await daemon.stop();
  await Promise.all(clients.map(({ closed }) => closed));
  for (const client of clients) client.check();
  const heard = new Set(clients.flatMap((client) => client.events().map(({ event }) => event)));
  assert.deepEqual(heard, names);
  for (const client of clients) {
    const seqs = client.events().flatMap(({ seq }) => seq ?? []);
    assert.deepEqual(
      seqs,
      seqs.map((_, index) => (seqs[0] ?? 0) + index),
      'a gap in the numbers without a lost event',
    );
  }
});
