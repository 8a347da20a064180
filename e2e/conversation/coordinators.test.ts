import assert from 'node:assert/strict';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { askApi } from '../support/clients/ask-api.ts';
import { callersOf } from '../support/clients/callers.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';
import { calls, openCoordinator, spawns } from './coordinator-talk.ts';

/** Kills the daemon a few statements after SIGUSR2. */
const KILLER = new URL('../support/fixtures/killed-at-statement.ts', import.meta.url);
const armed = { NODE_OPTIONS: `--import tsx --import ${KILLER}`, KILL_ARMED: '1', KILL_AFTER: '60' };
const disarmed = { NODE_OPTIONS: '' };

const stage = await openStage({ env: armed });
const { model, daemon } = stage;
const { operator, newUser } = callersOf(daemon);

const messagesOf = async (wsId: string): Promise<string[]> => {
  const { messages } = await (await daemon.client()).call('workstream.history', { wsId });
  return messages.flatMap(({ role, content }) => (role === 'user' ? [content ?? ''] : []));
};
const idsIn = (made: { ws_id: string }[]): string[] => made.map(({ ws_id }) => ws_id);
const waiting = (ws_ids: string[], id: string, args: object = {}) =>
  calls('wait_for_workstream', { ws_ids, timeout_secs: 600, ...args }, id);

test('The stream of a coordinator must tell what its children do, and what its calls wait for', async () => {
  await using lead = await openCoordinator(stage);
  const slow = stall();
  model.when('quick-1', say('counted seven'));
  model.when('slow-1', [slow, say('at last')]);
  await lead.ask('begin-1', spawns('batch', 'quick-1', 'slow-1'));
  await lead.approve();
  const ids = idsIn(await lead.result('batch'));
  assert.deepEqual(await lead.named('quick-1', 'slow-1'), ids);
  const [quick = '', late = ''] = ids;
  const of = (call_id: string) => ({ ws_id: lead.wsId, call_id });
  const batch = { ...of('batch'), op: 'spawn_batch', total: 2 };
  assert.deepEqual(lead.toldOf('batch'), [
    { type: 'batch_started', ...batch },
    { type: 'batch_ended', ...batch, succeeded: 2, denied: 0 },
  ]);
  await slow.reached;
  await lead.until('child_ws_state', ({ child_ws_id, state }) => child_ws_id === quick && state === 'idle');
  const run = await lead.ask('wait-1', waiting(ids, 'wait'));
  await lead.until('wait_started');
  slow.release();
  const waited = await lead.result('wait');
  assert.deepEqual(
    [waited.done, waited.workstreams.map(({ messages }: { messages: { text: string }[] }) => messages[0]?.text)],
    [true, ['counted seven', 'at last']],
  );
  await lead.ended(run);
  const results = { [quick]: { state: 'idle' }, [late]: { state: 'idle' } };
  const [started, progress, ended] = lead.toldOf('wait');
  assert.deepEqual(started, { type: 'wait_started', ...of('wait'), ws_ids: ids, mode: 'all', timeout_secs: 600 });
  const { elapsed: _, ...told } = { elapsed: 0, ...progress };
  assert.deepEqual(told, { type: 'wait_progress', ...of('wait'), ws_ids: ids, results, complete: false });
  assert.deepEqual([ended?.type, Object(ended).complete, Object(ended).results], ['wait_ended', true, results]);
  for (const id of ids) assert.deepEqual(lead.newsOf(id), ['created', 'thinking', 'idle']);
  const { wait_avg_elapsed: seconds, ...metrics } = await lead.metrics();
  const apart = Math.abs(Number(seconds) - Object(ended).elapsed); // both are rounded, each from its own clock
  assert.ok(apart < 0.05, `${seconds} s in the metrics, ${apart} s apart`);
  assert.deepEqual(metrics, {
    ...{ ws_id: lead.wsId, spawns_total: 2, spawns_last_hour: 2, child_state_counts: { idle: 2 } },
    ...{ judge_fallback_rate: 0, intent_verdicts_sample: 1, wait_completions: 1, wait_timeouts: 0 },
  });
});

test('a coordinator looks into its children, writes to them, stops them and closes them', async () => {
  await using lead = await openCoordinator(stage);
  const busy = stall();
  for (const name of ['one-2', 'two-2', 'again-2']) model.when(name, say(`did ${name}`));
  model.when('busy-2', busy);
  await lead.ask('begin-2', spawns('batch', 'one-2', 'two-2', 'busy-2'));
  await lead.approve();
  const [one = '', two = '', three = ''] = idsIn(await lead.result('batch'));
  await busy.reached;
  for (const id of [one, two])
    await lead.until('child_ws_state', (news) => news.child_ws_id === id && news.state === 'idle');
  const run = await lead.ask(
    'more-2',
    calls('inspect_workstream', { ws_id: one }, 'inspect'),
    calls('send_to_workstream', { ws_id: one, message: 'again-2' }, 'send'),
    waiting([one, three], 'any', { mode: 'any' }),
    calls('cancel_workstream', { ws_ids: [two, three] }, 'cancel'),
    calls('close_workstream', { ws_ids: [one] }, 'close'),
    calls('close_all_children', {}, 'all'),
    calls('inspect_workstream', { ws_id: 'f'.repeat(32) }, 'nobody'),
  );
  const [seen] = (await lead.result('inspect')).workstreams;
  assert.deepEqual(
    seen.messages.map(({ text }: { text: string }) => text),
    ['one-2', 'did one-2'],
  );
  await lead.approve();
  assert.deepEqual(await lead.result('send'), { ws_id: one, status: 'sent' });
  assert.equal((await lead.result('any')).done, true);
  assert.deepEqual(await lead.result('cancel'), { cancelled: [three], failed: [], skipped: [two] });
  assert.deepEqual(await lead.result('close'), { closed: [one], failed: [], skipped: [] });
  assert.deepEqual(await lead.result('all'), { closed: [two, three], failed: [], skipped: [one] });
  assert.match((await lead.result('nobody')).output, /is no workstream that works for you/);
  await lead.ended(run);
  assert.deepEqual(lead.newsOf(one), ['created', 'thinking', 'idle', 'thinking', 'idle', 'closed']);
  const close = { ws_id: lead.wsId, call_id: 'all', op: 'close_all_children', total: 3 };
  assert.deepEqual(lead.toldOf('all'), [
    { type: 'batch_started', ...close },
    { type: 'batch_ended', ...close, closed: 2, failed: 0, skipped: 1 },
  ]);
  assert.deepEqual((await lead.metrics()).child_state_counts, { closed: 3 });
  await (await daemon.client()).call('workstream.open', { wsId: one });
  assert.deepEqual(await messagesOf(one), ['one-2', 'again-2']);
});

test('A stop must also reach the children that a call is making', async () => {
  await using lead = await openCoordinator(stage);
  const never = stall();
  model.when('endless-3', never);
  const names = Array.from({ length: 10 }, (_, n) => `endless-3 ${n}`);
  const run = await lead.ask('begin-3', spawns('batch', ...names), spawns('more', ...names));
  await lead.approve();
  await lead.until('child_ws_created');
  const stop = () => daemon.post(`/v1/api/coordinator/${lead.wsId}/stop_cascade`, {});
  const [first, second] = await Promise.all([stop(), stop()]);
  await lead.ended(run);
  const made = await lead.children();
  assert.deepEqual([first.body.failed, second.body.failed, second.body.cancelled], [[], [], []]);
  assert.deepEqual(new Set([...first.body.cancelled, ...first.body.skipped]), new Set(idsIn(made)));
  assert.deepEqual(new Set(made.map(({ state }) => state)), new Set(['idle']));
  assert.ok(made.length > 0 && made.length <= 10);
  const ended = await lead.until('batch_ended', ({ call_id }) => call_id === 'batch');
  assert.deepEqual([ended.succeeded, ended.denied], [made.length, 10 - made.length]);
});

test('other users and lesser tokens get from a coordinator what they may, and nothing more', async () => {
  await using hidden = await openCoordinator(stage, { visibility: 'private' });
  await using shared = await openCoordinator(stage, { visibility: 'shared' });
  const eve = await newUser('eve', ['builtin-operator']);
  const at = (wsId: string, path: string) => `/v1/api/workstreams/${wsId}/${path}`;
  for (const [view, wsId] of ['children', 'tasks', 'metrics'].flatMap((one) =>
    [hidden.wsId, 'f'.repeat(32), 'not-an-id', '%20'].map((id) => [one, id] as const),
  )) {
    const { status, body } = await eve.call(`GET ${at(wsId, view)}`);
    assert.deepEqual([view, wsId, status, body.error], [view, wsId, 404, 'coordinator not found']);
  }
  for (const view of ['children', 'tasks', 'metrics'])
    assert.equal((await eve.call(`GET ${at(shared.wsId, view)}`)).status, 200);
  const orders: [string, object][] = [
    ['trust', { send: true }],
    ['restrict', { revoke: [] }],
    ['stop_cascade', {}],
    ['close_all_children', {}],
  ];
  for (const [order, body] of orders) {
    const { status } = await eve.call(`POST ${at(shared.wsId, order)}`, body);
    assert.deepEqual([order, status], [order, 403]);
  }
  for (const parent_ws_id of [shared.wsId, hidden.wsId])
    assert.equal((await eve.call('POST /v1/api/workstreams/new', { parent_ws_id })).status, 403);
  const plain = (await daemon.post('/v1/api/workstreams/new', {})).body.ws_id;
  for (const parent_ws_id of ['f'.repeat(32), plain, 'not-an-id']) {
    const forged = await daemon.post('/v1/api/workstreams/new', { parent_ws_id });
    assert.deepEqual([parent_ws_id, forged.status, forged.body.error], [parent_ws_id, 404, 'coordinator not found']);
  }
  const ada = await newUser('ada', ['builtin-admin']);
  const made = await operator(`POST /v1/api/admin/users/${ada.id}/tokens`, { name: 'reader', scopes: 'read' });
  const { token } = made.body;
  const asReader = async (method: string, route: string, body?: object) =>
    (await askApi(daemon, [method, route], { token, body })).status;
  for (const view of ['children', 'tasks', 'metrics']) {
    const route = `workstreams/${shared.wsId}/${view}`;
    const anonymous = await askApi(daemon, ['GET', route]);
    assert.deepEqual([await asReader('GET', route), anonymous.status], [200, 401]);
  }
  for (const [order, body] of orders)
    assert.equal(
      await asReader('POST', `coordinator/${shared.wsId}/${order}`, body),
      order.startsWith('close') ? 404 : 403,
    );
  assert.equal(await asReader('POST', 'workstreams/new', { kind: 'coordinator' }), 403);
  assert.deepEqual(await shared.children(), []);
});

test('somebody without the permission cannot have a coordinator make workstreams, nor can a model name their parent', async () => {
  await using lead = await openCoordinator(stage, { visibility: 'shared' });
  await using other = await openCoordinator(stage);
  const mallory = await newUser('mallory', ['builtin-operator']);
  model.when('please-5', spawns('stolen', 'x-5'), say('refused'));
  const { body } = await mallory.call('POST /v1/api/send', { ws_id: lead.wsId, message: 'please-5' });
  await lead.approve();
  const refused = await lead.result('stolen');
  assert.deepEqual(refused, { outcome: 'failed', output: "Forbidden: missing 'admin.coordinator' permission" });
  await lead.ended(body.run_id);
  const forged = { message: 'y-5', parent_ws_id: other.wsId };
  const run = await lead.ask('forge-5', callTools({ name: 'spawn_workstream', arguments: forged, id: 'forged' }));
  const { outcome, output } = await lead.result('forged');
  assert.deepEqual([outcome === 'done', /parent_ws_id/.test(output)], [false, true]);
  await lead.ended(run);
  for (const one of [lead, other]) assert.deepEqual(await one.children(), []);
});

const NAMES = Array.from({ length: 10 }, (_, n) => `job-6 ${n}`);

test('a kill in the middle of a batch of spawns doubles no workstream and loses none', async () => {
  await using lead = await openCoordinator(stage);
  model.when('job-6', say('done'));
  const run = await lead.ask('begin-6', spawns('batch', ...NAMES));
  await lead.until('approve_request');
  daemon.signal('SIGUSR2');
  await lead.approve();
  assert.equal((await daemon.exited()).signal, 'SIGKILL');
  const before = madeOnDisk(lead.wsId);
  assert.ok(before > 0 && before < NAMES.length, `${before} were made before the kill`);
  await daemon.restart({ env: disarmed });
  await lead.resume();
  const made = await lead.result('batch');
  await lead.ended(run);
  assert.deepEqual(
    made.map(({ name }: { name: string }) => name),
    NAMES,
  );
  assert.deepEqual(idsIn(await lead.children()), idsIn(made));
  for (const [index, id] of idsIn(made).entries()) {
    await lead.until('child_ws_state', (news) => news.child_ws_id === id && news.state === 'idle');
    assert.deepEqual(await messagesOf(id), [NAMES[index]]);
    assert.equal(lead.newsOf(id).filter((news) => news === 'created').length, 1);
  }
  assert.deepEqual(
    lead.toldOf('batch').map(({ type }) => type),
    ['batch_started', 'batch_started', 'batch_ended'],
  );
  assert.equal((await lead.metrics()).spawns_total, 10);
});

/** How many children of a coordinator are stored while no daemon runs. */
function madeOnDisk(wsId: string): number {
  using database = new DatabaseSync(path.join(daemon.home, 'headgate.db'), { readOnly: true });
  return Number(database.prepare('select count(*) as n from workstreams where parent_ws_id = ?').get(wsId)?.n);
}

test('a wait goes on after a kill and counts once; one that is cancelled does not count', async () => {
  await using lead = await openCoordinator(stage);
  const slow = stall();
  model.when('slow-7', slow);
  await lead.ask('begin-7', spawns('batch', 'slow-7'));
  await lead.approve();
  const ids = idsIn(await lead.result('batch'));
  const run = await lead.ask('wait-7', waiting(ids, 'wait'));
  await lead.until('wait_started');
  await slow.reached;
  await daemon.kill9();
  const again = stall();
  model.when('slow-7', [again, say('late')]);
  await daemon.restart({ env: disarmed });
  await lead.resume();
  await again.reached;
  again.release();
  const { done, workstreams } = await lead.result('wait');
  assert.deepEqual([done, workstreams[0].messages[0].text], [true, 'late']);
  await lead.ended(run);
  assert.deepEqual(
    lead.toldOf('wait').flatMap(({ type }) => (type === 'wait_progress' ? [] : [type])),
    ['wait_started', 'wait_started', 'wait_ended'],
  );
  const endless = stall();
  model.when('more-7', endless);
  await daemon.post('/v1/api/send', { ws_id: ids[0], message: 'more-7' });
  await endless.reached;
  const cancelled = await lead.ask('wait-8', waiting(ids, 'cancelled'));
  await lead.until('wait_started', ({ call_id }) => call_id === 'cancelled');
  await daemon.post('/v1/api/cancel', { ws_id: lead.wsId });
  await lead.ended(cancelled);
  assert.deepEqual(await lead.result('cancelled'), { outcome: 'cancelled', output: '[cancelled]' });
  assert.deepEqual(
    lead.toldOf('cancelled').map((event) => [event.type, Object(event).complete]),
    [
      ['wait_started', undefined],
      ['wait_ended', false],
    ],
  );
  const { wait_completions, wait_timeouts, child_state_counts } = await lead.metrics();
  assert.deepEqual([wait_completions, wait_timeouts, child_state_counts], [1, 0, { thinking: 1 }]);
});
