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
    callTools({ name: 'bash', arguments: { command: 'true' }, id: 'call_a' }),
    say('done'),
  );
  const question = await talk.ask('asks on the dashboard');
  const { approval_id: approvalId } = await talk.until('approve_request');
  const asking = await rowNow();
  assert.deepEqual([asking.state, asking.activity_state], ['attention', 'approval']);
  assert.match(String(asking.activity), /true/);
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
