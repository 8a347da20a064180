import assert from 'node:assert/strict';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { endpoints } from '../../protocol/client/endpoint-addresses.ts';
import { createHttpClient } from '../../protocol/client/http-client.ts';
import { withoutTimes } from '../support/clients/chat-terminal.ts';
import { openTerminal } from '../support/clients/terminal.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();
const slow = stall();
model.onRequest(({ messages }) => (JSON.stringify(messages).includes('slowly') ? [slow, say('seen')] : say('seen')));

/** Bytes that start like an image. */
const png = (size = 64) => Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(size - 8, 7)]);
const imagePart = (bytes: Buffer) => ({
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${bytes.toString('base64')}` },
});
const filesOf = ({ home }: { home: string }): Promise<string[]> =>
  readdir(path.join(home, 'attachments')).catch(() => []); // created with the first attachment

/** The user messages of the last request, each with its parts. */
const asked = () =>
  model.requests.at(-1)?.body.messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
const lastParts = () => asked()?.at(-1);

test('headgate run --attach uploads the file and the model sees it', async () => {
  const file = path.join(daemon.home, 'picture.png');
  await writeFile(file, png());
  const target = ['--url', daemon.url, '--token', daemon.token];
  const { code, stdout, stderr } = await runHeadgate(['run', 'look at it', '--attach', file, ...target]);
  assert.deepEqual([code, stdout.trim()], [0, 'seen'], stderr);
  assert.deepEqual(lastParts(), [imagePart(png()), { type: 'text', text: 'look at it' }]);
});

test('each --attach takes one file, so the task may follow it', async () => {
  const files = ['first.png', 'second.png'].map((name) => path.join(daemon.home, name));
  for (const file of files) await writeFile(file, png());
  const [first = '', second = ''] = files;
  const target = ['--url', daemon.url, '--token', daemon.token];
  const { code, stderr } = await runHeadgate(['run', ...target, '--attach', first, '--attach', second, 'compare them']);
  assert.equal(code, 0, stderr);
  assert.deepEqual(lastParts(), [imagePart(png()), imagePart(png()), { type: 'text', text: 'compare them' }]);
});

test('headgate run --attach with a used key joins the earlier run; another file with that key is a conflict', async () => {
  const file = path.join(daemon.home, 'same.png');
  await writeFile(file, png());
  const target = ['--url', daemon.url, '--token', daemon.token];
  const again = () =>
    runHeadgate(['run', 'what is it', '--attach', file, '--attach', file, '--key', 'nächtlich', ...target]);
  const [requests, files] = [model.requests.length, (await filesOf(daemon)).length];
  const both = [await again(), await again()];
  assert.deepEqual(
    both.map(({ code, stdout, stderr }) => [code, stdout.trim(), stderr.includes('CONFLICT')]),
    both.map(() => [0, 'seen', false]),
  );
  assert.deepEqual([model.requests.length, (await filesOf(daemon)).length], [requests + 1, files + 2]);
  await writeFile(file, png(65));
  const { code, stderr } = await again();
  assert.equal(code, 1);
  assert.match(stderr, /this idempotency key was used with other params/);
});

test('a conflicting headgate run --attach does not disturb the run that has the key', async () => {
  const file = path.join(daemon.home, 'disputed.png');
  await writeFile(file, png());
  const args = ['run', 'slowly', '--attach', file, '--key', 'disputed', '--url', daemon.url, '--token', daemon.token];
  const first = await spawnHeadgate({ args, env: {} });
  await slow.reached;
  await writeFile(file, png(65));
  const { code, stderr } = await runHeadgate(args);
  slow.release();
  assert.equal(code, 1);
  assert.match(stderr, /^headgate: this idempotency key was used with other params[^\n]* \(HTTP 409\)\n$/);
  assert.equal((await first.exited).code, 0, first.stderr());
  assert.equal(first.stdout().trim(), 'seen');
});

test('headgate run --attach refuses an unsuitable file in one line and creates nothing', async () => {
  const place = (name: string) => path.join(daemon.home, name);
  await writeFile(place('x.bin'), Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3, ...new Array(64).fill(0)]));
  await writeFile(place('large.png'), png(6 * 1024 * 1024 + 1));
  await writeFile(place('long.txt'), Buffer.alloc(20 * 1024 * 1024 + 1, 'a'));
  await writeFile(place('small.txt'), 'small');
  const before = await knownWorkstreams();
  const attach = async (...names: string[]) => {
    const files = names.flatMap((name) => ['--attach', place(name)]);
    const { code, stderr } = await runHeadgate(['run', 'look', ...files, '--url', daemon.url, '--token', daemon.token]);
    return [code, stderr.replaceAll(`${daemon.home}/`, '')];
  };
  const only = 'Only images (PNG, JPEG, GIF, WebP), PDFs, recordings, videos and UTF-8 text can be attached';
  const none = 'it does not exist';
  assert.deepEqual(
    [
      await attach('small.txt', 'x.bin'),
      await attach('large.png'),
      await attach('long.txt'),
      await attach('none.txt'),
      await attach(...new Array<string>(11).fill('small.txt')),
    ],
    [
      [2, `headgate: x.bin cannot be attached: ${only}\n`],
      [2, 'headgate: large.png cannot be attached: The image is too large: at most 6 MiB\n'],
      [2, 'headgate: long.txt cannot be attached: The file is too large: at most 20 MiB\n'],
      [2, `headgate: none.txt cannot be attached: ${none}\n`],
      [2, 'headgate: --attach names 11 files; a message takes at most 10.\n'],
    ],
  );
  assert.deepEqual(await knownWorkstreams(), before);
});

test('headgate run --attach reports in one line that the file cannot be stored, and leaves no workstream behind', async () => {
  const [file, folder] = [path.join(daemon.home, 'fine.txt'), path.join(daemon.home, 'attachments')];
  await writeFile(file, 'fine');
  const before = await knownWorkstreams();
  await rename(folder, `${folder}.away`).catch(() => undefined); // created with the first attachment
  await writeFile(folder, 'in the way');
  const target = ['--url', daemon.url, '--token', daemon.token];
  const { code, stderr } = await runHeadgate(['run', 'look', '--attach', file, ...target]);
  await rm(folder);
  await rename(`${folder}.away`, folder).catch(() => undefined);
  assert.equal(code, 1);
  assert.match(stderr, /^headgate: [^\n]+ \(HTTP 50\d\)\n$/);
  assert.deepEqual(await knownWorkstreams(), before);
});

test('/attach in a chat shows the file and attaches it only to the next message', async () => {
  const [wsId, file] = [await newWorkstream('attaching'), path.join(daemon.home, 'my cat.png')];
  await writeFile(file, png());
  await using chat = openTerminal({ args: ['chat', '--ws', wsId], env: { HEADGATE_HOME: daemon.home } });
  await chat.until((rows) => rows.at(-1) === '›', 'the prompt');
  chat.type('/attach /nowhere/at.all\r');
  await chat.until(has('/nowhere/at.all cannot be attached: it does not exist'), 'the refusal');
  chat.type(`/attach "${file}"\r`);
  await chat.until(has('+ my cat.png (image/png, 64 bytes) is attached to the next message'), 'the file');
  chat.type('look\r');
  const rows = withoutTimes(await chat.until(isAnswered(1), 'the answer'));
  // The line of the image follows as soon as the chat has read it.
  const start = rows.indexOf('› look');
  assert.deepEqual(rows.slice(start, start + 3), ['› look', '  + my cat.png', '']);
  assert.deepEqual(lastParts(), [imagePart(png()), { type: 'text', text: 'look' }]);
  chat.type('and now\r');
  await chat.until(isAnswered(2), 'the second answer');
  assert.deepEqual(asked(), [[imagePart(png()), { type: 'text', text: 'look' }], 'and now']);
});

test('a conversation resumed in another workstream keeps its files, even if the first one is deleted', async () => {
  const client = await daemon.client();
  const [first, second] = [await newWorkstream('holiday'), await newWorkstream('office')];
  const http = createHttpClient({ baseUrl: daemon.url, token: daemon.token });
  const { attachment_id: id } = await http.call(endpoints.attachment.upload, {
    ws_id: first,
    file: new File([new Uint8Array(png(70))], 'beach.png'),
  });
  const sent = { sessionKey: first, message: 'where', attachmentIds: [id], idempotencyKey: 'holiday' };
  await client.call('agent.wait', { runId: (await client.call('chat.send', sent)).runId, timeoutMs: 60_000 });
  await using chat = openTerminal({ args: ['chat', '--ws', second], env: { HEADGATE_HOME: daemon.home } });
  await chat.until((rows) => rows.at(-1) === '›', 'the prompt');
  chat.type('/resume holiday\r');
  await chat.until((rows) => has('+ beach.png')(rows) && isAnswered(1)(rows), 'the conversation');
  await client.call('sessions.delete', { key: first });
  chat.type('and when\r');
  await chat.until(isAnswered(2), 'the answer');
  assert.deepEqual(asked(), [[imagePart(png(70)), { type: 'text', text: 'where' }], 'and when']);
  const file = await http.download(endpoints.attachment.content, { ws_id: second, attachment_id: id });
  assert.deepEqual([file.type, Buffer.from(await file.arrayBuffer())], ['image/png', png(70)]);
});

/** The ids of open and of saved workstreams. */
async function knownWorkstreams(): Promise<string[][]> {
  const client = await daemon.client();
  const lists = [await client.call('workstream.list', {}), await client.call('workstream.saved', {})];
  return lists.map(({ workstreams }) => workstreams.map(({ wsId }) => wsId));
}

async function newWorkstream(name: string): Promise<string> {
  return (await (await daemon.client()).call('workstream.create', { name })).wsId;
}

const has = (text: string) => (rows: string[]) => rows.some((row) => row.includes(text));
/** Waits for this many answers, and the prompt after them. */
const isAnswered = (count: number) => (rows: string[]) =>
  rows.filter((row) => row === 'seen').length === count && rows.at(-1) === '›';
