import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { methods } from '@agentclientprotocol/sdk';
import { newUser, PASSWORD } from '../support/clients/accounts.ts';
import { type AcpEditor, newSession, openEditor, prompt, spawnAcp } from '../support/clients/acp-editor.ts';
import { openStage } from '../support/daemon/stage.ts';
import { within } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const here = { HEADGATE_HOME: daemon.home };
const cwd = await mkdtemp(path.join(tmpdir(), 'headgate-acp-'));
after(() => rm(cwd, { recursive: true, force: true }));

const { session } = methods.agent;
const begin = (editor: AcpEditor) => newSession(editor, cwd);

test('the session goes on after kill -9 of the daemon, with the question that was asked', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  model.when(
    'survive',
    callTools({ name: 'bash', arguments: { command: 'echo alive > alive.txt' } }),
    say('Survived.'),
  );
  const asked = prompt(editor, sessionId, 'survive');
  const { answer } = await editor.permissions.until(() => true);
  await daemon.kill9();
  await daemon.restart();
  answer('allow');
  assert.deepEqual(await asked, { stopReason: 'end_turn' });
  assert.equal(await readFile(path.join(cwd, 'alive.txt'), 'utf8'), 'alive\n');
  assert.equal(editor.permissions.all.length, 1);
  assert.match(editor.textIn(sessionId), /Survived\.$/);
});

test('an answer that a kill -9 cuts off is marked, and given again', async () => {
  await using editor = await openEditor({ env: here });
  const sessionId = await begin(editor);
  const cut = stall();
  model.when('cut me off', [say('The beginning'), cut]);
  const asked = prompt(editor, sessionId, 'cut me off');
  await cut.reached;
  await editor.updates.until(({ update }) => update.sessionUpdate === 'agent_message_chunk');
  model.when('cut me off', say('The whole.'));
  await daemon.kill9();
  await daemon.restart();
  assert.deepEqual(await asked, { stopReason: 'end_turn' });
  assert.match(editor.textIn(sessionId), /^The beginning\n\n\(A restart cut off the answer above.*\)\n\nThe whole\.$/);
});

test('after kill -9 of the editor’s process, the run goes on, and a load asks again', async () => {
  const killed = await openEditor({ env: here });
  const sessionId = await begin(killed);
  model.when('leave me', callTools({ name: 'bash', arguments: { command: 'echo left > left.txt' } }), say('Left.'));
  prompt(killed, sessionId, 'leave me').catch(() => undefined);
  await killed.permissions.until(() => true);
  await killed.kill9();
  await using editor = await openEditor({ env: here });
  await editor.agent.request(session.load, { sessionId, cwd, mcpServers: [] });
  const { request, answer } = await editor.permissions.until(() => true);
  assert.match(request.toolCall.title ?? '', /echo left/);
  answer('allow');
  await editor.updates.until(() => editor.textIn(sessionId).endsWith('Left.'));
  assert.equal(await readFile(path.join(cwd, 'left.txt'), 'utf8'), 'left\n');
});

test('without a daemon, with a wrong token or a wrong folder, the editor sees what is wrong', async () => {
  await using alone = await openEditor({ args: ['--home', '/nowhere'] });
  await assert.rejects(begin(alone), /No daemon is running in \/nowhere\. Start one \(headgate start\)/);
  await using wrong = await openEditor({ env: here, args: ['--token', 'wrong'] });
  await assert.rejects(begin(wrong), { code: -32_000 });
  await using editor = await openEditor({ env: here });
  await assert.rejects(editor.agent.request(session.new, { cwd: 'src', mcpServers: [] }), /must be an absolute path/);
  await assert.rejects(
    editor.agent.request(session.new, { cwd: path.join(cwd, 'nothing'), mcpServers: [] }),
    /nothing/,
  );
});

test('a token that may only read begins nothing, one that may write decides nothing, and strangers load nothing', async () => {
  const client = await daemon.client();
  const tokenOf = async (scope: 'read' | 'write') =>
    (await client.call('token.create', { name: `acp ${scope}`, scope })).token;
  await using reader = await openEditor({ env: here, args: ['--token', await tokenOf('read')] });
  await assert.rejects(begin(reader), /needs the write scope/);
  await using writer = await openEditor({ env: here, args: ['--token', await tokenOf('write')] });
  const sessionId = await begin(writer);
  model.when('may I', callTools({ name: 'bash', arguments: { command: 'touch may' } }), say('x'));
  const asked = prompt(writer, sessionId, 'may I');
  (await writer.permissions.until(() => true)).answer('allow');
  await writer.updates.until(() => writer.textIn(sessionId).includes('did not count'), 'that it did not count');
  await writer.agent.notify(session.cancel, { sessionId });
  assert.deepEqual(await asked, { stopReason: 'cancelled' });

  const { username } = await newUser(daemon, ['builtin-operator']);
  const { jwt } = await client.call('auth.login', { username, password: PASSWORD });
  const mine = await client.call('workstream.create', { visibility: 'private' });
  await using stranger = await openEditor({ env: here, args: ['--token', jwt] });
  await assert.rejects(stranger.agent.request(session.load, { sessionId: mine.wsId, cwd, mcpServers: [] }), {
    code: -32_002,
  });
});

test('broken, repeated and early messages are answered with errors, and the session goes on', async () => {
  await using editor = await openEditor({ env: here, initialize: false });
  const answers = () => editor.lines().map((line) => JSON.parse(line));
  const send = (line: string) => void editor.child.stdin.write(`${line}\n`);
  const answered = (count: number) => within(untilLines(editor, count), 60_000, () => editor.lines().join('\n'));
  send('{"jsonrpc":"2.0","id":"early","method":"session/new","params":{"cwd":"/tmp","mcpServers":[]}}');
  send('{"broken');
  send('[{"jsonrpc":"2.0","id":1,"method":"initialize"}]');
  send('{"id":5}'); // neither a request nor an answer to one
  send('{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":1}}');
  send('{"jsonrpc":"2.0","id":"a","method":"initialize","params":{"protocolVersion":"x"}}');
  send('{"jsonrpc":"2.0","id":"b","method":"session/fly","params":{}}');
  await answered(6);
  assert.deepEqual(
    new Set(answers().map(({ id, error }) => `${id} ${error?.code ?? 'ok'}`)),
    new Set(['a -32602', 'a ok', 'b -32601', 'early -32600', 'null -32600', 'null -32700']),
  );
  const sessionId = await begin(editor);
  model.when('still there', say('Yes.'));
  assert.deepEqual(await prompt(editor, sessionId, 'still there'), { stopReason: 'end_turn' });
});

const untilLines = async (editor: AcpEditor, count: number) => {
  while (editor.lines().length < count) await once(editor.child.stdout, 'data');
};

test('a message beyond the limit ends the process with the reason, and stdin that ends ends it quietly', async () => {
  const huge = spawnAcp({ env: here });
  const ended = once(huge, 'close');
  huge.stdin.on('error', () => undefined); // it stops reading
  let stderr = '';
  huge.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  huge.stdin.write('x'.repeat(33 * 1024 * 1024));
  assert.deepEqual((await ended)[0], 1);
  assert.match(stderr, /exceeds the configured 33554432 byte limit/);
  const quiet = spawnAcp({ env: here });
  quiet.stdin.end();
  assert.deepEqual((await once(quiet, 'close'))[0], 0);
});

test('an editor that does not read slows nobody else, and gets everything later', async () => {
  const child = spawnAcp({ env: here });
  const send = (id: number, method: string, params: object) =>
    void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  let read = '';
  child.stdout.on('data', (bytes: Buffer) => {
    read += bytes.toString();
  });
  const until = async (found: string) => {
    while (!read.includes(found)) await once(child.stdout, 'data');
  };
  send(1, 'initialize', { protocolVersion: 1 });
  await until('"agentInfo"');
  send(2, 'session/new', { cwd, mcpServers: [] });
  await until('"sessionId"');
  const sessionId = /"sessionId":"([0-9a-f]{32})"/.exec(read)?.[1] ?? '';
  child.stdout.pause();
  const words = Array.from({ length: 3_000 }, (_, index) => `${'word '.repeat(40)}${index} `);
  model.when('talk a lot', say(...words));
  const client = await daemon.client();
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  const isThere = Promise.withResolvers<void>();
  const following = client.subscribe(sessionId, {
    onSnapshot: () => isThere.resolve(),
    onEvent: (event) => {
      if (event.type === 'ws_state' && event.run) resolve();
    },
  });
  await isThere.promise;
  send(3, 'session/prompt', { sessionId, prompt: [{ type: 'text', text: 'talk a lot' }] });
  await within(ended, 60_000, () => 'the run ends although the editor does not read');
  following.close();
  child.stdout.resume();
  await within(until('"stopReason"'), 60_000, () => 'the answer to the prompt');
  for (const index of [0, 1_499, 2_999]) assert.ok(read.includes(`word ${index} `), String(index));
  child.stdin.end();
  await once(child, 'close');
});
