import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { link, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { startNode } from '../support/daemon/node-process.ts';
import { openStage } from '../support/daemon/stage.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage({ config: { nodes: { '*': { allow: ['system.run'] } } } });
const workspace = path.join(daemon.home, 'workspace');
const CANARY = 'CANARY-7f3a';

async function put(name: string): Promise<void> {
  const file = path.join(workspace, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${CANARY}\n`);
}

/** The first event of a call: an approval request or its result. */
async function outcomeOf(name: string, call: { name: string; arguments: object }): Promise<string> {
  await using talk = await openConversation(daemon);
  model.when(name, callTools(call), say('done'));
  const question = await talk.ask(name);
  await Promise.race([talk.until('approve_request'), talk.ended(question)]);
  const [waiting] = await talk.pending();
  if (!waiting) return talk.story().find((line) => line.startsWith(call.name)) ?? 'no result';
  await talk.decide(waiting.approvalId, { approved: false });
  await talk.ended(question);
  return `asks: ${waiting.items[0]?.preview.trim()}`;
}

const SECRET = '(this file looks like it holds a secret)';
const HARD_LINK = '(this file is a hard link: it may be a secret under another name)';

test('reading a file with the name of a credential needs approval', async () => {
  const names = ['.envrc', '.env.local', '.netrc', '.npmrc', '.pypirc', 'credentials', 'id_work', 'a.pem', 'a.key'];
  for (const name of [...names, 'kubeconfig', '.envrc~', 'id_rsa.bak', '.direnv/env']) {
    await put(name);
    const outcome = await outcomeOf(`read ${name}`, { name: 'read_file', arguments: { path: name } });
    assert.equal(outcome, `asks: ${SECRET}`, name);
  }
});

test('reading a hard link needs approval, and a search skips it', async () => {
  const outside = path.join(path.dirname(daemon.home), 'outside.txt');
  await writeFile(outside, `${CANARY}\n`);
  await mkdir(path.join(workspace, 'links'), { recursive: true });
  await link(path.join(daemon.home, 'token'), path.join(workspace, 'links/notes.txt'));
  await link(outside, path.join(workspace, 'links/more.txt'));
  await put('links/own.txt');
  for (const name of ['links/notes.txt', 'links/more.txt']) {
    const outcome = await outcomeOf(`read ${name}`, { name: 'read_file', arguments: { path: name } });
    assert.equal(outcome, `asks: ${HARD_LINK}`);
  }
  const found = await outcomeOf('search links', { name: 'search', arguments: { query: '.', path: 'links' } });
  assert.equal(found, `search answers: links/own.txt:1: ${CANARY}`);
});

test('a star in --allow matches only text of the same kind', async () => {
  await using node = await startNode(daemon, ['--allow', 'cat *.txt', 'cat sub/*']);
  const client = await daemon.client();
  await node.code();
  const { pending } = await client.call('node.pair.list', {});
  await client.call('node.pair.approve', { requestId: pending[0]?.requestId ?? '' });
  await node.child.printed(/Connected/);
  await mkdir(path.join(node.folder, 'sub'));
  for (const name of ['x.txt', 'sub/x.txt', '.x.txt', '../x.txt'])
    await writeFile(path.join(node.folder, name), CANARY);
  const run = async (argument: string) => {
    const params = { argv: ['cat', argument], cwd: node.folder };
    const asked = { nodeId: node.nodeId(), command: 'system.run', params, idempotencyKey: randomUUID() };
    return client.call('node.invoke', asked).then(
      ({ payload }) => JSON.stringify(payload).includes(CANARY),
      (error: unknown) => (error instanceof Error ? error.message.split(':')[0] : String(error)),
    );
  };
  const refused = 'this node was not started with --allow for';
  const absolute = path.join(node.folder, 'x.txt');
  assert.deepEqual([await run('x.txt'), await run('sub/x.txt')], [true, true]);
  for (const argument of [absolute, '../x.txt', './x.txt', '.x.txt', '--foo=x.txt', '-x.txt', 'sub/../../x.txt']) {
    assert.equal(await run(argument), refused, argument);
  }
});
