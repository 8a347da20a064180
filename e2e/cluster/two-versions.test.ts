import assert from 'node:assert/strict';
import { copyFile, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { needs } from '../../src/testing/needs.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { within } from '../support/deadline.ts';
import { callTools, say } from '../support/model/scripted-steps.ts';
import { closeScene, scene, startOne, untilForwarding, untilServing, untilStandby } from './two-daemons.ts';

const installed = await needs('postgresql');

after(closeScene);

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NEXT = '9.9.9';

/** The same code as a later release. Returns the file that users run. */
async function nextRelease(t: TestContext): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'headgate-next-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  await mkdir(path.join(folder, 'bin'));
  await copyFile(path.join(ROOT, 'bin/headgate.js'), path.join(folder, 'bin/headgate.js'));
  const manifest = JSON.parse(await readFile(path.join(ROOT, 'package.json'), 'utf8'));
  await writeFile(path.join(folder, 'package.json'), JSON.stringify({ ...manifest, version: NEXT }));
  for (const name of ['dist', 'protocol', 'node_modules'])
    await symlink(path.join(ROOT, name), path.join(folder, name));
  return path.join(folder, 'bin/headgate.js');
}

const versionOf = async (daemon: DaemonUnderTest): Promise<string> => (await daemon.get('/health')).body.version;

const drifts = async (daemon: DaemonUnderTest): Promise<boolean> =>
  (await daemon.get('/v1/api/cluster/overview')).body.version_drift;

async function handOver(from: DaemonUnderTest, to: DaemonUnderTest): Promise<void> {
  const { code, stderr } = await runHeadgate(['drain', '--home', from.home]);
  assert.equal(code, 0, stderr);
  await untilServing(to);
  await untilStandby(from);
  await untilForwarding(from);
}

test('a service goes to the next release and back while a question waits and clients go on', installed, async (t) => {
  const { model } = await scene();
  await using old = await startOne();
  await untilServing(old);
  await using next = await startOne({ entry: await nextRelease(t) });
  await untilForwarding(next);
  const before = await versionOf(old);
  assert.notEqual(before, NEXT);
  assert.deepEqual([await drifts(old), await drifts(next)], [true, true]);

  model.when(
    'count',
    callTools({ name: 'bash', arguments: { command: 'echo one >> counted; cat counted' } }),
    say('done'),
  );
  const talk = await openConversation(old);
  const question = await talk.ask('count');
  question.answer.catch(() => undefined); // the connection will be lost
  const { approval_id: approvalId } = await talk.until('approve_request');
  await using first = await old.sse(talk.wsId);
  const { id: last } = await first.until(({ id }) => id !== undefined);
  await talk[Symbol.asyncDispose]();

  await handOver(old, next);
  assert.equal(await versionOf(next), NEXT);
  // The older one forwards to the newer one.
  await using stream = await old.sse(talk.wsId, { lastEventId: last });
  const client = await old.client();
  await client.call('approval.resolve', { approvalId, approved: true });
  await stream.until(({ data }) => data.type === 'tool_result' && data.output.trim() === 'one');
  await stream.until(({ data }) => data.type === 'ws_state' && data.state === 'idle');
  const ids = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [id]));
  const [epoch, from] = (last ?? '').split(':');
  const expected = ids.map((_, index) => `${epoch}:${Number(from) + index}`);
  assert.deepEqual(ids, expected, 'it goes on after its cursor');

  await handOver(next, old);
  assert.equal(await versionOf(old), before);
  const answered = await (await next.client()).call('workstream.history', { wsId: talk.wsId });
  assert.deepEqual(
    answered.messages.map(({ role }) => role),
    ['user', 'assistant', 'tool', 'assistant'],
  );
  model.when('again', say('still here'));
  await using later = await openConversation(next);
  await within((await later.ask('again')).answer, 60_000, () => 'an answer by the older one');
  assert.equal((await (await old.client()).call('audit.verify', {})).ok, true);
});
