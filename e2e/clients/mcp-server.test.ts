import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { newUser, PASSWORD } from '../support/clients/accounts.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

interface ConnectOptions {
  token?: string;
  mode?: 'legacy' | 'auto';
}

async function connect({ token = daemon.token, mode = 'auto' }: ConnectOptions = {}) {
  const client = new Client({ name: 'e2e', version: '1' }, { capabilities: {}, versionNegotiation: { mode } });
  const requestInit = { headers: { Authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', daemon.url), { requestInit }));
  return {
    client,
    /** The data of an answer, after the remark that it is data. */
    async use(name: string, given: Record<string, unknown> = {}) {
      const { content, isError } = await client.callTool({ name, arguments: given });
      const texts = content.map((part) => (part.type === 'text' ? part.text : ''));
      return isError === true ? { error: texts[0] } : JSON.parse(texts[1] ?? '');
    },
    [Symbol.asyncDispose]: () => client.close(),
  };
}

for (const mode of ['legacy', 'auto'] as const)
  test(`a client of the ${mode === 'auto' ? 'newest' : 'earlier'} revision works with a conversation and its approvals`, async () => {
    await using mcp = await connect({ mode });
    assert.equal(mcp.client.getServerVersion()?.name, 'headgate');
    model.when(
      `over ${mode}`,
      callTools({ name: 'bash', arguments: { command: `touch ${mode}` } }),
      say('It is done.'),
    );
    const { ws_id } = await mcp.use('create_workstream', { name: `mcp ${mode}` });
    const { run_id } = await mcp.use('send_message', {
      ws_id,
      message: `over ${mode}`,
      idempotency_key: `key ${mode}`,
    });
    assert.equal(
      (await mcp.use('send_message', { ws_id, message: `over ${mode}`, idempotency_key: `key ${mode}` })).run_id,
      run_id,
    );
    let waited = { status: 'running', approvals_waiting: 0 };
    while (waited.approvals_waiting === 0) waited = await mcp.use('wait_for_run', { ws_id, run_id, seconds: 1 });
    const { approvals } = await mcp.use('list_approvals', { ws_id });
    assert.deepEqual([approvals.length, approvals[0].calls[0].tool], [1, 'bash']);
    const approval_id = approvals[0].approval_id;
    assert.deepEqual(await mcp.use('decide_approval', { approval_id, approved: true }), { decided: true });
    assert.deepEqual(await mcp.use('wait_for_run', { ws_id, run_id }), { status: 'ok', answer: 'It is done.' });
    model.when(`again over ${mode}`, say('Another answer.'));
    const { run_id: second } = await mcp.use('send_message', { ws_id, message: `again over ${mode}` });
    const both = [
      await mcp.use('wait_for_run', { ws_id, run_id: second }),
      await mcp.use('wait_for_run', { ws_id, run_id }),
    ];
    assert.deepEqual(
      both.map(({ answer }) => answer),
      ['Another answer.', 'It is done.'],
    );
    const { messages } = await mcp.use('read_workstream', { ws_id });
    assert.deepEqual(
      messages.map(({ role }: { role: string }) => role),
      ['user', 'assistant', 'tool', 'assistant', 'user', 'assistant'],
    );
    assert.match((await mcp.use('decide_approval', { approval_id, approved: true })).error, /^(CONFLICT|NOT_FOUND): /);
    assert.deepEqual((await mcp.use('stop_run', { ws_id })).was_running, false);
    assert.deepEqual(await mcp.use('close_workstream', { ws_id }), { closed: true });
    const { workstreams } = await mcp.use('find_conversations', { search: `mcp ${mode}` });
    assert.deepEqual([workstreams.length, workstreams[0].open], [1, false]);
  });

test('the newest revision is spoken with clients that know it', async () => {
  await using mcp = await connect({ mode: 'auto' });
  assert.equal(mcp.client.getNegotiatedProtocolVersion(), '2026-07-28');
});

test('a wrong token is refused, and a token sees and reaches only what its scope allows', async () => {
  await assert.rejects(connect({ token: 'wrong' }));
  const operator = await daemon.client();
  const { token } = await operator.call('token.create', { name: 'mcp read', scope: 'read' });
  await using reader = await connect({ token });
  const { tools } = await reader.client.listTools();
  assert.deepEqual(
    tools.map(({ name }) => name),
    ['list_workstreams', 'find_conversations', 'read_workstream'],
  );
  await assert.rejects(reader.use('send_message', { ws_id: 'main', message: 'x' }), /send_message/);
});

test('a second user neither sees nor reaches the private workstreams of the first', async () => {
  const operator = await daemon.client();
  const { wsId } = await operator.call('workstream.create', { name: 'secret', visibility: 'private' });
  const { username } = await newUser(daemon, ['builtin-operator']);
  const { jwt } = await operator.call('auth.login', { username, password: PASSWORD });
  await using stranger = await connect({ token: jwt });
  const { workstreams } = await stranger.use('list_workstreams');
  assert.equal(JSON.stringify(workstreams).includes(wsId), false);
  for (const tool of ['read_workstream', 'stop_run', 'close_workstream'])
    assert.match((await stranger.use(tool, { ws_id: wsId })).error, /^NOT_FOUND: /, tool);
});

test('a client that leaves ends its wait, and the daemon stops while another waits', async () => {
  await using mcp = await connect();
  model.when('hold on', callTools({ name: 'bash', arguments: { command: 'touch held' } }), say('x'));
  const { ws_id } = await mcp.use('create_workstream', {});
  const { run_id } = await mcp.use('send_message', { ws_id, message: 'hold on' });
  const left = new AbortController();
  const given = { name: 'wait_for_run', arguments: { ws_id, run_id, seconds: 50 } };
  const waiting = mcp.client.callTool(given, { signal: left.signal });
  left.abort(new Error('enough'));
  await assert.rejects(waiting, /enough/);
  const waited = mcp.client.callTool(given).catch(() => 'broken off');
  await mcp.use('list_workstreams');
  assert.deepEqual((await daemon.stop()).code, 0);
  await waited;
});
