import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DAEMON } from '../sharing/perception.ts';
import { LIVE } from '../testing/default-deps.ts';
import { type WholeGateway, wholeGateway } from '../testing/whole-gateway.ts';

const never = () => new Promise(() => undefined);
const UNKNOWN = { code: 'NOT_FOUND', message: 'Unknown workstream' };

const refused = (message: string) => ({ code: 'INVALID_REQUEST', message });
const names = async (gateway: WholeGateway) =>
  (await gateway.call('workstream.list', {})).workstreams.map(({ name }) => name.replace(/^ws-.*/, 'generated'));

test('create accepts name, model and workdir, and answers a repeat with the same workstream', async () => {
  await using gateway = await wholeGateway();
  const params = { name: ' notes ', model: 'other', workdir: '/srv/notes', idempotencyKey: 'k1' };
  const made = await gateway.call('workstream.create', params);
  assert.deepEqual(made, { wsId: made.wsId, name: 'notes', resumed: false, messageCount: 0 });
  assert.deepEqual(await gateway.call('workstream.create', params), made);
  const { snapshot } = await gateway.call('workstream.get', { wsId: made.wsId });
  assert.deepEqual([snapshot.workstream.modelAlias, snapshot.workdir], ['other', '/srv/notes']);
  assert.deepEqual(await names(gateway), ['generated', 'notes']);
});

test('create and update refuse invalid params', async () => {
  await using gateway = await wholeGateway({ live: { ...LIVE, maxWorkstreams: 3 } });
  const { wsId } = await gateway.call('workstream.create', {});
  await gateway.call('workstream.update', { wsId, name: 'taken' });
  const model = refused("Unknown model 'none'. Available models: puppet, other");
  const conflict = { code: 'CONFLICT', message: 'That name is already used by another workstream' };
  assert.deepEqual(
    await gateway.refusal('workstream.create', { name: 'main' }),
    refused("The name 'main' is reserved"),
  );
  assert.deepEqual(await gateway.refusal('workstream.create', { model: 'none' }), model);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId: await gateway.main(), name: 'taken' }), conflict);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, model: 'none' }), model);
  assert.deepEqual(await names(gateway), ['generated', 'taken']);
});

test('update changes name, model and effort; an empty name restores the generated one', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  const renamed = await gateway.call('workstream.update', { wsId, name: ' desk ', model: 'other', effort: 'high' });
  assert.deepEqual([renamed.name, renamed.modelAlias, renamed.sessionKey], ['desk', 'other', 'main']);
  const last = (await gateway.events(wsId)).at(-1);
  assert.deepEqual(last, {
    type: 'settings_changed',
    name: 'desk',
    model: 'other',
    model_alias: 'other',
    skip_permissions: false,
    mode: 'ask',
    effort: 'high',
  });
  const { snapshot } = await gateway.call('workstream.get', { wsId });
  assert.equal(snapshot.effort, 'high');
  const back = await gateway.call('workstream.update', { wsId, name: '' });
  assert.equal(back.name, `ws-${wsId.slice(0, 4)}`);
  const events = (await gateway.events(wsId)).length;
  await gateway.call('workstream.update', { wsId });
  assert.equal((await gateway.events(wsId)).length, events, 'nothing changed, nothing is said');
});

test('a saved workstream is renamed without being loaded, by the same rules, with an event in its log', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { name: 'notes' });
  const main = await gateway.main();
  await gateway.call('workstream.update', { wsId: main, name: 'desk' });
  await gateway.call('workstream.close', { wsId });
  const conflict = { code: 'CONFLICT', message: 'That name is already used by another workstream' };
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, name: 'desk' }), conflict);
  assert.deepEqual(
    await gateway.refusal('workstream.update', { wsId, name: 'main' }),
    refused("The name 'main' is reserved"),
  );
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId, name: 'other', model: 'other' }), UNKNOWN);
  assert.deepEqual(await gateway.refusal('workstream.update', { wsId: 'notes', name: 'other' }), UNKNOWN);
  const renamed = await gateway.call('workstream.update', { wsId, name: ' herbs ' });
  assert.deepEqual([renamed.wsId, renamed.name, await names(gateway)], [wsId, 'herbs', ['desk']]);
  assert.equal((await gateway.events(wsId)).at(-1)?.type, 'settings_changed');
  assert.equal((await gateway.call('workstream.create', { resumeWs: wsId })).name, 'herbs');
});

test('a saved workstream that is renamed and opened at the same time has its new name', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { name: 'notes' });
  await gateway.call('workstream.close', { wsId });
  await Promise.all([
    gateway.call('workstream.update', { wsId, name: 'herbs' }),
    gateway.call('workstream.create', { resumeWs: wsId }),
  ]);
  assert.deepEqual(await names(gateway), ['generated', 'herbs']);
  assert.equal((await gateway.call('workstream.saved', { search: 'notes' })).workstreams.length, 0);
});

test('close keeps the conversation, and create reopens it by id, name or prefix with the same id', async () => {
  await using gateway = await wholeGateway();
  const { wsId } = await gateway.call('workstream.create', { name: 'notes' });
  await gateway.call('workstream.send', { wsId, message: 'keep this' });
  await gateway.isIdle(wsId);
  for (const resumeWs of [wsId, 'notes', wsId.slice(0, 8)]) {
    await gateway.call('workstream.close', { wsId });
    assert.deepEqual(await gateway.refusal('workstream.get', { wsId }), UNKNOWN);
    const reopened = await gateway.call('workstream.create', { resumeWs, name: 'ignored' });
    assert.deepEqual(reopened, { wsId, name: 'notes', resumed: true, messageCount: 2 });
  }
  const again = await gateway.call('workstream.create', { resumeWs: wsId });
  assert.equal(again.resumed, true, 'one that is open counts as resumed');
  const fresh = await gateway.call('workstream.create', { resumeWs: 'gone' });
  assert.deepEqual([fresh.resumed, fresh.messageCount], [false, 0]);
});

test('the last workstream cannot be closed, and closing one ends its runs', async () => {
  await using gateway = await wholeGateway();
  const main = await gateway.main();
  assert.deepEqual(await gateway.refusal('workstream.close', { wsId: main }), refused('Cannot close last workstream'));
  const { wsId } = await gateway.call('workstream.create', {});
  gateway.puppet.turn('part', never());
  await gateway.call('workstream.send', { wsId, message: 'go' });
  await gateway.reaches(wsId, 'content');
  let ended = 0;
  const sink = { ready: () => true, write: () => undefined };
  gateway.gateway.streams.follow(wsId, 0, { viewer: DAEMON, sink, onEnd: () => void ended++ });
  assert.deepEqual(await gateway.call('workstream.close', { wsId }), { status: 'ok' });
  const tail = (await gateway.events(wsId)).slice(-3).map(({ type }) => type);
  assert.deepEqual([tail, ended], [['cancelled', 'stream_end', 'ws_state'], 1]);
});

test('workstream.saved lists conversations with messages, newest first, page by page', async () => {
  await using gateway = await wholeGateway();
  const made: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    await gateway.clock.advance(1_000);
    const { wsId } = await gateway.call('workstream.create', { name });
    await gateway.call('workstream.send', { wsId, message: `first of ${name}\nsecond line` });
    await gateway.isIdle(wsId);
    made.push(wsId);
  }
  await gateway.call('workstream.close', { wsId: made[0] ?? '' });
  const { workstreams } = await gateway.call('workstream.saved', { limit: 2 });
  assert.deepEqual(
    workstreams.map(({ name, title, loaded, updatedMs }) => [name, title, loaded, updatedMs]),
    [
      ['three', 'first of three', true, 1_003_000],
      ['two', 'first of two', true, 1_002_000],
    ],
  );
  const rest = await gateway.call('workstream.saved', { before: 1_002_000 });
  assert.deepEqual(rest.workstreams, [
    {
      wsId: made[0],
      alias: 'one',
      name: 'one',
      title: 'first of one',
      workdir: rest.workstreams[0]?.workdir,
      createdMs: 1_001_000,
      updatedMs: 1_001_000,
      messageCount: 2,
      loaded: false,
      userId: '',
      visibility: 'shared',
      state: 'idle',
      modelAlias: 'puppet',
      contextTokens: 100,
      contextRatio: 0.001,
    },
  ]);
});

test('a page of workstream.saved continues after the last row, even among rows with equal times', async () => {
  await using gateway = await wholeGateway();
  const made: string[] = [];
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    const { wsId } = await gateway.call('workstream.create', { name });
    await gateway.call('workstream.send', { wsId, message: `in ${name}` });
    await gateway.isIdle(wsId);
    made.push(wsId);
  }
  const read: string[] = [];
  let before: { before?: number; beforeWsId?: string } = {};
  for (;;) {
    const { workstreams } = await gateway.call('workstream.saved', { limit: 2, ...before });
    const last = workstreams.at(-1);
    if (!last) break;
    read.push(...workstreams.map(({ wsId }) => wsId));
    before = { before: last.updatedMs, beforeWsId: last.wsId };
  }
  const sorted = made.toSorted((a, b) => (a < b ? 1 : -1));
  assert.deepEqual(read, sorted, 'all of one millisecond, so by their ids, each once');
});

test('workstream.saved finds words of the name or the title, ignoring case and without wildcards', async () => {
  await using gateway = await wholeGateway();
  for (const [name, message] of [
    ['garden plan', 'Which Herbs?'],
    ['kitchen', 'The garden herbs, 100% fresh'],
    ['a_b', 'nothing'],
  ] as const) {
    const { wsId } = await gateway.call('workstream.create', { name });
    await gateway.call('workstream.send', { wsId, message });
    await gateway.isIdle(wsId);
  }
  const found = async (search: string) =>
    (await gateway.call('workstream.saved', { search })).workstreams.map(({ name }) => name).toSorted();
  assert.deepEqual(await Promise.all(['HERBS garden', 'fresh', '0%', '%', 'a_b', 'axb', '\\', ' '].map(found)), [
    ['garden plan', 'kitchen'],
    ['kitchen'],
    ['kitchen'],
    ['kitchen'],
    ['a_b'],
    [],
    [],
    ['a_b', 'garden plan', 'kitchen'],
  ]);
});

test('history pages back to the first message and says if there are more', async () => {
  await using gateway = await wholeGateway();
  const wsId = await gateway.main();
  for (const message of ['a', 'b', 'c']) {
    await gateway.call('workstream.send', { wsId, message });
    await gateway.isIdle(wsId);
  }
  const page = async (params: object) => {
    const { messages, truncated } = await gateway.call('workstream.history', { wsId, ...params });
    return [messages.map(({ seq, content }) => `${seq}${content}`).join(' '), truncated];
  };
  assert.deepEqual(await page({}), ['1a 2ok 3b 4ok 5c 6ok', false]);
  assert.deepEqual(await page({ limit: 2 }), ['5c 6ok', true]);
  assert.deepEqual(await page({ limit: 3, before: 5 }), ['2ok 3b 4ok', true]);
  assert.deepEqual(await page({ limit: 3, before: 2 }), ['1a', false]);
  assert.deepEqual(
    [await page({ before: 1 }), await page({ before: 0 })],
    [
      ['', false],
      ['', false],
    ],
  );
  assert.deepEqual(await page({ before: 1_000 }), ['1a 2ok 3b 4ok 5c 6ok', false]);
});
