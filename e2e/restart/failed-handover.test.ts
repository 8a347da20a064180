import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { openConversation } from '../support/clients/conversation.ts';
import { runHeadgate } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { pause, within } from '../support/deadline.ts';
import { say, stall } from '../support/model/scripted-steps.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'headgate-handover-'));
after(() => rm(folder, { recursive: true, force: true }));
const moment = path.join(folder, 'moment');
const entry = new URL('../support/fixtures/killed-successor.ts', import.meta.url);
const { model, daemon } = await openStage({ entry, env: { KILLED_SUCCESSOR: moment } });

const daemonFile = async () => JSON.parse(await readFile(path.join(daemon.home, 'daemon.json'), 'utf8'));
const restart = () => runHeadgate(['restart', '--home', daemon.home]);

test('a successor that is killed before anything stopped changes nothing', async () => {
  await writeFile(moment, 'start');
  const before = await daemonFile();
  const { code, stderr } = await restart();
  assert.equal(code, 1);
  assert.match(stderr, /The installed program cannot take over: it ended with SIGKILL/);
  assert.deepEqual(await daemonFile(), before);
});

for (const when of ['begin', 'go', 'store'])
  test(`a successor that is killed at the moment "${when}": the former process serves again, and the run goes on`, async () => {
    await using talk = await openConversation(daemon);
    const message = `interrupted at ${when}`;
    model.when(message, [say('half'), stall()]);
    const question = await talk.ask(message);
    question.answer.catch(() => undefined); // the connection is closed before
    await talk.until('content');
    model.when(message, say('whole'));
    await writeFile(moment, when);
    const { code, stderr } = await restart();
    assert.equal(code, 1);
    assert.match(stderr, /The daemon runs, but the new program did not take over: it ended with SIGKILL/);
    assert.equal((await daemonFile()).pid, daemon.pid);
    await talk.reconnect();
    assert.deepEqual(await talk.repeat(question), { runId: question.runId, status: 'ok', summary: 'completed' });
    assert.deepEqual(speechOf(await talk.agree()), [`user: ${message}`, 'assistant: whole']);
  });

test('a process that serves again has the settings of config.json by then, not those of its start', async () => {
  await writeFile(path.join(daemon.home, 'config.json'), '{ server: { maxWorkstreams: 7 } }');
  await writeFile(moment, 'begin');
  assert.equal((await restart()).code, 1);
  assert.equal((await daemonFile()).pid, daemon.pid);
  const health = await (await fetch(new URL('/health', daemon.url))).json();
  assert.equal(health.max_ws, 7);
});

test('afterwards, a restart works; if the process that serves is killed then, the one that watches it ends, too', async () => {
  await writeFile(moment, 'never');
  assert.equal((await restart()).code, 0);
  const { pid } = await daemonFile();
  assert.notEqual(pid, daemon.pid);
  // A successor that ends before its predecessor knows that it serves would be replaced by it.
  const isFollowed = async () => {
    while (!daemon.output().stderr.includes('"handed over; this process passes signals on"')) await pause(20);
  };
  await within(isFollowed(), 60_000, () => `the former process follows: ${daemon.output().stderr}`);
  process.kill(pid, 'SIGKILL');
  assert.deepEqual(await within(daemon.exited(), 60_000, () => daemon.output().stderr), { code: 1, signal: null });
});
