import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());
const operator = await openSocket(daemon);
after(() => operator.socket.close());

/** Characters that could control a terminal, fake a line or reorder text. */
const BAD: Record<string, string> = {
  ...{ escape: '\u001b[2J', bell: '\u0007', nul: '\0', return: '\r', delete: '\u007f' },
  ...{
    'next line (C1)': '\u0085',
    'CSI (C1)': '\u009b31m',
    override: '\u202e',
    isolate: '\u2066',
    separator: '\u2028',
  },
};
const LINE_BREAKS: Record<string, string> = { newline: '\n', tab: '\t' };

/** The answer on a new, unauthenticated socket. */
async function refusalOf(method: string, params: unknown): Promise<string> {
  const { ok, error } = await operator.request(method, params);
  return ok ? 'accepted' : `${error?.code}: ${error?.message}`;
}

const cron = (name: string) => ({
  ...{ name, sessionTarget: 'main', wakeMode: 'next-heartbeat' },
  ...{ schedule: { kind: 'at', atMs: 4e12 }, payload: { kind: 'systemEvent', text: 'x' } },
});
const NAMES: Record<string, [method: string, params: (name: string) => unknown]> = {
  'the name of a new workstream': ['workstream.create', (name) => ({ name })],
  'the name of a job': ['cron.add', cron],
  'a word that wakes': ['voicewake.set', (name) => ({ triggers: [name] })],
  'the name of a template': ['template.create', (name) => ({ name, content: 'x' })],
  'the name of a workstream template': ['wstemplate.create', (name) => ({ name })],
  'the name of a policy': ['policy.create', (name) => ({ name, toolPattern: '*', action: 'ask' })],
  'the name of a memory': ['memory.save', (name) => ({ name, content: 'x' })],
  'the name of a user': ['user.create', (displayName) => ({ username: 'u', displayName, password: 'correct horse' })],
  'the name of a role': ['role.create', (displayName) => ({ name: 'r', displayName, permissions: [] })],
  'a node’s new name': ['node.rename', (displayName) => ({ nodeId: 'n', displayName })],
  ...Object.fromEntries(
    ['host', 'ip', 'mode', 'version', 'platform', 'deviceFamily', 'modelIdentifier', 'reason', 'instanceId'].map(
      (field) => [`${field} of a system event`, ['system-event', (said: string) => ({ text: 'x', [field]: said })]],
    ),
  ),
  'a tag of a system event': ['system-event', (tag) => ({ text: 'x', tags: [tag] })],
};

test('control characters and direction overrides in texts for the agent are refused, except newline and tab', async () => {
  for (const [method, more] of [
    ['system-event', {}],
    ['wake', { mode: 'next-heartbeat' }],
  ] as const) {
    for (const [what, bad] of Object.entries(BAD)) {
      const told = await refusalOf(method, { ...more, text: `all is${bad} well` });
      assert.match(told, /^INVALID_REQUEST: .*text: must not contain control characters/, `${method} with ${what}`);
    }
    assert.equal(await refusalOf(method, { ...more, text: `two\nlines\tof ${method}` }), 'accepted');
  }
});

for (const [name, [method, params]] of Object.entries(NAMES))
  test(`${name} is one line without control characters`, async () => {
    for (const [what, bad] of Object.entries({ ...BAD, ...LINE_BREAKS })) {
      const told = await refusalOf(method, params(`a${bad}b`));
      assert.match(told, /^INVALID_REQUEST: .*must be one line/, what);
    }
  });

test('no interface can rename a workstream to such a name', async () => {
  const { body } = await daemon.post('/v1/api/workstreams/new', {});
  for (const bad of Object.values({ ...BAD, ...LINE_BREAKS })) {
    const name = `a${bad}b`;
    const made = await daemon.post('/v1/api/workstreams/new', { name });
    assert.deepEqual([made.status, /must be one line/.test(made.body.error)], [400, true]);
    assert.match(await refusalOf('workstream.update', { wsId: body.ws_id, name }), /^INVALID_REQUEST/);
    await daemon.post('/v1/api/command', { ws_id: body.ws_id, command: `/name ${name}` });
  }
  const { workstreams } = (await daemon.get('/v1/api/workstreams')).body;
  for (const one of workstreams) assert.match(one.name, /^ws-[0-9a-f]{4}$/);
});

test('the title derived from the first message has no control characters', async () => {
  const { body } = await daemon.post('/v1/api/workstreams/new', {});
  const stream = await daemon.sse(body.ws_id);
  await daemon.post('/v1/api/send', { ws_id: body.ws_id, message: 'say \u001b[31mhi\u202e there\u0085x\tyz\nmore' });
  await stream.until(({ data }) => data.type === 'ws_state' && data.run);
  const { snapshot } = (await operator.call('workstream.get', { wsId: body.ws_id })) as {
    snapshot: { workstream: { title: string } };
  };
  assert.equal(snapshot.workstream.title, 'say [31mhi there x yz');
});

test('the client description in connect is checked, so presence cannot be forged', async () => {
  for (const field of ['name', 'version', 'platform', 'mode', 'deviceFamily', 'modelIdentifier', 'instanceId'])
    for (const bad of [BAD.escape, BAD.override, LINE_BREAKS.newline]) {
      const socket = await openClient(daemon.wsUrl, {});
      const client = { ...CONNECT.client, [field]: `a${bad}b` };
      const { error } = await socket.request('connect', { ...CONNECT, client, auth: { token: daemon.token } });
      assert.match(error?.message ?? 'accepted', /must be one line/, field);
      await socket.closed;
    }
});

/** A machine that requests pairing with any description. */
async function stranger(nodeId: string) {
  const socket = await openClient(daemon.wsUrl, {});
  await socket.call('connect', { ...CONNECT, client: { ...CONNECT.client, mode: 'node', instanceId: nodeId } });
  return socket;
}

test('a machine cannot request pairing with such names', async () => {
  for (const bad of Object.values({ ...BAD, ...LINE_BREAKS })) {
    const node = await stranger('n'); // one address may ask at most 32 times
    const text = `a${bad}b`;
    for (const claim of [
      ...['displayName', 'platform', 'version', 'deviceFamily', 'modelIdentifier'].map((field) => ({ [field]: text })),
      ...[{ caps: [text] }, { commands: [text] }],
    ]) {
      const { error } = await node.request('node.pair.request', { nodeId: 'n', ...claim });
      assert.match(error?.message ?? 'accepted', /must be one line/, JSON.stringify(claim));
    }
    node.socket.close();
    await node.closed;
  }
  const { pending } = (await operator.call('node.pair.list', {})) as { pending: unknown[] };
  assert.deepEqual(pending, []);
});

test('a command counts as harmless only by its full name', async () => {
  const HARMLESS = ['system.info', 'file.read'];
  const OTHERS = [
    'python.read',
    'sudo.write',
    'bash.info',
    'read',
    'readFile',
    'file.read.sh',
    'FILE.READ',
    'system.info ',
  ];
  const asking = await stranger('lender');
  const commands = [...HARMLESS, ...OTHERS];
  const { request } = (await asking.call('node.pair.request', { nodeId: 'lender', commands })) as {
    request: { requestId: string };
  };
  const { node } = (await operator.call('node.pair.approve', { requestId: request.requestId })) as {
    node: { token: string };
  };
  asking.socket.close();
  const sent: string[] = [];
  const lender = createGatewayClient({
    url: daemon.wsUrl,
    token: node.token,
    client: { name: 'lender', version: '1', mode: 'node', instanceId: 'lender' },
  });
  after(() => lender.close());
  lender.on('node.invoke.request', ({ id, nodeId, command }) => {
    sent.push(command);
    void lender.call('node.invoke.result', { id, nodeId, ok: true, payload: null });
  });
  await lender.connect();
  for (const command of commands) {
    const idempotencyKey = crypto.randomUUID();
    const { ok, error } = await operator.request('node.invoke', { nodeId: 'lender', command, idempotencyKey });
    const { reason } = (error?.details ?? {}) as { reason?: string };
    if (HARMLESS.includes(command)) assert.equal(ok, true, command);
    else assert.match(reason ?? '', /^may run programs/, command);
  }
  assert.deepEqual(sent, HARMLESS);
});
