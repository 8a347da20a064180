import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import { z } from 'zod';
import { type Endpoint, hasBody } from '../../protocol/http/endpoint.ts';
import { ENDPOINTS } from '../../protocol/http/index.ts';
import { CONNECT, openClient } from '../../src/gateway/testing/test-client.ts';
import { askApi, told } from '../support/clients/ask-api.ts';
import { openSse, type SseFrame } from '../support/clients/sse.ts';
import { startDaemon } from '../support/daemon/daemon.ts';

const daemon = await startDaemon();
after(() => daemon[Symbol.asyncDispose]());
const operator = await connect(daemon.token);

/** Stands in everything that is private. */
const CANARY = 'canary';
const PASSWORD = 'correct horse';

interface Person {
  userId: string;
  jwt: string;
}

async function newPerson(username: string, roles: readonly string[]): Promise<Person> {
  const { userId } = (await operator.call('user.create', { username, password: PASSWORD, roles })) as Person;
  const { jwt } = (await operator.call('auth.login', { username, password: PASSWORD })) as Person;
  return { userId, jwt };
}

const { roleId } = (await operator.call('role.create', {
  ...{ name: 'approver', permissions: ['read', 'write', 'approve', 'workstreams.create', 'workstreams.close'] },
})) as { roleId: string };
const ada = await newPerson('ada', [roleId]);
const bob = await newPerson('bob', [roleId]);
const viewer = await newPerson('vera', ['builtin-viewer']);

/** A connection that keeps every byte it was sent. */
async function connect(jwt: string) {
  const client = await openClient(daemon.wsUrl, {});
  const bytes: Buffer[] = [];
  client.socket.on('message', (data: Buffer) => bytes.push(data));
  await client.call('connect', { ...CONNECT, auth: { token: jwt } });
  after(() => client.socket.terminate());
  return Object.assign(client, { text: () => Buffer.concat(bytes).toString() });
}

const stream = (jwt: string, route: string) => openSse(new URL(`/v1/api/${route}`, daemon.url), { token: jwt });

/** All connections and the stream of all states for a person. */
async function listen({ jwt }: Person) {
  const socket = await connect(jwt);
  const states = await stream(jwt, 'events/global');
  after(() => states.close());
  return { socket, states, text: () => socket.text() + states.text() };
}

const isIdle = ({ data }: SseFrame) => data.type === 'ws_state' && data.state === 'idle';

type Call = Awaited<ReturnType<typeof connect>>['call'];

/** A conversation with everything that clients are told of: a tool's output, a file, a question, a queued message. */
async function converse(call: Call, { wsId, jwt }: { wsId: string; jwt: string }): Promise<void> {
  await call('workstream.command', { wsId, command: `/name ${CANARY}-alias` });
  const form = new FormData();
  form.append('file', new Blob([`${CANARY} inside`], { type: 'text/plain' }), `${CANARY}-file.txt`);
  const upload = await daemon.fetch(`/v1/api/workstreams/${wsId}/attachments`, {
    ...{ method: 'POST', headers: { authorization: `Bearer ${jwt}` }, body: form },
  });
  assert.equal(upload.status, 200);
  const asked = await stream(jwt, `events?ws_id=${wsId}`);
  await call('workstream.send', { wsId, message: `read ${CANARY}.txt` });
  const read = await asked.until(isIdle);
  await call('workstream.send', { wsId, message: `write ${CANARY}-new.txt: ${CANARY}`, attachmentIds: 'pending' });
  await asked.until('approve_request');
  await call('workstream.send', { wsId, message: `say ${CANARY} later`, queue: true });
  await askApi(daemon, ['POST', `workstreams/${wsId}/approve`], { token: jwt, body: { approved: true } });
  await asked.until(isIdle, { after: read });
  await asked.close();
}

test('Lists, saved rows and the stream of all states must not contain the private workstreams of others', async () => {
  await writeFile(path.join(daemon.home, 'workspace', `${CANARY}.txt`), `${CANARY} output`);
  const [owner, other, watcher] = [await listen(ada), await listen(bob), await listen(viewer)];
  const made = await askApi(daemon, ['POST', 'workstreams/new'], {
    ...{ token: ada.jwt, body: { name: `The ${CANARY} name`, visibility: 'private' } },
  });
  const wsId: string = made.body.ws_id;
  await owner.socket.call('events.subscribe', { wsId });
  await converse(owner.socket.call, { wsId, jwt: ada.jwt });
  const asked = ['workstreams', 'workstreams/saved', `workstreams/${wsId}`, `workstreams/${wsId}/history`];
  let answers = '';
  for (const { jwt } of [bob, viewer]) {
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
  const received = answers + other.text() + watcher.text();
  assert.deepEqual(
    [CANARY, wsId].filter((word) => received.includes(word)),
    [],
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

test('A private workstream must be answered like an unknown id, to everyone but its owner and holders of `workstreams.all`, on every path', async () => {
  const [hidden, unknown] = await hiddenAndUnknown();
  const rows: Endpoint[] = Object.values(ENDPOINTS).flatMap((group): Endpoint[] => Object.values(group));
  const bodies = { message: 'hi', approved: true, command: '/help', turns: 1, title: 'mine', visibility: 'shared' };
  const answer = async ({ verb, path: route }: Endpoint, wsId: string, token: string) => {
    const address = route.replace('{ws_id}', wsId).replace('/v1/api/', '');
    const target = hasBody(verb) ? address : `${address}?ws_id=${wsId}&msg_id=x`;
    const asked = hasBody(verb) ? { token, body: { ...bodies, ws_id: wsId } } : { token };
    const { status, body } = await askApi(daemon, [verb.toUpperCase(), target], asked);
    return JSON.stringify([status, body])
      .replaceAll(wsId, '<wsId>')
      .replaceAll(/"request_id":"[^"]*"/g, '');
  };
  const naming = rows.filter(({ path: route, request, body }) => {
    const { properties = {} } = z.toJSONSchema(request(), { io: 'input', unrepresentable: 'any' });
    return body !== 'multipart' && (route.includes('{ws_id}') || Object.hasOwn(properties, 'ws_id'));
  });
  assert.ok(naming.length > 20, 'the rows name workstreams as this test expects');
  for (const row of naming) {
    if (row.path.includes('{attachment_id}')) continue; // an unknown file, whatever its workstream
    if (row.path.endsWith('/workstreams/new')) continue; // takes an id for a new one; decision 62
    for (const { jwt } of [bob, viewer])
      assert.equal(await answer(row, hidden, jwt), await answer(row, unknown, jwt), `${row.verb} ${row.path}`);
  }
  assert.equal((await askApi(daemon, ['GET', `workstreams/${hidden}`], { token: ada.jwt })).status, 200);
  assert.equal((await askApi(daemon, ['GET', `workstreams/${hidden}`], { token: daemon.token })).status, 200);
});

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
