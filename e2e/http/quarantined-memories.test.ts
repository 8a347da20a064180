import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { button, visit } from '../support/clients/browser.ts';
import { type Answer, type Caller, callersOf } from '../support/clients/callers.ts';
import { openChecked } from '../support/clients/checked-client.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { daemon, model } = await openStage();
const { operator, newUser } = callersOf(daemon);

const ada = await newUser('ada', ['builtin-operator']);
const viewer = await newUser('vera', ['builtin-viewer']);

const save = (call: Caller, memory: object) => call('POST /v1/api/memories', memory);
const namesOf = ({ body }: Answer): string[] => body.memories.map(({ name }: { name: string }) => name);
const search = async (call: Caller, query: string) => namesOf(await call('POST /v1/api/memories/search', { query }));

const client = await openChecked(daemon);
const { token } = await client.ask('token.create', { name: 'writer', scope: 'write' });
const writer = await openChecked(daemon, { token });
after(() => {
  for (const { socket } of [client, writer]) socket.close();
});

/** An agent saves a memory because a caller without the approve scope wants it. */
async function quarantined(name: string, content: string) {
  model.when(name, callTools({ name: 'memory', arguments: { action: 'save', name, content } }), say('saved'));
  const { wsId } = await client.ask('workstream.create', {});
  await writer.ask('agent', { sessionKey: wsId, message: name, idempotencyKey: name });
  const { body } = await ada.call('GET /v1/api/quarantined-memories?limit=200');
  const found = body.memories.find((memory: { name: string }) => memory.name === name);
  return { wsId, memory: found, path: `/v1/api/quarantined-memories/${found?.memory_id}` };
}

test('A memory that an agent saved after untrusted content must be neither listed, found nor read until it is released', async () => {
  const { path } = await quarantined('waits', 'a wombat');
  const looks = async () => [
    namesOf(await ada.call('GET /v1/api/memories?limit=200')).includes('waits'),
    await search(ada.call, 'wombat'),
    (await ada.call('GET /v1/api/memories/waits')).status,
  ];
  const before = await looks();
  assert.equal((await operator(`POST ${path}/release`, {})).status, 201);
  assert.deepEqual(
    [before, await looks()],
    [
      [false, [], 404],
      [true, ['waits'], 200],
    ],
  );
});

test('A waiting memory must be listed with what the agent had read, and where', async () => {
  const { memory, wsId, path } = await quarantined('sourced', 'a numbat');
  const { memory_id, created, call_id, ...rest } = memory;
  assert.ok(memory_id && created && call_id);
  assert.deepEqual(rest, {
    ...{ name: 'sourced', description: '', type: 'project', scope: 'global', scope_id: '', content: 'a numbat' },
    ...{ taint: { kind: 'message' }, ws_id: wsId },
  });
  await client.ask('workstream.share', { wsId, visibility: 'private' });
  const { body } = await ada.call('GET /v1/api/quarantined-memories?limit=200');
  const hidden = body.memories.find((one: { name: string }) => one.name === 'sourced');
  assert.deepEqual([hidden.taint, hidden.ws_id, hidden.call_id], [{ kind: 'message' }, undefined, undefined]);
  assert.deepEqual(await ada.call(`DELETE ${path}`), { status: 200, body: { status: 'ok', name: 'sourced' } });
});

test('Releasing a waiting memory must answer 201, or 200 if it replaces one, and 404 `Memory not found` once it is decided', async () => {
  await save(ada.call, { name: 'kept_name', content: 'one' });
  const { path } = await quarantined('kept_name', 'two');
  assert.equal((await ada.call('GET /v1/api/memories/kept_name')).body.content, 'one');
  assert.equal((await viewer.call(`POST ${path}/release`, {})).status, 403);
  const released = await operator(`POST ${path}/release`, {});
  assert.deepEqual([released.status, released.body.content], [200, 'two']);
  for (const call of [`POST ${path}/release`, `DELETE ${path}`])
    assert.deepEqual(await operator(call), { status: 404, body: { error: 'Memory not found' } });
});

test('Releasing and discarding a memory must be recorded in the audit trail without its text', async () => {
  const released = await quarantined('audited_one', 'the bilby');
  const discarded = await quarantined('audited_two', 'the bilby');
  await operator(`POST ${released.path}/release`, {});
  await operator(`DELETE ${discarded.path}`);
  const { body } = await operator('GET /v1/api/admin/audit?limit=2');
  const rows: { action: string; resource_id: string }[] = body.events;
  assert.deepEqual(
    rows.map(({ action, resource_id }) => [action, resource_id]),
    [
      ['memory.discard', discarded.memory.memory_id],
      ['memory.release', released.memory.memory_id],
    ],
  );
  assert.doesNotMatch(JSON.stringify(body), /bilby/);
});

test('headgate memory saves, lists, shows and deletes memories, and decides about those that wait', async () => {
  const memory = (...words: string[]) => runHeadgate(['memory', ...words], { HEADGATE_HOME: daemon.home });
  assert.equal((await memory('save', 'By Hand', 'a dingo', '--type', 'reference')).stderr, 'Saved.\n');
  assert.equal((await memory('save', 'by-hand', 'two dingos')).stderr, 'Saved; it replaces the former one.\n');
  assert.match((await memory('list', '--search', 'dingos')).stdout, /^by_hand +global +reference +.+ two dingos$/m);
  assert.equal((await memory('show', 'by hand')).stdout, 'two dingos\n');
  assert.equal((await memory('delete', 'by hand')).stderr, 'Deleted.\n');
  assert.match((await memory('show', 'by hand')).stderr, /Memory 'by_hand' not found/);
  const [one, two] = [await quarantined('cli_one', 'a dunnart'), await quarantined('cli_two', 'a potoroo')];
  const [first, second] = [one.memory.memory_id, two.memory.memory_id];
  const list = await memory('list', '--waiting');
  assert.match(list.stdout, new RegExp(`^${first} +cli_one +global +.+ messages? .+ a dunnart$`, 'm'));
  assert.equal((await memory('show', first)).stdout, 'a dunnart\n');
  assert.equal((await memory('release', first)).stderr, 'Released.\n');
  assert.equal((await memory('discard', second)).stderr, 'Deleted.\n');
  const again = await memory('discard', second);
  assert.deepEqual([again.code, again.stderr.includes('Memory not found')], [1, true]);
  assert.deepEqual(JSON.parse((await memory('list', '--waiting', '--json')).stdout), []);
});

test('the page lists memories that wait, and releases and deletes them', async (t) => {
  await quarantined('seen_one', 'a quoll <b>bold</b>');
  await quarantined('seen_two', 'a bettong');
  const { page } = await visit(t, daemon);
  await button(page, 'Agent').click();
  await button(page, 'Memories').click();
  await page.getByText(/^2 to look at/).waitFor();
  await page.getByText('a quoll <b>bold</b>').waitFor();
  await button(page, 'Release seen_one').click();
  await page.getByText(/^1 to look at/).waitFor();
  await button(page, 'Discard seen_two').click();
  await button(page, 'Discard').click();
  await page.getByText('to look at').waitFor({ state: 'hidden' });
  const { body } = await ada.call('GET /v1/api/quarantined-memories');
  assert.deepEqual([body.total, await search(ada.call, 'quoll')], [0, ['seen_one']]);
});
