import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { askApi, told } from '../support/clients/ask-api.ts';
import { button } from '../support/clients/browser.ts';
import { startDaemon } from '../support/daemon/daemon.ts';
import { CANARY, deedsIn, isIdle, secretTalks } from './secret-talks.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());
const { connect, newPerson, stream, listen, hear } = secretTalks(daemon);
const { converse, enterAll } = deedsIn(daemon, { stream });
const operator = await connect(daemon.token);

const { roleId } = (await operator.call('role.create', {
  ...{ name: 'approver', permissions: ['read', 'write', 'approve', 'workstreams.create', 'workstreams.close'] },
})) as { roleId: string };
const ada = await newPerson(operator, 'ada', [roleId]);
const bob = await newPerson(operator, 'bob', [roleId]);
const viewer = await newPerson(operator, 'vera', ['builtin-viewer']);

test('Lists, saved rows and the stream of all states must not contain the private workstreams of others', async (t) => {
  await writeFile(path.join(daemon.home, 'workspace', `${CANARY}.txt`), `${CANARY} output`);
  const [owner, other, watcher] = [await listen(ada), await listen(bob), await listen(viewer)];
  const { page, text: textOfPage } = await hear(t, bob);
  const made = await askApi(daemon, ['POST', 'workstreams/new'], {
    ...{ token: ada.jwt, body: { name: `The ${CANARY} name`, visibility: 'private' } },
  });
  const wsId: string = made.body.ws_id;
  await owner.socket.call('events.subscribe', { wsId });
  await converse(owner.socket.call, { wsId, jwt: ada.jwt });
  const place = { scope: 'workstream', scope_id: wsId };
  await askApi(daemon, ['POST', 'memories'], { token: ada.jwt, body: { name: CANARY, content: CANARY, ...place } });
  const common = { token: ada.jwt, body: { name: 'common', visibility: 'shared' } };
  const shared: string = (await askApi(daemon, ['POST', 'workstreams/new'], common)).body.ws_id;
  await other.socket.call('events.subscribe', { wsId: shared });
  await page.getByRole('tab', { name: /common/ }).click();
  const refused = await enterAll(owner.socket.call, { wsId: shared, jwt: ada.jwt, hidden: wsId });
  assert.deepEqual(refused, ['resume', 'undo', 'redo', 'diff', 'remove', 'mcp']);
  await button(page, 'Saved conversations').click();
  await page.getByRole('dialog').getByText('say more').first().waitFor();
  const asked = [
    'workstreams',
    'workstreams/saved',
    `workstreams/find?query=${CANARY}`,
    'memories',
    `workstreams/${wsId}`,
    `workstreams/${wsId}/history`,
  ];
  let answers = '';
  for (const { jwt } of [bob, viewer]) {
    const body = { query: CANARY };
    answers += JSON.stringify((await askApi(daemon, ['POST', 'memories/search'], { token: jwt, body })).body);
    for (const route of [...asked, `workstreams/${wsId}/attachments`, `workstreams/${wsId}/export?format=json`])
      answers += JSON.stringify((await askApi(daemon, ['GET', route], { token: jwt })).body);
    await assert.rejects(stream(jwt, `events?ws_id=${wsId}`), /status 404: \{"error":"Unknown workstream"/);
    await assert.rejects(stream(jwt, `workstreams/${wsId}/events`), /status 404/);
  }
  for (const { call } of [other.socket, watcher.socket])
    for (const method of [
      'status',
      'health',
      'sessions.list',
      'workstream.list',
      'workstream.saved',
      'system-presence',
    ])
      answers += JSON.stringify(await call(method, {}));
  await operator.call('set-heartbeats', { enabled: false });
  const seen = textOfPage();
  const received = answers + other.text() + watcher.text() + seen;
  assert.deepEqual(
    [CANARY, wsId].filter((word) => received.includes(word)),
    [],
  );
  const told = [shared, 'say more', 'No saved conversation that everyone here sees', '/resume NAME copies'];
  for (const text of [seen, other.text()])
    assert.deepEqual(
      told.filter((word) => !text.includes(word)),
      [],
      'what is shared reaches them',
    );
  const own = owner.text();
  assert.deepEqual(
    [`${CANARY} output`, `${CANARY}-alias`, `${CANARY} later`, wsId].filter((word) => !own.includes(word)),
    [],
    'the same search finds all of it at its owner',
  );
});

test('A workstream that becomes private must end the streams of those who no longer see it, at once', async () => {
  const { body } = await askApi(daemon, ['POST', 'workstreams/new'], { token: ada.jwt, body: { name: 'open' } });
  const wsId: string = body.ws_id;
  const { socket, states } = await listen(bob);
  const own = await connect(ada.jwt);
  await socket.call('events.subscribe', { wsId });
  const followed = await stream(bob.jwt, `events?ws_id=${wsId}`);
  const share = (visibility: string) =>
    askApi(daemon, ['POST', `workstreams/${wsId}/share`], { token: ada.jwt, body: { visibility } });
  assert.deepEqual((await share('private')).body, { ws_id: wsId, user_id: ada.userId, visibility: 'private' });
  await socket.event('workstream.closed');
  await followed.ended;
  const before = [socket.text().length, states.text().length];
  const seen = await stream(ada.jwt, `events?ws_id=${wsId}`);
  await own.call('workstream.send', { wsId, message: `say ${CANARY} again` });
  await seen.until(isIdle);
  await seen.close();
  await socket.call('voicewake.get', {});
  const since = socket.text().slice(before[0]) + states.text().slice(before[1]);
  assert.ok(!since.includes(wsId) && !since.includes(CANARY));
  const list = await askApi(daemon, ['GET', 'workstreams'], { token: bob.jwt });
  assert.ok(!JSON.stringify(list.body).includes(wsId));
  await share('shared');
  await socket.event('workstream.opened');
  await states.until(({ data }) => data.ws_id === wsId);
  assert.equal((await askApi(daemon, ['GET', `workstreams/${wsId}`], { token: bob.jwt })).body.visibility, 'shared');
});

/** The private workstream of the file, and one that does not exist. */
async function hiddenAndUnknown(): Promise<[string, string]> {
  const body = { name: `${CANARY} hidden`, visibility: 'private' };
  const made = await askApi(daemon, ['POST', 'workstreams/new'], { token: ada.jwt, body });
  return [made.body.ws_id, 'f'.repeat(32)];
}

test('A workstream must say whose it is and who sees it, in lists, saved rows and details', async () => {
  const [hidden] = await hiddenAndUnknown();
  const get = async (route: string) => (await askApi(daemon, ['GET', route], { token: ada.jwt })).body;
  const { workstreams } = await get('workstreams');
  const row = workstreams.find(({ ws_id }: { ws_id: string }) => ws_id === hidden);
  const main = workstreams.find(({ name }: { name: string }) => name !== row.name && !name.includes(CANARY));
  const { workstreams: saved } = await get('workstreams/saved');
  const talked = saved.find(({ alias }: { alias: string }) => alias === `${CANARY}-alias`); // of the first test
  const mine = { user_id: ada.userId, visibility: 'private' };
  const owned = ({ user_id, visibility }: Record<string, unknown>) => ({ user_id, visibility });
  assert.deepEqual([row, await get(`workstreams/${hidden}`), talked].map(owned), [mine, mine, mine]);
  assert.deepEqual(owned(main), { user_id: '', visibility: 'shared' });
});

test('Only the owner and holders of `workstreams.all` must be able to change who sees a workstream', async () => {
  const { body } = await askApi(daemon, ['POST', 'workstreams/new'], { token: ada.jwt, body: {} });
  const share = async (token: string, visibility: unknown) => {
    const asked = { token, body: { visibility } };
    return told(await askApi(daemon, ['POST', `workstreams/${body.ws_id}/share`], asked));
  };
  const forbidden = 'Only the owner of this workstream, and holders of workstreams.all, may change who sees it';
  assert.deepEqual(
    [await share(bob.jwt, 'private'), await share(viewer.jwt, 'private'), (await share(ada.jwt, 'hidden'))[0]],
    [[403, forbidden], [403, "Forbidden: token lacks 'write' scope"], 400],
  );
  assert.deepEqual(
    [await share(ada.jwt, 'private'), await share(bob.jwt, 'shared'), await share(daemon.token, 'shared')],
    [
      [200, undefined],
      [404, 'Unknown workstream'],
      [200, undefined],
    ],
  );
});

test('sequence numbers have no gap for those who do not perceive an event', async () => {
  const socket = await connect(viewer.jwt);
  await askApi(daemon, ['POST', 'workstreams/new'], { token: ada.jwt, body: { visibility: 'private' } });
  await askApi(daemon, ['POST', 'workstreams/new'], { token: ada.jwt, body: {} });
  await socket.event('workstream.opened');
  const seqs = socket.events().flatMap((frame) => ('seq' in frame && frame.seq !== undefined ? [frame.seq] : []));
  const [first = 0] = seqs;
  assert.deepEqual(
    seqs,
    seqs.map((_, index) => first + index),
  );
});

test('Memories of a private workstream must be answered like those of an unknown one to everyone but its owner and holders of `workstreams.all`', async () => {
  const role = { name: 'librarian', permissions: ['read', 'write', 'approve', 'admin.memories'] };
  const made = (await operator.call('role.create', role)) as { roleId: string };
  const librarian = await newPerson(operator, 'lea', [made.roleId]);
  const [hidden, unknown] = await hiddenAndUnknown();
  const sent = { name: 'den', content: 'an aardvark', scope: 'workstream' };
  const saved = await askApi(daemon, ['POST', 'memories'], { token: ada.jwt, body: { ...sent, scope_id: hidden } });
  const { memory_id } = saved.body;
  const answers = async (token: string, scope_id: string) => {
    const place = `scope=workstream&scope_id=${scope_id}`;
    const body = { ...sent, scope_id, query: 'aardvark' };
    const all = [
      await askApi(daemon, ['GET', `memories?${place}`], { token }),
      await askApi(daemon, ['GET', `memories/den?${place}`], { token }),
      await askApi(daemon, ['DELETE', `memories/den?${place}`], { token }),
      await askApi(daemon, ['POST', 'memories'], { token, body }),
      await askApi(daemon, ['POST', 'memories'], { token, body: { ...body, name: 'other' } }),
      await askApi(daemon, ['POST', 'memories/search'], { token, body }),
      await askApi(daemon, ['POST', 'memories/search'], { token, body: { query: 'aardvark' } }),
      await askApi(daemon, ['GET', `admin/memories?${place}`], { token }),
      await askApi(daemon, ['GET', 'admin/memories/search?q=aardvark'], { token }),
    ];
    return JSON.stringify(all.map(({ status, body: answer }) => [status, answer]));
  };
  for (const { jwt } of [bob, viewer, librarian]) {
    const answer = await answers(jwt, hidden);
    assert.equal(answer, await answers(jwt, unknown));
    assert.ok(!answer.includes(memory_id));
  }
  const search = { token: ada.jwt, body: { query: 'aardvark' } };
  assert.equal((await askApi(daemon, ['POST', 'memories/search'], search)).body.total, 1);
  const byId = ['DELETE', `admin/memories/${memory_id}`] as const;
  assert.equal((await askApi(daemon, byId, { token: librarian.jwt })).status, 404);
  assert.equal((await askApi(daemon, byId, { token: daemon.token })).status, 200);
});

test('Saving a memory of an unknown workstream must answer 404 `Unknown workstream`', async () => {
  for (const scope_id of ['f'.repeat(32), 'w1']) {
    const body = { name: 'lost', content: 'x', scope: 'workstream', scope_id };
    assert.deepEqual(told(await askApi(daemon, ['POST', 'memories'], { token: ada.jwt, body })), [
      404,
      'Unknown workstream',
    ]);
  }
});

test('Deleting a workstream must delete its memories', async () => {
  const [hidden] = await hiddenAndUnknown();
  const body = { name: 'brief', content: 'a mayfly', scope: 'workstream', scope_id: hidden };
  await askApi(daemon, ['POST', 'memories'], { token: ada.jwt, body });
  const found = async () =>
    (await askApi(daemon, ['GET', 'admin/memories/search?q=mayfly'], { token: daemon.token })).body.total;
  assert.equal(await found(), 1);
  await askApi(daemon, ['DELETE', `workstreams/${hidden}`], { token: daemon.token });
  assert.equal(await found(), 0);
});
