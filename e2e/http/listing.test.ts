import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const get = async (route: string) => (await daemon.get(`/v1/api/${route}`)).body;
const post = async (route: string, sent: unknown) => {
  const { status, body } = await daemon.post(`/v1/api/${route}`, sent);
  return { status, body };
};
interface Row {
  ws_id: string;
  [field: string]: unknown;
}
const rowOf = (rows: Row[], wsId: string): Row =>
  rows.find(({ ws_id }) => ws_id === wsId) ?? assert.fail(`${wsId} is not listed`);

/** A run of one message, to its end. */
async function answered(talk: Awaited<ReturnType<typeof openConversation>>, message: string, answer: string) {
  model.when(message, say(answer));
  await (await talk.ask(message)).answer;
}

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;

test('The lists and the detail of workstreams must have the fields of later releases', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'what lists show', 'this');
  const { name } = await get(`workstreams/${talk.wsId}`);
  const common = { ws_id: talk.wsId, name, title: 'what lists show', kind: 'interactive', model_alias: 'default' };
  const open = rowOf((await get('workstreams')).workstreams, talk.wsId);
  const { model_alias } = open;
  const { created, updated, ...listed } = open;
  const none = { parent_ws_id: null, project_id: null, user_id: '', visibility: 'shared' };
  assert.deepEqual(listed, { ...common, ...none, id: talk.wsId, state: 'idle', model_alias, message_count: 2 });
  assert.match(`${created} ${updated}`, ISO);
  await post('workstreams/close', { ws_id: talk.wsId });
  const saved = rowOf((await get('workstreams/saved')).workstreams, talk.wsId);
  const { context_tokens, context_ratio, created: _c, updated: _u, ...rest } = saved;
  const { node_id } = await (await daemon.fetch('/health')).json();
  assert.deepEqual(rest, {
    ...{ ...common, ...none, model_alias, alias: null, state: 'idle', loaded: false },
    ...{ message_count: 2, node_id, child_count: 0 },
  });
  assert.ok(
    Number(context_tokens) > 0 && Number(context_ratio) >= 0 && Number(context_ratio) < 1,
    `${context_tokens} ${context_ratio}`,
  );
});

test('The dashboard must show what every loaded workstream does, and what it has used', async () => {
  await using talk = await openConversation(daemon, { name: 'shown' });
  const rowNow = async () => rowOf((await get('dashboard')).workstreams, talk.wsId);
  const before = await rowNow();
  const shown = [before.tokens, before.tool_calls, before.activity, before.activity_state];
  assert.deepEqual(shown, [0, 0, '', 'idle']);
  model.when(
    'asks on the dashboard',
    callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_a' }),
    say('done'),
  );
  const question = await talk.ask('asks on the dashboard');
  const { approval_id: approvalId } = await talk.until('approve_request');
  const asking = await rowNow();
  assert.deepEqual([asking.state, asking.activity_state], ['attention', 'approval']);
  assert.match(String(asking.activity), /touch it/);
  assert.equal((await get('dashboard')).aggregate.active_count, 1);
  await talk.decide(approvalId, { approved: true });
  await question.answer;
  const hold = stall();
  model.when('thinks on the dashboard', [hold, say('thought')]);
  const second = await talk.ask('thinks on the dashboard');
  await talk.until('thinking_start', () => model.requests.length > 2);
  assert.equal((await rowNow()).activity_state, 'thinking');
  hold.release();
  await second.answer;
  const { workstreams, aggregate } = await get('dashboard');
  const row = rowOf(workstreams, talk.wsId);
  const { node, model: _model, model_alias, context_ratio, tokens, title, ...rest } = row;
  const same = { id: talk.wsId, ws_id: talk.wsId, name: 'shown', state: 'idle' };
  assert.deepEqual(rest, { ...same, activity: '', activity_state: 'idle', tool_calls: 1 });
  assert.ok(
    Number(tokens) > 0 && Number(context_ratio) >= 0 && title === 'asks on the dashboard' && model_alias !== '',
  );
  const sum = (key: string) => workstreams.reduce((total: number, each: Row) => total + Number(each[key]), 0);
  const { uptime_seconds, ...sums } = aggregate;
  const counts = { total_count: workstreams.length, active_count: 0, node };
  assert.deepEqual(sums, { total_tokens: sum('tokens'), total_tool_calls: sum('tool_calls'), ...counts });
  assert.ok(uptime_seconds > 0);
  await daemon.restart();
  assert.equal((await rowNow()).tool_calls, 1, 'the count survives a restart');
  await talk.reconnect();
});

test('`resume_ws` must find a workstream by its alias, its id or the beginning of its id, and answer 409 with the ids if several match', async () => {
  const ids = ['abc0', 'abc1'].map((start) => start.padEnd(32, '7'));
  for (const ws_id of ids) assert.equal((await post('workstreams/new', { ws_id })).status, 200);
  await post('command', { ws_id: ids[0], command: '/name first-one' });
  for (const resume_ws of ['first-one', ids[0], 'abc0', 'ws-abc0'])
    assert.deepEqual([resume_ws, (await post('workstreams/new', { resume_ws })).body.ws_id], [resume_ws, ids[0]]);
  const { status, body } = await post('workstreams/new', { resume_ws: 'abc' });
  assert.equal(status, 409);
  for (const id of ids) assert.ok(body.error.includes(id), body.error);
});

test('`?history=N` must limit the first `history` of a stream to the last N messages', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'bounded one', 'answer one');
  await answered(talk, 'bounded two', 'answer two');
  const shown = async (route: string) => {
    await using stream = await daemon.sse(route);
    const { data } = await stream.until('history');
    return [data.messages.map(({ content }: { content: string }) => content), data.truncated ?? false];
  };
  const all = ['bounded one', 'answer one', 'bounded two', 'answer two'];
  for (const route of [`/v1/api/events?ws_id=${talk.wsId}&`, `/v1/api/workstreams/${talk.wsId}/events?`]) {
    assert.deepEqual(await shown(`${route}history=3`), [all.slice(1), true]);
    assert.deepEqual(await shown(`${route}history=0`), [[], true]);
    assert.deepEqual(await shown(`${route}history=4`), [all, false]);
    assert.deepEqual(await shown(route), [all, false]);
    for (const odd of ['2001', '-1', 'many', '1.5']) {
      const { status } = await daemon.fetch(`${route}history=${odd}`);
      assert.deepEqual([odd, status], [odd, 400]);
    }
  }
});

test('`?last_event_id=` must continue a stream on both paths, as the header with `resume=1` does', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'before the id', 'one');
  const { cursor, handoff_token } = await get(`workstreams/${talk.wsId}/history`);
  assert.equal(handoff_token, cursor);
  await answered(talk, 'after the id', 'two');
  for (const route of [`/v1/api/events?ws_id=${talk.wsId}&`, `/v1/api/workstreams/${talk.wsId}/events?`])
    for (const name of ['last_event_id', 'history_token']) {
      await using stream = await daemon.sse(`${route}${name}=${cursor}`);
      const turn = await stream.until('user_turn');
      await stream.until('content');
      assert.deepEqual(new Set(stream.frames.map(({ data }) => data.ws_id)), new Set([talk.wsId]));
      assert.deepEqual([stream.frames[0]?.data.recovered, turn.data.message], [true, 'after the id']);
    }
});

test('An event stream must say once with `retry:` when to connect again, and forbid proxies to hold it back', async () => {
  await using talk = await openConversation(daemon);
  for (const route of [`/v1/api/events?ws_id=${talk.wsId}`, '/v1/api/events/global']) {
    await using stream = await daemon.sse(route);
    await stream.until(({ data }) => data.type === 'history' || data.type === 'ws_state');
    assert.equal(stream.response.headers.get('x-accel-buffering'), 'no');
    assert.match(stream.text(), /^retry: 1000\ndata: /);
    await answered(talk, `more for ${route}`, 'more');
    await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'thinking');
    assert.equal(stream.text().match(/^retry:/gm)?.length, 1);
  }
});

test('The history must be read page by page with `before`', async () => {
  await using talk = await openConversation(daemon);
  for (const n of ['p1', 'p2', 'p3']) await answered(talk, `page ${n}`, n);
  const texts: string[] = [];
  let query = 'limit=4';
  for (;;) {
    const page = await get(`workstreams/${talk.wsId}/history?${query}`);
    texts.unshift(...page.messages.map(({ content }: { content: string }) => content));
    assert.equal('cursor' in page, query === 'limit=4', 'only the newest page continues as a stream');
    if (!page.truncated) break;
    query = `limit=4&before=${page.messages[0].seq}`;
  }
  assert.deepEqual(texts, ['page p1', 'p1', 'page p2', 'p2', 'page p3', 'p3']);
  const nothing = await get(`workstreams/${talk.wsId}/history?before=0`);
  assert.deepEqual(nothing, { ws_id: talk.wsId, messages: [], truncated: false });
});

test('`/workstreams` must list saved conversations, and `/history` messages, also by words', async () => {
  await using talk = await openConversation(daemon, { name: 'lister' });
  await answered(talk, 'a zebra crossing', 'stripes');
  await answered(talk, 'something else', 'no animals');
  const told = async (command: string) => {
    const from = talk.seen.length;
    assert.equal((await post('command', { ws_id: talk.wsId, command })).body.error, undefined);
    await talk.until('info', () => talk.seen.slice(from).some(({ event }) => event.type === 'info'));
    const last = talk.seen.slice(from).find(({ event }) => event.type === 'info')?.event;
    return last?.type === 'info' ? last.message : '';
  };
  assert.match(
    await told('/workstreams zebra'),
    /^\* lister {2}a zebra crossing {2}\(4 messages, \d{4}-\d\d-\d\d, open\)\n/,
  );
  assert.equal(await told('/workstreams unicorn'), 'No conversation has these words in its name or title.');
  assert.match(await told('/history'), /^#1 user: a zebra crossing\n#2 assistant: stripes\n/);
  assert.equal(await told('/history ZEBRA'), '#1 user: a zebra crossing');
  assert.equal(await told('/history unicorn'), 'No message has these words.');
  await told('/reason med');
  await told('/skill');
});

/**
 * The lists by their paths: the key around the rows, and the fields that clients of the specification read. They are written
 * from its text, not from the rows of the protocol. A field is a text unless another type follows.
 */
const RECORDS: Record<string, [wrapper: string, fields: string]> = {
  workstreams: ['workstreams', 'id ws_id name state kind parent_ws_id:string|null user_id project_id:string|null'],
  'workstreams/saved': [
    'workstreams',
    'ws_id alias:string|null title:string|null created updated message_count:number state kind node_id model_alias child_count:number context_tokens:number context_ratio:number',
  ],
  dashboard: [
    'workstreams',
    'id name state title:string|null tokens:number context_ratio:number activity activity_state tool_calls:number node model model_alias',
  ],
  templates: ['templates', 'name category is_default:boolean origin'],
  'ws-templates': ['ws_templates', 'name description model'],
  skills: ['skills', 'name category description tags:array is_default:boolean activation origin author version'],
  memories: ['memories', 'memory_id name description type scope scope_id content created updated'],
  'admin/memories': ['memories', 'memory_id name scope content last_accessed:string|null access_count:number'],
  'admin/memories/search?q=kept': ['memories', 'memory_id name content last_accessed:string|null access_count:number'],
  'admin/users': ['users', 'user_id username display_name created'],
  'admin/users/{user}/tokens': ['tokens', 'token_id token_prefix name scopes created expires:string|null'],
  'admin/users/{user}/roles': ['roles', 'role_id name display_name builtin:boolean'],
  'admin/roles': ['roles', 'role_id name display_name permissions builtin:boolean org_id created updated'],
  'admin/orgs': ['orgs', 'org_id name display_name settings created updated'],
  'admin/audit': [
    'events',
    'event_id timestamp user_id username action resource_type resource_id detail ip_address created',
  ],
  'admin/usage': [
    'breakdown',
    'key prompt_tokens:number completion_tokens:number tool_calls_count:number cache_creation_tokens:number cache_read_tokens:number',
  ],
  'admin/settings': [
    'settings',
    'key source type description section is_secret:boolean node_id changed_by updated restart_required:boolean',
  ],
  'admin/settings/schema': [
    'schema',
    'key type description section is_secret:boolean min_value:number|null max_value:number|null choices:array|null restart_required:boolean',
  ],
  'admin/templates': [
    'templates',
    'template_id name category content variables is_default:boolean org_id created_by origin mcp_server readonly:boolean created updated',
  ],
  'admin/ws-templates': [
    'ws_templates',
    'ws_template_id name description system_prompt prompt_template prompt_template_hash model auto_approve:boolean auto_approve_tools temperature:number|null reasoning_effort max_tokens:number|null token_budget:number agent_max_turns:number|null notify_on_complete org_id created_by enabled:boolean version:number created updated',
  ],
  'admin/ws-templates/{template}/versions': ['versions', 'version:number snapshot changed_by created'],
  'workstreams/{ws}/attachments': ['attachments', 'attachment_id filename mime_type size_bytes:number kind'],
  'cluster/nodes': [
    'nodes',
    'node_id server_url ws_total:number ws_running:number ws_thinking:number ws_attention:number ws_idle:number ws_error:number total_tokens:number started reachable:boolean health:object version',
  ],
  'cluster/workstreams': [
    'workstreams',
    'id name state node title:string|null tokens:number context_ratio:number activity activity_state tool_calls:number',
  ],
};
/** The lists that also say how many rows there are. */
const COUNTED = ['memories', 'admin/memories', 'admin/memories/search?q=kept', 'admin/audit'];

const typeOf = (value: unknown): string =>
  value === null ? 'null' : Array.isArray(value) ? 'array' : value === undefined ? 'missing' : typeof value;

test('every list has the key and the fields that clients of the specification read', async () => {
  await using talk = await openConversation(daemon);
  await answered(talk, 'is counted', 'yes');
  const made = async (route: string, sent: object) => (await post(route, sent)).body;
  const { user_id: user } = await made('admin/users', {
    username: 'lister',
    display_name: 'L',
    password: 'long enough',
  });
  await made(`admin/users/${user}/tokens`, { name: 'of lists' });
  await made('memories', { name: 'kept', content: 'kept' });
  await made('admin/templates', { name: 'plain', content: 'Be plain.' });
  const { ws_template_id: template } = await made('admin/ws-templates', { name: 'set' });
  await daemon.fetch(`/v1/api/admin/ws-templates/${template}`, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: '{"description":"edited"}',
  });
  const form = new FormData();
  form.append('file', new Blob(['text']), 'note.txt');
  await daemon.fetch(`/v1/api/workstreams/${talk.wsId}/attachments`, { method: 'POST', body: form });
  for (const [path, [wrapper, fields]] of Object.entries(RECORDS)) {
    const route = path.replace('{user}', user).replace('{template}', template).replace('{ws}', talk.wsId);
    const body = await get(route);
    assert.ok(body[wrapper]?.length > 0, `${path} has no row in ${wrapper}: ${JSON.stringify(body).slice(0, 200)}`);
    if (COUNTED.includes(path)) assert.equal(typeof body.total, 'number', path);
    for (const row of body[wrapper])
      for (const field of fields.split(' ')) {
        const [name = '', types = 'string'] = field.split(':');
        assert.ok(types.split('|').includes(typeOf(row[name])), `${path}: ${name} is ${typeOf(row[name])}`);
      }
  }
  assert.equal((await get('admin/usage')).summary.length, 1);
  assert.ok((await get('admin/audit?limit=1000')).events.length <= 200, 'a higher limit is lowered');
});
