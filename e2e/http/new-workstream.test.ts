import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clusterEndpoints } from '../../protocol/http/cluster.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

/** Status and body of a POST below /v1/api. */
async function post(route: string, sent: unknown) {
  const { status, body } = await daemon.post(`/v1/api/${route}`, sent);
  return { status, body };
}

const open = async (): Promise<string[]> =>
  (await daemon.get('/v1/api/workstreams')).body.workstreams.map(({ ws_id }: { ws_id: string }) => ws_id);

test('a repeated name creates another workstream, and a lookup by that name lists both ids', async () => {
  const made = [];
  for (let n = 0; n < 3; n += 1) made.push((await post('workstreams/new', { name: 'notes' })).body);
  const ids = made.map(({ ws_id }) => ws_id);
  assert.equal(new Set(ids).size, 3);
  assert.deepEqual(
    made.map(({ name, resumed, message_count }) => [name, resumed, message_count]),
    Array.from({ length: 3 }, () => ['notes', false, 0]),
  );
  const { status, body } = await post('workstreams/new', { resume_ws: 'notes' });
  assert.equal(status, 409);
  for (const id of ids) assert.ok(body.error.includes(id), body.error);
  const resumed = await post('workstreams/new', { resume_ws: ids[1] });
  assert.deepEqual(resumed.body, { ws_id: ids[1], name: 'notes', resumed: true, message_count: 0 });
});

test('an alias is unique: /name refuses an alias in use, and an alias wins over an equal name', async () => {
  const [first, second] = [await post('workstreams/new', {}), await post('workstreams/new', { name: 'garden' })];
  const rename = async (wsId: string) => {
    await using stream = await daemon.sse(wsId);
    await stream.until('history');
    await post('command', { ws_id: wsId, command: '/name garden' });
    return (await stream.until(({ data }) => data.type === 'info' || data.type === 'error')).data.type;
  };
  assert.equal(await rename(first.body.ws_id), 'info');
  assert.equal(await rename(second.body.ws_id), 'error');
  const resumed = await post('workstreams/new', { resume_ws: 'garden' });
  assert.equal(resumed.body.ws_id, first.body.ws_id);
});

test('an invalid field of a new workstream is refused by name, and nothing is created', async () => {
  const before = await open();
  const refusals: [object, string][] = [
    [{ template: 'brief' }, 'Template not found: brief'],
    [{ ws_template: 'desk' }, 'Workstream template not found or disabled: desk'],
    [{ skill: 'sums' }, 'Skill not found or disabled: sums'],
    [{ skill: 'sums', resume_ws: 'nobody' }, 'Skill not found or disabled: sums'],
    [{ initial_message: 3 }, 'initial_message: must be a string, not a number'],
    [{ auto_approve_tools: { bash: true } }, 'auto_approve_tools: must be a list of names'],
    [{ notify_targets: [{ to: 'me' }] }, 'notify_targets: not supported; leave it out'],
    [{ resume_ws: 'ab' }, 'resume_ws: the beginning of an id has at least 3 characters'],
    [{ ws_id: 'x' }, 'ws_id: must have 32 digits from 0-9 and a-f'],
    [{ name: 'n'.repeat(129) }, 'name: must have at most 128 characters'],
    [{ name: 3 }, 'name: must be a string, not a number'],
  ];
  for (const [sent, error] of refusals)
    assert.deepEqual(await post('workstreams/new', sent), { status: 400, body: { error } });
  assert.deepEqual(await open(), before);
});

test('empty values of these fields, and a template next to resume_ws, count as absent', async () => {
  const unsaid = {
    template: '',
    ws_template: null,
    skill: '',
    judge_model: '',
    auto_approve_tools: [],
    kind: 'interactive',
  };
  const { status, body } = await post('workstreams/new', { ...unsaid, initial_message: '', client_type: 'web' });
  assert.equal(status, 200);
  const resumed = await post('workstreams/new', { resume_ws: body.ws_id, template: 'brief' });
  assert.deepEqual([resumed.status, resumed.body.resumed], [200, true]);
});

test('call_id and cycle_id identify the approval; a stale value answers 409 and decides nothing', async () => {
  await using talk = await openConversation(daemon);
  const { wsId } = talk;
  const stale = async (named: object, error: string) =>
    assert.deepEqual(await post('approve', { ws_id: wsId, approved: true, ...named }), {
      status: 409,
      body: { error },
    });
  await stale({ call_id: 'call_0' }, 'stale call_id');
  await stale({ cycle_id: 'apr-1' }, 'stale cycle_id');
  const ask = (id: string) => callTools({ name: 'bash', arguments: { command: `echo ${id} | tee ${id}` }, id });
  model.when('three questions', ask('one'), ask('two'), ask('three'), say('done'));
  const runId = (await post('send', { ws_id: wsId, message: 'three questions' })).body.run_id;
  const first = await talk.until('approve_request');
  await stale({ call_id: 'two' }, 'stale call_id');
  await stale({ cycle_id: 'other' }, 'stale cycle_id');
  await stale({ call_id: first.items[0]?.call_id, cycle_id: 'other' }, 'stale cycle_id');
  assert.equal((await talk.pending()).length, 1);
  const decide = { ws_id: wsId, approved: true };
  const byCall = { ...decide, call_id: first.items[0]?.call_id };
  assert.equal((await post('approve', byCall)).status, 200);
  const second = await talk.until('approve_request', ({ approval_id }) => approval_id !== first.approval_id);
  assert.equal((await post('approve', byCall)).status, 409);
  const byCycle = { ...decide, cycle_id: second.approval_id };
  assert.equal((await post('approve', byCycle)).status, 200);
  const seen = [first.approval_id, second.approval_id];
  const third = await talk.until('approve_request', ({ approval_id }) => !seen.includes(approval_id));
  assert.equal((await post('approve', byCycle)).status, 409);
  await post('approve', { ...decide, cycle_id: third.approval_id, call_id: '', approval_id: null });
  await talk.ended({ runId });
});

test('errors name the fields of the HTTP request, never WebSocket methods or params', async () => {
  const ws_id = (await open())[0];
  const long = 'x'.repeat(70_000);
  const wrong: [string, object][] = [
    ['send', { ws_id, message: 'hi', attachment_ids: Array.from({ length: 200 }, () => 'a') }],
    ['send', { ws_id, message: 'x'.repeat(900_000) }],
    ['approve', { ws_id, approved: true, feedback: long }],
    ['workstreams/new', { resume_ws: long }],
    ['workstreams/new', { model: long }],
    ['workstreams/new', { workdir: long }],
    ['command', { ws_id, command: long }],
    ['auth/login', { code: long }],
  ];
  for (const [route, sent] of wrong) {
    const { status, body } = await post(route, sent);
    if (status === 200) continue; // it has no such bound
    assert.doesNotMatch(
      body.error,
      /invalid .* params|\b(?:workstream|auth|approval|sessions)\.[a-z]|[a-z][A-Z]/,
      route,
    );
  }
  const { body } = await post('workstreams/new', { resume_ws: long });
  assert.equal(body.error, 'resume_ws: must have at most 128 characters');
});

test('`live` below `/v1/api/route` must show what a workstream does and its pending approval, and load nothing', async () => {
  const { node_id: nodeId } = (await daemon.get('/health')).body;
  const { ws_id: wsId } = (await post('workstreams/new', { name: 'lives' })).body;
  const live = async (id: string) => await daemon.get(`/v1/api/route/workstreams/${id}/live`);
  const { body: idle } = await live(wsId);
  assert.deepEqual(
    [idle.ws_id, idle.node_id, idle.live.state, idle.live.pending_approval],
    [wsId, nodeId, 'idle', null],
  );
  model.when('asks alive', callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_l' }), say('done'));
  await using stream = await daemon.sse(wsId);
  await post('send', { ws_id: wsId, message: 'asks alive' });
  const { data: asked } = await stream.until('approve_request');
  const { body: busy } = await live(wsId);
  clusterEndpoints.live.reply().parse(busy);
  assert.deepEqual(
    [busy.live.id, busy.live.state, busy.live.activity_state, busy.live.pending_approval.cycle_id],
    [wsId, 'attention', 'approval', asked.approval_id],
  );
  await post('approve', { ws_id: wsId, approved: false });
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  await post('workstreams/close', { ws_id: wsId });
  assert.deepEqual((await live(wsId)).body, { ws_id: wsId, node_id: nodeId, live: null });
  const { status, body } = await live('nobody');
  assert.deepEqual([status, body], [404, { error: 'Unknown workstream' }]);
});

test('`POST /v1/api/cluster/workstreams/new` must create a workstream on the named machine, and answer 404 `Node not found` for another', async () => {
  await using all = await daemon.sse('/v1/api/cluster/events');
  await all.until('snapshot');
  const { node_id: nodeId } = (await daemon.get('/health')).body;
  const place = (body: object) => post('cluster/workstreams/new', body);
  for (const node_id of [undefined, '', 'auto', 'pool', nodeId]) {
    const { status, body } = await place({ node_id, name: 'placed' });
    clusterEndpoints.create.reply().parse(body);
    assert.deepEqual([status, body.status, body.target_node, body.name], [200, 'ok', nodeId, 'placed']);
    const created = await all.until(({ data }) => data.type === 'ws_created' && data.ws_id === body.correlation_id);
    assert.equal(created.data.node_id, nodeId);
  }
  assert.deepEqual(await place({ node_id: 'other_0000' }), { status: 404, body: { error: 'Node not found' } });
});
