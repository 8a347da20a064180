import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { newUser, PASSWORD } from '../support/clients/accounts.ts';
import { askApi } from '../support/clients/ask-api.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { readBody } from '../support/clients/read-body.ts';
import { openStage } from '../support/daemon/stage.ts';
import { startLocalServer } from '../support/model/local-server.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const KEY = 'sk-not-for-eyes';
const { model, daemon } = await openStage({
  config: {
    models: { gone: { provider: 'openai', model: 'm', apiKey: KEY, baseUrl: 'http://127.0.0.1:1/v1' } },
    defaultModel: 'openai-compatible',
  },
});
model.onRequest(({ messages }) =>
  JSON.stringify(messages.findLast(({ role }) => role === 'user')?.content ?? '').includes('wants a tool')
    ? undefined
    : say('seen'),
);

async function create(sent: object | FormData, headers: Record<string, string> = {}) {
  const isForm = sent instanceof FormData;
  const answer = await daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { ...(!isForm && { 'Content-Type': 'application/json' }), ...headers },
    body: isForm ? sent : JSON.stringify(sent),
  });
  return { status: answer.status, body: await readBody(answer) };
}

const detail = async (wsId: string) => (await daemon.get(`/v1/api/workstreams/${wsId}`)).body;
const open = async () => (await daemon.get('/v1/api/workstreams')).body.workstreams.length;
const filesIn = () => readdir(path.join(daemon.home, 'attachments')).catch(() => []);

async function messagesOf(wsId: string) {
  const client = await daemon.client();
  const { snapshot } = await client.call('workstream.get', { wsId });
  if (snapshot.workstream.state !== 'idle' || snapshot.messages.length < 2) return messagesOf(wsId);
  return snapshot.messages;
}

const PNG = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(56, 7)]);

/** A form as browsers send it; files may come before `meta`. */
function formOf(meta: unknown, files: readonly File[], { filesFirst = false } = {}): FormData {
  const form = new FormData();
  const addMeta = () => {
    if (meta !== undefined) form.set('meta', typeof meta === 'string' ? meta : JSON.stringify(meta));
  };
  if (!filesFirst) addMeta();
  for (const file of files) form.append('file', file);
  if (filesFirst) addMeta();
  return form;
}

const picture = new File([new Uint8Array(PNG)], 'cat.png');
const notes = new File(['plain text'], 'notes.txt');

test('`ws_id` must create a workstream under that id, and answer 409 `Workstream already exists` if one has or had it', async () => {
  const ws_id = 'f'.repeat(32);
  const { status, body } = await create({ ws_id, name: 'chosen' });
  assert.deepEqual([status, body.ws_id, body.name], [200, ws_id, 'chosen']);
  const taken = { status: 409, body: { error: 'Workstream already exists' } };
  assert.deepEqual(await create({ ws_id }), taken);
  for (const odd of ['x', 'F'.repeat(32), 'f'.repeat(31), '../../etc/passwd', 'f'.repeat(33)]) {
    const refused = await create({ ws_id: odd });
    assert.deepEqual([odd, refused.status], [odd, 400]);
    assert.match(refused.body.error, /ws_id: /);
  }
});

test('`initial_message` must be sent to the new workstream, and its status must be answered', async () => {
  const { status, body } = await create({ initial_message: ' begin here ' }, { 'Idempotency-Key': 'first-1' });
  assert.deepEqual([status, body.initial_message_status, body.message_count], [200, 'ok', 0]);
  assert.deepEqual(
    (await messagesOf(body.ws_id)).map(({ content }) => content),
    ['begin here', 'seen'],
  );
  const repeated = await create({ initial_message: ' begin here ' }, { 'Idempotency-Key': 'first-1' });
  assert.deepEqual(repeated.body, body);
  assert.equal('initial_message_status' in (await create({ initial_message: '  ' })).body, false);
});

test('`auto_approve_tools` must let calls of these tools run without asking, and answer 403 without the approve scope', async () => {
  const { body } = await create({ auto_approve_tools: 'bash, edit_file' });
  assert.deepEqual((await detail(body.ws_id)).auto_approve_tools, ['bash', 'edit_file']);
  model.when('wants a tool', callTools({ name: 'bash', arguments: { command: 'touch it' }, id: 'call_a' }), say('ran'));
  await daemon.post('/v1/api/send', { ws_id: body.ws_id, message: 'wants a tool' });
  assert.equal((await messagesOf(body.ws_id)).at(-1)?.content, 'ran');
  await using talk = await openConversation(daemon, { autoApproveTools: ['edit_file'] });
  model.when('wants a tool and must ask', callTools({ name: 'bash', arguments: { command: 'touch it' } }), say('ran'));
  await talk.ask('wants a tool and must ask');
  await talk.until('approve_request');
  const client = await daemon.client();
  const { token } = await client.call('token.create', { name: 'writer', scope: 'write' });
  const before = await open();
  const refused = await create({ auto_approve_tools: ['bash'] }, { Authorization: `Bearer ${token}` });
  assert.deepEqual([refused.status, await open()], [403, before]);
});

test('`judge_model` must be stored and shown, and answer 400 for an unknown model', async () => {
  const { default_alias } = (await daemon.get('/v1/api/models')).body;
  const { body } = await create({ judge_model: default_alias });
  assert.equal((await detail(body.ws_id)).judge_model, default_alias);
  const { status, body: refusal } = await create({ judge_model: 'nobody' });
  assert.equal(status, 400);
  assert.match(refusal.error, /Unknown model "nobody"/);
});

test('A form must create a workstream with its files, in any order, which the first message takes', async () => {
  const withMessage = await create(
    formOf({ name: 'by form', initial_message: 'look' }, [picture, notes], { filesFirst: true }),
  );
  assert.deepEqual(
    [withMessage.status, withMessage.body.name, withMessage.body.attachment_ids?.length],
    [200, 'by form', 2],
  );
  const [first] = await messagesOf(withMessage.body.ws_id);
  const names = first?.role === 'user' ? first.attachments?.map(({ filename }) => filename) : [];
  assert.deepEqual([first?.content, names], ['look', ['cat.png', 'notes.txt']]);
  const waiting = await create(formOf({}, [notes]));
  const listed = (await daemon.get(`/v1/api/workstreams/${waiting.body.ws_id}/attachments`)).body.attachments;
  assert.deepEqual(
    listed.map(({ attachment_id }: { attachment_id: string }) => attachment_id),
    waiting.body.attachment_ids,
  );
  const plain = await create(formOf({ name: 'no files' }, []));
  assert.deepEqual([plain.status, plain.body.attachment_ids], [200, undefined]);
});

test('A form whose file or `meta` is refused must create nothing and keep no file', async () => {
  const before = { open: await open(), files: (await filesIn()).length };
  const binary = new File([new Uint8Array([0, 1, 2, 255, 254])], 'a.bin');
  const many = Array.from({ length: 11 }, (_none, n) => new File(['x'], `${n}.txt`));
  const big = new File([new Uint8Array(21 * 1024 * 1024).fill(120)], 'big.txt');
  const refusals: [FormData, number, RegExp][] = [
    [formOf({}, [notes, binary]), 400, /Only images/],
    [formOf({}, [notes, new File([], 'empty.txt')]), 400, /empty/i],
    [formOf({}, [big]), 413, /large|most/],
    [formOf({}, many), 400, /^too_many: at most 10/],
    [formOf(undefined, [notes]), 400, /^Missing form field: meta$/],
    [formOf('[1]', [notes]), 400, /^meta: must be a JSON object$/],
    [formOf('{', [notes]), 400, /^meta: must be a JSON object$/],
    [formOf({ name: 3 }, [notes]), 400, /^name: must be a string/],
    [formOf({ resume_ws: 'main' }, [notes]), 400, /resume_ws/],
    [formOf({ model: 'nobody' }, [notes]), 400, /Unknown model/],
  ];
  for (const [form, expected, text] of refusals) {
    const { status, body } = await create(form);
    assert.deepEqual([status, text.test(body.error)], [expected, true], body.error);
  }
  const broken = await daemon.fetch('/v1/api/workstreams/new', {
    method: 'POST',
    headers: { 'Content-Type': 'multipart/form-data; boundary=x' },
    body: '--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\ncut off',
  });
  assert.equal(broken.status, 400);
  assert.deepEqual({ open: await open(), files: (await filesIn()).length }, before);
});

test('`POST /v1/api/models/test` must say whether a model can be used, and why not, without showing its key', async () => {
  const { default_alias: alias } = (await daemon.get('/v1/api/models')).body;
  const ask = (body: object) => askApi(daemon, ['POST', 'models/test'], { body, token: daemon.token });
  const [good, gone, demo, none, empty] = await Promise.all(
    [{ model: alias }, { model: 'gone' }, { model: 'demo' }, { model: 'nobody' }, {}].map(ask),
  );
  assert.deepEqual([good?.status, good?.body.ok, typeof good?.body.model], [200, true, 'string']);
  assert.deepEqual([gone?.status, gone?.body.ok, gone?.body.problem.kind], [200, false, 'unreachable']);
  assert.doesNotMatch(JSON.stringify(gone?.body), new RegExp(KEY));
  assert.deepEqual([demo?.body.ok, none?.status, empty?.status], [true, 400, 400]);
  assert.match(none?.body.error, /Unknown model "nobody"/);
});

test('Servers of models on the machine must be listed, and a candidate with its key be tested, only for callers with `admin.settings`, and the key must be stored and shown nowhere', async (t) => {
  const local = await startLocalServer('found-over-http');
  t.after(() => local.close());
  const { username } = await newUser(daemon, ['builtin-operator']);
  const login = await askApi(daemon, ['POST', 'auth/login'], { body: { username, password: PASSWORD } });
  const ask = (target: readonly [string, string], body?: object, token = daemon.token) =>
    askApi(daemon, target, { ...(body && { body }), token });
  const listed = await ask(['GET', 'models?discover=1']);
  const isOurs = ({ models }: { models: string[] }) => models.includes('found-over-http');
  const found = listed.body.servers.find(isOurs);
  assert.equal(new URL(found.base_url).port, new URL(local.url).port);
  assert.equal((await ask(['GET', 'models'])).body.servers, undefined, 'nothing is looked for unasked');
  const candidate = { provider: 'openai-compatible', base_url: found.base_url, api_key: 'sk-canary-over-http' };
  const good = await ask(['POST', 'models/test'], { model: 'x', candidate });
  assert.deepEqual([good.status, good.body.ok, good.body.model], [200, true, 'found-over-http']);
  assert.ok(local.others.includes('GET /v1/models Bearer sk-canary-over-http'), local.others.join());
  const closed = { ...candidate, base_url: 'http://127.0.0.1:9/v1' };
  const other = await ask(['POST', 'models/test'], { model: 'x', candidate: closed });
  const wrong = await ask(['POST', 'models/test'], { model: 'x', candidate: { ...candidate, base_url: 'file:///x' } });
  assert.deepEqual([other.body.ok, wrong.status], [false, 400]);
  assert.match(wrong.body.error, /candidate\.base_url/);
  const unasked = local.others.length;
  const theirs = [
    await ask(['GET', 'models?discover=1'], undefined, login.body.jwt),
    await ask(['POST', 'models/test'], { model: 'x', candidate }, login.body.jwt),
  ];
  assert.deepEqual([theirs.map(({ status }) => status), local.others.length], [[403, 403], unasked]);
  const answers = JSON.stringify([listed, good, other, wrong, ...theirs].map(({ body }) => body));
  const kept = await readFile(path.join(daemon.home, 'config.json'), 'utf8');
  assert.ok(!`${answers}${kept}${JSON.stringify(daemon.output())}`.includes('sk-canary-over-http'));
});
