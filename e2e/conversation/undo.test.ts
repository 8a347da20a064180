import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const write = (file: string, content: string) =>
  callTools({ name: 'bash', arguments: { command: `printf %s '${content}' > '${file}'` } });

model.when('one', write('a.txt', 'by run one'), say('ONE'));
model.when('two', write('a.txt', 'by run two'), say('TWO'));
model.when(
  'three',
  callTools({ name: 'bash', arguments: { command: 'rm a.txt; mkdir -p x/y; echo new > x/y/z' } }),
  say('3'),
);
model.when('look', callTools({ name: 'list_directory', arguments: { path: '.' } }), say('LOOKED'));
model.when('what', say('NOTHING'));

/** A workstream in a folder of its own, whose calls run unasked. */
async function inFolder() {
  const folder = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-undo-')));
  after(() => rm(folder, { recursive: true, force: true }));
  let client: GatewayClient = await daemon.client();
  const { wsId } = await client.call('workstream.create', { workdir: folder, autoApprove: true });
  const at = (file: string) => path.join(folder, file);
  return {
    wsId,
    folder,
    at,
    read: (file: string) => readFile(at(file), 'utf8').catch(() => undefined),
    get client() {
      return client;
    },
    async run(...messages: string[]): Promise<void> {
      for (const message of messages) {
        const { runId = '' } = await client.call('workstream.send', { wsId, message });
        const { status } = await client.call('agent.wait', { runId, timeoutMs: 60_000 });
        assert.equal(status, 'ok');
      }
    },
    async restart() {
      await daemon.kill9();
      await daemon.restart();
      client = await daemon.client();
    },
    async notes(): Promise<string[]> {
      const { snapshot } = await client.call('workstream.get', { wsId });
      return snapshot.notes?.flatMap((note) => (note.kind === 'info' ? [note.message] : [])) ?? [];
    },
  };
}

const told = () => model.requests.at(-1)?.body.messages.map(({ content }) => String(content)) ?? [];
const route = (wsId: string, rest: string) => `/v1/api/workstreams/${wsId}/${rest}`;

test('An undo must take back what the last run changed on disk, and a redo must bring it back', async () => {
  const it = await inFolder();
  await writeFile(it.at('a.txt'), 'before');
  await it.run('one', 'look', 'two');
  const { enabled, checkpoints } = await it.client.call('checkpoint.list', { wsId: it.wsId });
  assert.deepEqual(
    [enabled, checkpoints.map(({ state, files }) => [state, files])],
    [
      true,
      [
        ['done', 1],
        ['done', 1],
      ],
    ],
  );
  const { files } = await it.client.call('checkpoint.diff', { wsId: it.wsId });
  assert.match(files[0]?.diff ?? '', /-by run one[\s\S]*\+by run two/);
  const preview = await it.client.call('checkpoint.preview', { wsId: it.wsId });
  assert.deepEqual([preview.changes, preview.conflicts], [[{ path: 'a.txt', change: 'modified' }], []]);
  const before = told();
  const undo = { wsId: it.wsId, idempotencyKey: `undo ${it.wsId}` };
  const done = await it.client.call('checkpoint.undo', undo);
  assert.deepEqual([done.changed, await it.read('a.txt')], [['a.txt'], 'by run one']);
  assert.deepEqual(await it.client.call('checkpoint.undo', undo), done, 'the same key takes nothing back twice');
  await it.run('what');
  assert.deepEqual(told().slice(0, before.length), before, 'what the model has read stays as it was');
  assert.ok(told().some((text) => /^<environment>\nThe person took back .* a\.txt\./.test(text)));
  await it.restart();
  await it.client.call('checkpoint.undo', { wsId: it.wsId });
  assert.equal(await it.read('a.txt'), 'before');
  const refused = it.client.call('checkpoint.undo', { wsId: it.wsId });
  await assert.rejects(refused, { code: 'NOT_FOUND', message: 'There is nothing to take back.' });
  const redone = await daemon.post(route(it.wsId, 'redo'), { run_id: checkpoints[0]?.runId });
  assert.deepEqual([redone.status, redone.body.run_ids.length, await it.read('a.txt')], [200, 2, 'by run two']);
  const { events } = await it.client.call('audit.list', { action: 'checkpoint.undo' });
  assert.ok(events.some(({ resourceId, detail }) => resourceId === it.wsId && JSON.parse(detail).files === 1));
});

test('A file that is not as the run left it must be a conflict, and nothing may change until the caller chooses', async () => {
  const it = await inFolder();
  await writeFile(it.at('a.txt'), 'before');
  await it.run('three');
  await writeFile(it.at('x/y/z'), 'by a person');
  await writeFile(it.at('other'), 'by a person');
  const refused = await daemon.post(route(it.wsId, 'undo'), {});
  assert.deepEqual([refused.status, refused.body.conflicts], [409, [{ path: 'x/y/z', reason: 'changed' }]]);
  assert.equal(await it.read('a.txt'), undefined);
  await it.client.call('workstream.command', { wsId: it.wsId, command: '/undo' });
  const kept = await daemon.post(route(it.wsId, 'undo'), { choices: [{ path: 'x/y/z', choice: 'keep' }] });
  assert.deepEqual([kept.body.changed, kept.body.kept], [['a.txt'], ['x/y/z']]);
  assert.deepEqual(await Promise.all(['a.txt', 'x/y/z', 'other'].map(it.read)), [
    'before',
    'by a person',
    'by a person',
  ]);
  const redone = await it.client.call('checkpoint.redo', { wsId: it.wsId, onConflict: 'overwrite' });
  assert.deepEqual([redone.changed.toSorted(), await it.read('x/y/z')], [['a.txt', 'x/y/z'], 'new\n']);
});

test('slash commands show, take back and bring back what a run changed', async () => {
  const it = await inFolder();
  await it.run('one');
  const command = (text: string) => it.client.call('workstream.command', { wsId: it.wsId, command: text });
  await command('/diff');
  await command('/undo');
  assert.equal(await it.read('a.txt'), undefined);
  await command('/redo');
  assert.equal(await it.read('a.txt'), 'by run one');
  assert.equal((await command('/undo everything')).error, 'No run has changed this file: everything');
  await command('/undo ./a.txt');
  assert.equal(await it.read('a.txt'), undefined, 'a single file');
  await command('/redo "a.txt"');
  assert.equal(await it.read('a.txt'), 'by run one');
  const [shown = '', taken, back] = await it.notes();
  assert.match(shown, /^Changes of the last run:\nA a\.txt \+1 −0\n[\s\S]*\+by run one/);
  assert.deepEqual(
    [taken, back],
    [
      'What the last run changed on disk was taken back: 1 file (a.txt).',
      'What the last run changed on disk is back: 1 file (a.txt).',
    ],
  );
  const { checkpoints } = (await daemon.get(route(it.wsId, 'checkpoints'))).body;
  const { body } = await daemon.get(route(it.wsId, `diff?run_id=${checkpoints[0].run_id}&path=a.txt`));
  assert.deepEqual([body.files[0].path, body.files[0].additions, body.left_out], ['a.txt', 1, []]);
});

test('A rewind must leave files as they are unless `files` is true', async () => {
  const it = await inFolder();
  await it.run('one', 'two', 'three');
  await it.client.call('workstream.rewind', { wsId: it.wsId, turns: 1 });
  assert.equal(await it.read('x/y/z'), 'new\n');
  const { status, body } = await daemon.post(route(it.wsId, 'rewind'), { turns: 1, files: true });
  assert.deepEqual([status, body.files.run_ids.length, body.files.changed.toSorted()], [200, 2, ['a.txt', 'x/y/z']]);
  assert.deepEqual([await it.read('a.txt'), existsSync(it.at('x'))], ['by run one', false]);
  await writeFile(it.at('a.txt'), 'by a person');
  const refused = it.client.call('workstream.rewind', { wsId: it.wsId, turns: 1, files: true });
  await assert.rejects(refused, { code: 'CONFLICT' });
  const { messages } = await it.client.call('workstream.history', { wsId: it.wsId });
  assert.equal(messages[0]?.content, 'one', 'a refused rewind takes no message back');
});

test('Nothing must be taken back while a run is in progress, nor in another folder at the path', async () => {
  const it = await inFolder();
  await it.run('one');
  const stalled = stall();
  model.when('slow', [stalled, say('SLOW')]);
  const { runId = '' } = await it.client.call('workstream.send', { wsId: it.wsId, message: 'slow' });
  await stalled.reached;
  await assert.rejects(it.client.call('checkpoint.undo', { wsId: it.wsId }), { code: 'BUSY' });
  stalled.release();
  await it.client.call('agent.wait', { runId, timeoutMs: 60_000 });
  const moved = `${it.folder}.moved`;
  await rename(it.folder, moved);
  after(() => rm(moved, { recursive: true, force: true }));
  await symlink(moved, it.folder);
  await assert.rejects(it.client.call('checkpoint.undo', { wsId: it.wsId }), { code: 'CONFLICT' });
  assert.equal(await readFile(path.join(moved, 'a.txt'), 'utf8'), 'by run one');
  await rm(it.folder);
  await rename(moved, it.folder);
  await it.client.call('checkpoint.undo', { wsId: it.wsId });
  assert.equal(await it.read('a.txt'), undefined);
});

test('the snapshots of a workstream go with it', async () => {
  const it = await inFolder();
  await it.run('one');
  const stored = path.join(daemon.home, 'checkpoints', it.wsId);
  assert.ok(existsSync(stored));
  await it.client.call('workstream.delete', { wsId: it.wsId });
  assert.equal(existsSync(stored), false);
});

test('a link that was put in place of a folder is not followed, and what failed does not count as changed', async () => {
  const it = await inFolder();
  const outside = await inFolder();
  await mkdir(it.at('x/y'), { recursive: true });
  await writeFile(it.at('x/y/z'), 'old');
  await it.run('three');
  await rm(it.at('x/y'), { recursive: true });
  await writeFile(outside.at('z'), 'new\n');
  await symlink(outside.folder, it.at('x/y'));
  const { changed, failed } = await it.client.call('checkpoint.undo', { wsId: it.wsId, onConflict: 'overwrite' });
  assert.deepEqual([changed, failed.map((one) => one.path)], [[], ['x/y/z']]);
  assert.equal(await outside.read('z'), 'new\n');
});

test('A single file of a run must be taken back and brought back, unless somebody has changed it since', async () => {
  const it = await inFolder();
  await writeFile(it.at('a.txt'), 'before');
  await it.run('one', 'three', 'two');
  const { checkpoints } = await it.client.call('checkpoint.list', { wsId: it.wsId });
  const third = checkpoints[1]?.runId;
  const single = (direction: 'undo' | 'redo', file: string, more = {}) =>
    it.client.call(`checkpoint.${direction}`, { wsId: it.wsId, runId: third, path: file, ...more });
  const states = async () => (await it.client.call('checkpoint.list', { wsId: it.wsId })).checkpoints;
  assert.deepEqual((await single('undo', 'x/y/z')).changed, ['x/y/z']);
  assert.equal(await it.read('x/y/z'), undefined);
  assert.deepEqual(await states(), checkpoints, 'the runs stay as they are');
  assert.deepEqual((await single('undo', 'x/y/z')).changed, [], 'it is already as wanted');
  assert.deepEqual((await single('redo', 'x/y/z', { idempotencyKey: 'back' })).changed, ['x/y/z']);
  await rm(it.at('x/y/z'));
  assert.deepEqual((await single('redo', 'x/y/z', { idempotencyKey: 'back' })).changed, ['x/y/z'], 'once per key');
  assert.equal(await it.read('x/y/z'), undefined);
  await writeFile(it.at('x/y/z'), 'mine');
  for (const [direction, reason] of [
    ['undo', 'changed'],
    ['redo', 'created'],
  ] as const)
    await assert.rejects(single(direction, 'x/y/z'), {
      code: 'CONFLICT',
      details: { conflicts: [{ path: 'x/y/z', reason }] },
    });
  assert.equal(await it.read('x/y/z'), 'mine');
  await assert.rejects(single('undo', 'a.txt'), { code: 'CONFLICT' }, 'a later run has made it again');
  assert.equal(await it.read('a.txt'), 'by run two');
  for (const file of ['../a.txt', `${it.folder}/x/y/z`, 'x/y', 'other.txt'])
    await assert.rejects(single('undo', file), { code: 'NOT_FOUND' });
  await assert.rejects(single('undo', 'x/y/z', { onConflict: 'overwrite' }), { code: 'INVALID_REQUEST' });
  const elsewhere = await realpath(await mkdtemp(path.join(tmpdir(), 'headgate-elsewhere-')));
  after(() => rm(elsewhere, { recursive: true, force: true }));
  await mkdir(path.join(elsewhere, 'y'));
  await writeFile(path.join(elsewhere, 'y/z'), 'new\n');
  await rm(it.at('x'), { recursive: true });
  await symlink(elsewhere, it.at('x'));
  await single('undo', 'x/y/z').catch(() => undefined);
  assert.equal(await readFile(path.join(elsewhere, 'y/z'), 'utf8'), 'new\n', 'nothing changes behind a link');
  const [last] = checkpoints;
  const reply = await daemon.post(route(it.wsId, 'undo'), { run_id: last?.runId, path: 'a.txt' });
  assert.deepEqual([reply.status, reply.body.changed], [200, ['a.txt']]);
  assert.equal(await it.read('a.txt'), undefined);
});
