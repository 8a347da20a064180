import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { readBody } from '../support/clients/read-body.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ config: { server: { maxWorkstreams: 3 } } });

async function ask(method: string, route: string, sent?: object) {
  const headers = { 'Content-Type': 'application/json' };
  const init = { method, headers, ...(sent && { body: JSON.stringify(sent) }) };
  const answer = await daemon.fetch(`/v1/api/${route}`, init);
  return { status: answer.status, body: await readBody(answer) };
}

const create = async () => String((await ask('POST', 'workstreams/new', {})).body.ws_id);
const loaded = async (): Promise<string[]> =>
  (await ask('GET', 'workstreams')).body.workstreams.map(({ ws_id }: { ws_id: string }) => ws_id);
const FULL = { error: 'Maximum of 3 workstreams reached' };

test('At the limit the workstream that was idle longest must be unloaded, and its open stream must go on when it is loaded again', async () => {
  const first = await create();
  await using stream = await daemon.sse(first);
  await stream.until('history');
  const [second, third] = [await create(), await create()];
  assert.deepEqual((await loaded()).slice(1), [second, third]);
  model.when('comes back to life', say('welcome'));
  const { body } = await ask('POST', 'send', { ws_id: first, message: 'comes back to life' });
  assert.equal(body.status, 'ok');
  assert.equal((await stream.until('user_turn')).data.run_id, body.run_id);
  assert.equal((await stream.until('content')).data.text, 'welcome');
  assert.deepEqual((await loaded()).slice(1), [first, third]);
});

test('A workstream with a pending approval, a run or a queued message must stay loaded. If no other can go, a path by workstream answers 429, other paths answer 400, and history and detail are read without loading it', async () => {
  const [asking, running] = [await create(), await create()];
  const hold = stall();
  model.when(
    'wants a command',
    callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_e' }),
    say('done'),
  );
  model.when('takes its time', [hold, say('done')]);
  await using question = await daemon.sse(asking);
  await using work = await daemon.sse(running);
  await ask('POST', 'send', { ws_id: asking, message: 'wants a command' });
  await ask('POST', 'send', { ws_id: running, message: 'takes its time' });
  await question.until('approve_request');
  const before = await loaded();
  assert.deepEqual(before.slice(1), [asking, running]);
  const [stored] = (await ask('GET', 'workstreams/saved')).body.workstreams
    .map(({ ws_id }: { ws_id: string }) => ws_id)
    .filter((wsId: string) => !before.includes(wsId));
  assert.deepEqual(await ask('POST', 'workstreams/new', {}), { status: 400, body: FULL });
  assert.deepEqual(await ask('POST', 'send', { ws_id: stored, message: 'hello' }), { status: 400, body: FULL });
  assert.deepEqual(await ask('GET', `events?ws_id=${stored}`), { status: 400, body: FULL });
  assert.deepEqual(await ask('GET', `workstreams/${stored}/events`), { status: 429, body: FULL });
  const detail = await ask('GET', `workstreams/${stored}`);
  assert.deepEqual([detail.status, detail.body.ws_id, detail.body.state], [200, stored, 'idle']);
  const { status, body } = await ask('GET', `workstreams/${stored}/history`);
  const texts = body.messages.map(({ content }: { content: string }) => content);
  assert.deepEqual([status, texts, typeof body.cursor], [200, ['comes back to life', 'welcome'], 'string']);
  const client = await daemon.client();
  await assert.rejects(client.call('workstream.open', { wsId: stored }), { code: 'RATE_LIMITED' });
  for (const [route, body] of Object.entries({ '/send': { message: 'x' }, '/open': {}, '/rewind': { turns: 1 } }))
    assert.deepEqual(
      [route, await ask('POST', `workstreams/${stored}${route}`, body)],
      [route, { status: 429, body: FULL }],
    );
  assert.deepEqual(await loaded(), before);
  hold.release();
  await work.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  assert.equal((await ask('POST', 'workstreams/new', {})).status, 200);
  const [, kept] = await loaded();
  assert.equal(kept, asking);
  await ask('POST', 'approve', { ws_id: asking, approved: false });
});

test('The global stream must report workstreams that are created, renamed, unloaded and closed', async () => {
  await using all = await daemon.sse('/v1/api/events/global');
  const first = await create();
  await ask('POST', `workstreams/${first}/title`, { title: 'named now' });
  const others = [await create(), await create()];
  await ask('POST', 'workstreams/close', { ws_id: others[1] });
  const isAbout = ({ data }: { data: { ws_id: string } }) => [first, ...others].includes(data.ws_id);
  await all.until(({ data }) => data.type === 'ws_closed' && data.ws_id === others[1]);
  const name = (wsId = '') => `ws-${wsId.slice(0, 4)}`;
  const told = all.frames
    .filter(isAbout)
    .map(({ id, data }) => [id, data.type, data.ws_id, data.name ?? data.state, data.reason]);
  const was = undefined;
  assert.deepEqual(told, [
    [was, 'ws_created', first, name(first), was],
    [was, 'ws_state', first, 'idle', was],
    [was, 'ws_rename', first, 'named now', was],
    [was, 'ws_created', others[0], name(others[0]), was],
    [was, 'ws_state', others[0], 'idle', was],
    [was, 'ws_closed', first, 'named now', 'evicted'],
    [was, 'ws_created', others[1], name(others[1]), was],
    [was, 'ws_state', others[1], 'idle', was],
    [was, 'ws_closed', others[1], name(others[1]), 'closed'],
  ]);
});

test('The global stream must report what a run does, with its tokens, and its answer at the end', async () => {
  const wsId = await create();
  await using all = await daemon.sse('/v1/api/events/global');
  model.when(
    'is watched from afar',
    callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_g' }),
    say('all done'),
  );
  await ask('POST', 'send', { ws_id: wsId, message: 'is watched from afar' });
  const asked = await all.until(({ data }) => data.ws_id === wsId && data.activity_state === 'approval');
  assert.match(asked.data.activity, /touch it/);
  await ask('POST', 'approve', { ws_id: wsId, approved: true });
  const ended = await all.until(
    ({ data }) => data.ws_id === wsId && data.type === 'ws_state' && data.run?.status === 'ok',
  );
  const { tokens, context_ratio: ratio, ...rest } = ended.data;
  assert.deepEqual([tokens > 0, ratio > 0, ratio < 1], [true, true, true]);
  const { run, ...state } = rest;
  assert.deepEqual(state, {
    type: 'ws_state',
    ws_id: wsId,
    state: 'idle',
    activity: '',
    activity_state: '',
    content: 'all done',
  });
  const activities = all.frames.filter(({ data }) => data.ws_id === wsId && data.type === 'ws_activity');
  const kinds = activities.map(({ data }) => data.activity_state);
  for (const kind of ['thinking', 'approval', 'tool']) assert.ok(kinds.includes(kind), kind);
});

test('a lowered limit unloads idle workstreams before the answer, as a setting and from an edited file', async () => {
  await create();
  await create();
  const before = (await loaded()).length;
  assert.equal((await ask('PUT', 'admin/settings/server.max_workstreams', { value: 2 })).status, 200);
  const lowered = await loaded();
  await writeFile(path.join(daemon.home, 'config.json'), '{ "server": { "maxWorkstreams": 1 } }');
  assert.deepEqual((await ask('POST', '_internal/config-reload', {})).body, { status: 'ok' });
  assert.deepEqual([before, lowered.length, (await loaded()).length], [3, 2, 1]);
});
