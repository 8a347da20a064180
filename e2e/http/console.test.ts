import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { CLUSTER_EVENTS } from '../../protocol/events/cluster.ts';
import { clusterEndpoints } from '../../protocol/http/cluster.ts';
import { readBody } from '../support/clients/read-body.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const { node_id: nodeId } = (await daemon.get('/health')).body;
const NODE = `/node/${nodeId}`;

async function ask(method: string, route: string, sent?: object) {
  const headers = { 'Content-Type': 'application/json' };
  const answer = await daemon.fetch(route, { method, headers, ...(sent && { body: JSON.stringify(sent) }) });
  return { status: answer.status, body: await readBody(answer) };
}

const create = async (name: string) => String((await ask('POST', '/v1/api/workstreams/new', { name })).body.ws_id);

/** A request exactly as given, and the whole answer. Nothing on the way changes its path. */
async function raw(line: string, headers: Record<string, string> = {}): Promise<{ status: number; answer: string }> {
  const socket = connect(daemon.port, '127.0.0.1');
  await once(socket, 'connect');
  const all = { Host: `127.0.0.1:${daemon.port}`, Connection: 'close', 'X-Request-Id': 'raw', ...headers };
  socket.write(
    `${line} HTTP/1.1\r\n${Object.entries(all)
      .map(([name, value]) => `${name}: ${value}\r\n`)
      .join('')}\r\n`,
  );
  const answer = await text(socket);
  return { status: Number(answer.split(' ')[1]), answer };
}

const bearer = { Authorization: `Bearer ${daemon.token}` };

test('Every path must also be served below `/node/{node_id}`, with the same answer', async () => {
  const wsId = await create('prefixed');
  const paths = ['/v1/api/workstreams', `/v1/api/workstreams/${wsId}`, '/v1/api/admin/settings', '/v1/api/auth/status'];
  for (const path of [...paths, '/v1/api/workstreams/nobody', '/v1/api/workstreams/saved?limit=0', '/v1/nowhere']) {
    const init = { headers: { 'X-Request-Id': 'same' } };
    const [plain, prefixed] = [await daemon.fetch(path, init), await daemon.fetch(`${NODE}${path}`, init)];
    assert.deepEqual([path, prefixed.status, await prefixed.text()], [path, plain.status, await plain.text()]);
  }
  for (const path of ['', '/']) {
    const page = await daemon.fetch(`${NODE}${path}`);
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
  }
  assert.equal((await daemon.get(`${NODE}/health`)).body.node_id, nodeId);
  model.when('through the prefix', say('came through'));
  await using stream = await daemon.sse(`${NODE}/v1/api/events?ws_id=${wsId}`);
  const { body } = await ask('POST', `${NODE}/v1/api/send`, { ws_id: wsId, message: 'through the prefix' });
  assert.equal((await stream.until('user_turn')).data.run_id, body.run_id);
  assert.equal((await stream.until('content')).data.text, 'came through');
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
});

test('An unknown node must answer 404 `Node not found`, and an invalid id 400 `Invalid node ID`', async () => {
  for (const [method, path] of [
    ...['GET', 'POST', 'PUT', 'DELETE'].map((verb) => [verb, '/v1/api/send'] as const),
    ['GET', '/health'],
    ['GET', ''],
  ] as const)
    assert.deepEqual(await ask(method, `/node/other_0000${path}`), { status: 404, body: { error: 'Node not found' } });
  const invalid = { status: 400, body: { error: 'Invalid node ID' } };
  for (const id of ['.hidden', '-x', 'a%20b', 'a%2Fb', '%00', 'ä', 'x'.repeat(256)]) {
    assert.deepEqual([id, await ask('GET', `/node/${id}/v1/api/workstreams`)], [id, invalid]);
    assert.deepEqual([id, await ask('GET', `/v1/api/cluster/node/${id}`)], [id, invalid]);
  }
  const unknown = await ask('GET', '/v1/api/cluster/node/other_0000');
  assert.deepEqual(unknown, { status: 404, body: { error: 'Node not found' } });
});

test('No form of a path below `/node` must pass a check that the plain path does not pass', async () => {
  const secret = '/v1/api/admin/settings';
  const forms = [
    ...[`${NODE}${NODE}${secret}`, `${NODE}/node/${nodeId}${secret}`, `${NODE}/${secret}`, `${NODE}//v1/api/send`],
    ...[`${NODE}%2Fv1/api/admin/settings`, `${NODE}/v1%2Fapi/admin/settings`, `${NODE}/%2e%2e${secret}`],
    ...[`${NODE}/..${secret}`, `${NODE}/.${secret}`, `/node/..${secret}`, `/node/%2e%2e${secret}`, `/node//${secret}`],
    ...[`/node/./${nodeId}${secret}`, `/node/x/../${nodeId}${secret}`, `/NODE/${nodeId}${secret}`],
    ...[`//node/${nodeId}${secret}`, `/node/${nodeId}\\v1\\api\\admin\\settings`, `/node/${nodeId};${secret}`],
    ...[`/node/${nodeId}?${secret}`, `/node/${nodeId}/health/..${secret}`, `/node/${nodeId}/metrics${secret}`],
    ...[`/v1/api/route/admin/settings`, `/v1/api/route/../admin/settings`, `/v1/api/route/route/send`],
    ...[`/v1/api/route/workstreams/../admin/settings`, `/v1/api/route%2Fsend`, `/v1/api/route//send`],
  ];
  for (const form of forms)
    for (const headers of [{}, { ...bearer, Origin: 'http://evil.test' }]) {
      const { status, answer } = await raw(`GET ${form}`, headers);
      assert.ok(status >= 200 && status < 500, `${form} ${status}`);
      assert.doesNotMatch(answer, /"settings":\[/, form);
    }
  const plain = await raw(`GET ${secret}`, bearer);
  assert.match((await raw(`GET ${NODE}${secret}`, bearer)).answer, /"settings":\[/);
  assert.equal(plain.status, 200);
});

/** Callers of the test below whom a method does not refuse. */
const SPARED: Record<string, string[]> = { GET: ['weak', 'foreign', 'noPreflight', 'large'], DELETE: ['large'] };

const bodyOf = (answer: string) => answer.slice(answer.indexOf('\r\n\r\n'));

/** The first path is refused, and the others are refused in the same way. */
async function checkAlike(method: string, [plain = '', ...others]: string[], headers: Record<string, string>) {
  const expected = await raw(`${method} ${plain}`, headers);
  assert.ok(expected.status >= 400, `${method} ${plain} ${expected.answer}`);
  for (const path of others) {
    const { status, answer } = await raw(`${method} ${path}`, headers);
    assert.deepEqual([path, status, bodyOf(answer)], [path, expected.status, bodyOf(expected.answer)]);
  }
}

test('Below `/node` and `/v1/api/route`, credentials, scopes, origins, hosts and sizes must be checked as on the plain paths', async () => {
  const wsId = await create('guarded');
  const { body: reader } = await ask('POST', '/v1/api/auth/login', { token: daemon.token });
  assert.equal(reader.status, 'ok');
  const client = await daemon.client();
  const { token: weak } = await client.call('token.create', { name: 'weak', scope: 'read' });
  client.close();
  const length = { 'Content-Length': '0' };
  const targets: [method: string, plain: string, ...others: string[]][] = [
    ['GET', '/v1/api/workstreams', `${NODE}/v1/api/workstreams`],
    ['GET', '/v1/api/admin/settings', `${NODE}/v1/api/admin/settings`],
    ['POST', '/v1/api/send', `${NODE}/v1/api/send`, '/v1/api/route/send', `${NODE}/v1/api/route/send`],
    ['POST', `/v1/api/workstreams/${wsId}/approve`, `/v1/api/route/workstreams/${wsId}/approve`],
    [
      'DELETE',
      `/v1/api/workstreams/${wsId}`,
      `${NODE}/v1/api/workstreams/${wsId}`,
      `/v1/api/route/workstreams/${wsId}`,
    ],
    ['GET', '/v1/api/events/global', `${NODE}/v1/api/events/global`, '/v1/api/cluster/events'],
  ];
  const callers: Record<string, Record<string, string>> = {
    nobody: {},
    weak: { Authorization: `Bearer ${weak}` },
    wrong: { Authorization: 'Bearer wrong', Cookie: `service_auth=${reader.jwt}` },
    foreign: { ...bearer, Origin: 'http://evil.test' },
    crossSite: { Cookie: `service_auth=${reader.jwt}`, 'Sec-Fetch-Site': 'cross-site' },
    noPreflight: { Cookie: `service_auth=${reader.jwt}`, 'Content-Type': 'text/plain' },
    unknownHost: { ...bearer, Host: 'evil.test' },
    large: { ...bearer, 'Content-Length': String(2 * 1024 * 1024) },
  };
  for (const [method, plain, ...others] of targets)
    for (const [name, headers] of Object.entries(callers)) {
      if (SPARED[method]?.includes(name)) continue; // may do this, or has nothing to be checked
      await checkAlike(method, [plain, ...others], method === 'GET' ? headers : { ...length, ...headers });
    }
  assert.equal((await ask('GET', `/v1/api/workstreams/${wsId}`)).status, 200);
  for (const path of [`${NODE}/v1/api/send`, '/v1/api/route/send', '/node/other_0000/x']) {
    const { status, answer } = await raw(`OPTIONS ${path}`);
    assert.equal(status, 200);
    assert.match(answer, /Access-Control-Allow-Methods: GET, POST, OPTIONS\r\n/);
  }
  assert.equal((await raw('GET /node/other_0000/health')).status, 401);
});

test('`/v1/api/route` must name the machine of a workstream, and serve the paths of single workstreams', async () => {
  const here = { node_url: daemon.url.replace(/\/$/, ''), node_id: nodeId };
  const { body: made } = await ask('POST', '/v1/api/route/workstreams/new', { name: 'routed', target_node: nodeId });
  const { ws_id: wsId, ...rest } = made;
  assert.deepEqual(rest, {
    name: 'routed',
    resumed: false,
    message_count: 0,
    ...here,
    routing_strategy: 'target_node',
  });
  assert.equal((await ask('POST', '/v1/api/route/workstreams/new', {})).body.routing_strategy, 'rendezvous');
  const elsewhere = await ask('POST', '/v1/api/route/workstreams/new', { target_node: 'other_0000' });
  assert.deepEqual(elsewhere, { status: 404, body: { error: 'Node not found' } });
  assert.deepEqual(await ask('GET', `/v1/api/route?ws_id=${wsId}`), { status: 200, body: here });
  const unknown = { status: 404, body: { error: 'Unknown workstream' } };
  assert.deepEqual(await ask('GET', '/v1/api/route?ws_id=nobody'), unknown);
  assert.deepEqual(await ask('GET', '/v1/api/route'), unknown);
  const line = `/v1/api/route/workstreams/${wsId}`;
  const hold = stall();
  model.when('goes by route', [hold, say('arrived')]);
  await using stream = await daemon.sse(`${line}/events`);
  assert.equal((await ask('POST', `${line}/send`, { message: 'goes by route' })).body.status, 'ok');
  const { body: queued } = await ask('POST', `${line}/send`, { message: 'waits by route' });
  assert.equal(queued.status, 'queued');
  assert.deepEqual((await ask('DELETE', `${line}/send`, { msg_id: queued.msg_id })).body, { status: 'removed' });
  assert.deepEqual((await ask('POST', '/v1/api/route/send', { ws_id: wsId, message: 'x' })).body, { status: 'busy' });
  hold.release();
  assert.equal((await stream.until('content')).data.text, 'arrived');
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  assert.equal((await ask('POST', '/v1/api/route/cancel', { ws_id: wsId })).body.status, 'ok');
  assert.equal((await ask('POST', '/v1/api/route/command', { ws_id: wsId, command: '/help' })).body.status, 'ok');
  assert.equal((await ask('POST', `${line}/rewind`, { turns: 1 })).body.taken, 2);
  assert.deepEqual((await ask('GET', `${line}/attachments`)).body, { attachments: [] });
  assert.equal((await ask('POST', `${line}/close`, {})).body.status, 'ok');
  assert.deepEqual((await ask('GET', `/v1/api/route?ws_id=${wsId}`)).body, here);
  const stays = await ask('POST', '/v1/api/route/workstreams/move', { ws_id: wsId, target_node: here.node_id });
  assert.deepEqual(stays, { status: 200, body: { status: 'ok', ...here, moved: false } });
  const deleted = await ask('POST', '/v1/api/route/workstreams/delete', { ws_id: wsId });
  assert.deepEqual(deleted, { status: 200, body: { status: 'ok', deleted: wsId } });
  assert.deepEqual(await ask('GET', `/v1/api/route?ws_id=${wsId}`), unknown);
});

test('The views of the cluster must show the machine and its loaded workstreams', async () => {
  const [busy, calm] = [await create('zz busy'), await create('zz calm')];
  model.when(
    'asks the cluster',
    callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_c' }),
    say('done'),
  );
  await using stream = await daemon.sse(busy);
  await ask('POST', '/v1/api/send', { ws_id: busy, message: 'asks the cluster' });
  await stream.until('approve_request');
  const get = async (view: string) => (await ask('GET', `/v1/api/cluster/${view}`)).body;
  const { body: list } = await ask('GET', '/v1/api/workstreams');
  const count = list.workstreams.length;

  const overview = clusterEndpoints.overview.reply().parse(await get('overview'));
  assert.deepEqual(
    [overview.nodes, overview.workstreams, overview.states.attention, overview.version_drift],
    [1, count, 1, false],
  );
  const { nodes, total } = clusterEndpoints.nodes.reply().parse(await get('nodes?sort=activity&limit=10'));
  const [node] = nodes;
  assert.deepEqual(
    [total, node?.node_id, node?.ws_total, node?.ws_attention, node?.reachable],
    [1, nodeId, count, 1, true],
  );
  assert.ok(Date.parse(node?.started ?? '') > 0 && node?.version === overview.versions[0]);
  assert.deepEqual((await get('nodes?offset=1')).nodes, []);

  const found = clusterEndpoints.workstreams.reply().parse(await get('workstreams?search=ZZ%20&per_page=1'));
  assert.deepEqual([found.total, found.pages, found.workstreams.map(({ id }) => id)], [2, 2, [busy]]);
  const [row] = found.workstreams;
  assert.deepEqual(
    [row?.node, row?.state, row?.activity_state, row?.title],
    [nodeId, 'attention', 'approval', 'asks the cluster'],
  );
  const second = await get('workstreams?search=zz&per_page=1&page=2');
  assert.deepEqual(
    second.workstreams.map(({ id }: { id: string }) => id),
    [calm],
  );
  for (const [query, size] of Object.entries({
    'state=attention': 1,
    [`node=${nodeId}`]: count,
    'node=other_0000': 0,
    'search=%25': 0,
  }))
    assert.deepEqual([query, (await get(`workstreams?${query}&per_page=200`)).total], [query, size]);
  for (const query of ['state=asleep', 'page=0', 'per_page=201', 'sort=age'])
    assert.equal((await ask('GET', `/v1/api/cluster/workstreams?${query}`)).status, 400, query);

  const detail = clusterEndpoints.node.reply().parse(await get(`node/${nodeId}`));
  assert.deepEqual([detail.node_id, detail.workstreams.length], [nodeId, count]);
  const snapshot = clusterEndpoints.snapshot.reply().parse(await get('snapshot'));
  assert.deepEqual([snapshot.overview.workstreams, snapshot.nodes[0]?.workstreams.length], [count, count]);
  await ask('POST', '/v1/api/approve', { ws_id: busy, approved: true });
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  const after = (await get('workstreams?search=zz%20busy')).workstreams[0];
  assert.deepEqual([after.state, after.activity, after.tool_calls, after.tokens > 0], ['idle', '', 1, true]);
});

test('The stream of the cluster must begin with a snapshot and then report what changes', async () => {
  await using stream = await daemon.sse('/v1/api/cluster/events');
  const snapshot = await stream.until('snapshot');
  clusterEndpoints.snapshot.reply().parse(snapshot.data);
  assert.deepEqual([stream.frames[0], snapshot.data.nodes[0].node_id], [snapshot, nodeId]);
  const wsId = await create('seen by all');
  model.when('hello, cluster', say('hello'));
  await ask('POST', '/v1/api/send', { ws_id: wsId, message: 'hello, cluster' });
  const isIdleAgain = ({ data }: { data: { type: string; ws_id: string; state: string; tokens: number } }) =>
    data.type === 'cluster_state' && data.ws_id === wsId && data.state === 'idle' && data.tokens > 0;
  await stream.until(isIdleAgain);
  await ask('POST', `/v1/api/workstreams/${wsId}/title`, { title: 'renamed for all' });
  await ask('POST', '/v1/api/workstreams/close', { ws_id: wsId });
  await stream.until('ws_closed');
  const told = stream.frames.slice(1).filter(({ data }) => data.ws_id === wsId);
  for (const { id, data } of told) {
    assert.deepEqual([id, data.node_id], [undefined, nodeId]);
    CLUSTER_EVENTS[data.type as keyof typeof CLUSTER_EVENTS].parse(data);
  }
  assert.deepEqual(
    told.map(({ data }) => data.name ?? data.state),
    ['seen by all', 'idle', 'thinking', 'idle', 'renamed for all', 'renamed for all'],
  );
});
