import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createGatewayClient } from '../../protocol/client/ws-client.ts';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

/** Tool calls made while the folder is being swapped; SWAP_RACES=1000 takes a minute. */
const RACES = Number(process.env.SWAP_RACES ?? 240);
const CANARY = 'CANARY-5b1c';
/** Unique to this run, because the tests also search for it at the root of the disk. */
const PLANTED = `planted-${process.pid}-${randomBytes(4).toString('hex')}`;
const HARMLESS = 'harmless';
/** The machine's sandbox, and the requirements of the tests. */
const SANDBOXES = { working: await needs('bubblewrap'), missing: {} };
const UNSANDBOXED = new URL('../support/daemon/unsandboxed-daemon.ts', import.meta.url);
const SWAPPER = fileURLToPath(new URL('../support/fixtures/folder-swapper.ts', import.meta.url));

interface Scene extends AsyncDisposable {
  daemon: DaemonUnderTest;
  model: ScriptedModel;
  work: string;
  sibling: string;
  userHome: string;
}

/** A workstream's folder next to one with a canary, in a tree that, unlike /tmp, is visible inside the sandbox. */
async function openScene(sandbox: string): Promise<Scene> {
  const root = await realpath(await mkdtemp('/var/tmp/headgate-swaps-'));
  const [userHome, work, sibling] = ['ada', 'tree/work', 'tree/sibling'].map((name) => path.join(root, name));
  for (const folder of [userHome, work, sibling]) await mkdir(path.join(folder ?? '', 'etc'), { recursive: true });
  for (const [folder, content] of [
    [userHome, CANARY],
    [work, HARMLESS],
    [sibling, CANARY],
  ] as const) {
    for (const name of ['note.txt', 'etc/passwd', 'token'])
      await writeFile(path.join(folder ?? '', name), `${content}\n`);
  }
  const model = await startScriptedModel();
  const home = path.join(root, 'headgate');
  const daemon = await startDaemon({
    model: model.url,
    home,
    env: { HOME: userHome ?? '' },
    ...(sandbox === 'missing' && { entry: UNSANDBOXED }),
  });
  await writeFile(path.join(home, 'note.txt'), CANARY);
  return {
    ...{ daemon, model, work: work ?? '', sibling: sibling ?? '', userHome: userHome ?? '' },
    async [Symbol.asyncDispose]() {
      await daemon[Symbol.asyncDispose]();
      await model.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

const open = ({ daemon, work }: Scene, autoApprove: boolean) =>
  openConversation(daemon, { workdir: work, autoApprove });

/** The text sent to the model since then. */
const readBy = (model: ScriptedModel): string => JSON.stringify(model.requests.map(({ body }) => body.messages));

/** Every way to read or write, with relative names that exist in all the folders. */
const calls = (n: number) => [
  { name: 'read_file', arguments: { path: 'note.txt' } },
  { name: 'read_file', arguments: { path: 'etc/passwd' } },
  { name: 'read_file', arguments: { path: 'token' } },
  { name: 'list_directory', arguments: { path: 'etc' } },
  { name: 'search', arguments: { query: `${CANARY}|root:|^[0-9a-f]{32}`, path: 'etc' } },
  { name: 'search', arguments: { query: `${CANARY}|root:|^[0-9a-f]{32}`, glob: '*.txt' } },
  { name: 'write_file', arguments: { path: `${PLANTED}-${n}.txt`, content: 'planted' } },
  { name: 'write_file', arguments: { path: `${PLANTED}-${n}/deep/a.txt`, content: 'planted' } },
  { name: 'edit_file', arguments: { path: 'note.txt', old_string: 'harm', new_string: 'planted' } },
  { name: 'glob', arguments: { pattern: '**/passwd' } },
  {
    name: 'apply_patch',
    arguments: {
      patch: `*** Begin Patch\n*** Add File: ${PLANTED}-${n}-patch/b.txt\n+planted\n*** Update File: note.txt\n*** Move to: ${PLANTED}-${n}.moved\n*** End Patch`,
    },
  },
  {
    name: 'bash',
    arguments: { command: `cat note.txt etc/passwd token; touch ${PLANTED}-bash-${n}; mkdir ${PLANTED}-dir-${n}` },
  },
];

async function plantedIn(folders: readonly string[]): Promise<string[]> {
  const found = await Promise.all(
    folders.map(async (folder) =>
      (await readdir(folder)).filter((name) => name.includes(PLANTED)).map((name) => path.join(folder, name)),
    ),
  );
  return found.flat();
}

for (const [sandbox, options] of Object.entries(SANDBOXES)) {
  test(
    `${RACES} calls during swaps of the folder reach nothing outside it, with the sandbox ${sandbox}`,
    options,
    async () => {
      await using scene = await openScene(sandbox);
      const { daemon, model, work, sibling, userHome } = scene;
      await using talk = await open(scene, true);
      const targets = [daemon.home, '/', userHome, sibling, `${sibling}/.`];
      const swapper = spawn(process.execPath, [SWAPPER, work, ...targets], { stdio: ['pipe', 'pipe', 'inherit'] });
      const said = text(swapper.stdout);
      const outcomes = { ran: 0, refused: 0 };
      for (let n = 0; n * 10 < RACES; n += 1) {
        model.when(`race ${n}.`, callTools(...calls(n).map((call, i) => ({ ...call, id: `c${n}_${i}` }))), say('done'));
        const question = await talk.ask(`race ${n}.`);
        const answer = await question.answer.then(
          () => 'ran' as const,
          () => 'refused' as const,
        );
        outcomes[answer] += 1;
      }
      swapper.stdin.end();
      assert.ok(Number(await said) > 0);
      assert.equal(outcomes.ran + outcomes.refused, Math.ceil(RACES / 10));
      assert.deepEqual(await plantedIn(['/', daemon.home, userHome, sibling, path.join(sibling, 'etc')]), []);
      for (const folder of [userHome, sibling])
        assert.equal(await readFile(path.join(folder, 'note.txt'), 'utf8'), `${CANARY}\n`);
      const read = readBy(model);
      assert.ok(read.includes('1\\tharmless'), 'at least one call ran');
      const secrets = { canary: CANARY, token: daemon.token, passwd: 'root:x:0' };
      for (const [name, secret] of Object.entries(secrets)) {
        const at = withoutQueries(read).indexOf(secret);
        assert.equal(at, -1, `${name}: ${withoutQueries(read).slice(Math.max(0, at - 400), at + 200)}`);
      }
    },
  );
}

/** The text that the model itself wrote. */
const withoutQueries = (read: string): string => read.replaceAll(`${CANARY}|root:`, '');

const ASK = [{ name: 'bash', arguments: { command: `cat note.txt; touch ${PLANTED}` } }];

async function swapWhileAsked(scene: Scene, put: (aside: string) => Promise<void>) {
  const { model, work } = scene;
  const talk = await open(scene, false);
  model.when('approve me', callTools(...ASK), say('done'));
  const question = await talk.ask('approve me');
  const { approval_id: approvalId } = await talk.until('approve_request');
  await rename(work, `${work}.aside`);
  await put(`${work}.aside`);
  await talk.decide(approvalId, { approved: true });
  const error = await question.answer.then(
    () => 'it ran',
    (reason: unknown) => String(reason),
  );
  return { talk, error };
}

for (const [sandbox, options] of Object.entries(SANDBOXES)) {
  test(
    `if another folder is at the path after the approval, the run stops until an approver confirms the folder (${sandbox})`,
    options,
    async () => {
      await using scene = await openScene(sandbox);
      const { daemon, model, work, sibling } = scene;
      const { talk, error } = await swapWhileAsked(scene, () => rename(sibling, work));
      await using _ = talk;
      assert.match(error, /it was replaced by another folder or a link/);
      const confirm = { wsId: talk.wsId, confirmWorkdir: true } as const;
      const { token } = await talk.client.call('token.create', { scope: 'write', name: 'a writer' });
      const answer = await fetch(new URL('/v1/api/send', daemon.url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ ws_id: talk.wsId, message: 'again' }),
      });
      assert.equal(answer.status, 200);
      await talk.until('user_turn', ({ message }) => message === 'again');
      await daemon.restart();
      await talk.reconnect();
      const again = await talk.ask('after a restart');
      await assert.rejects(again.answer, /it was replaced by another folder or a link/);
      assert.deepEqual(model.requests.length, 1, 'the model was requested only before the exchange');
      await talk.client.call('workstream.update', confirm);
      model.script(say('back'));
      await (await talk.ask('confirmed')).answer;
      assert.deepEqual(await plantedIn([work]), []);
    },
  );
}

test('a link to the home folder or to / cannot be confirmed', async () => {
  await using scene = await openScene('auto');
  const { daemon, work } = scene;
  const { talk, error } = await swapWhileAsked(scene, () => symlink(daemon.home, work));
  await using _ = talk;
  assert.match(error, /was replaced by another folder/);
  const confirm = () => talk.client.call('workstream.update', { wsId: talk.wsId, confirmWorkdir: true });
  await assert.rejects(confirm(), /Headgate’s own folder/);
  await rm(work);
  await symlink('/', work);
  await assert.rejects(confirm(), /whole disk/);
  await rm(work);
  await rename(`${work}.aside`, work);
  scene.model.script(say('back'));
  await (await talk.ask('the folder itself came back')).answer;
});

test('the write scope cannot confirm a folder', async () => {
  await using scene = await openScene('auto');
  const client = await scene.daemon.client();
  const { wsId } = await client.call('workstream.create', { workdir: scene.work });
  const { token } = await client.call('token.create', { scope: 'write', name: 'a writer' });
  const writer = createGatewayClient({
    url: scene.daemon.wsUrl,
    token,
    client: { name: 'e2e', version: '1', mode: 'test' },
  });
  await writer.connect();
  for (const change of [{ confirmWorkdir: true as const }, { readable: [scene.sibling] }]) {
    await assert.rejects(writer.call('workstream.update', { wsId, ...change }), { code: 'FORBIDDEN' });
  }
  writer.close();
});
