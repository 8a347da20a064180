import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { untilTrue } from '../../src/testing/until-true.ts';
import { type Conversation, openConversation, type Question } from '../support/clients/conversation.ts';
import { pollHealth } from '../support/clients/health-polls.ts';
import { openSocket } from '../support/clients/open-socket.ts';
import { type DaemonUnderTest, runHeadgate } from '../support/daemon/daemon.ts';
import { speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { allowedMs } from '../support/deadline.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

const { model, daemon } = await openStage();

const completed = ({ runId }: Question) => ({ runId, status: 'ok', summary: 'completed' });

async function askFor(talk: Conversation, message: string): Promise<Question> {
  const question = await talk.ask(message);
  question.answer.catch(() => undefined); // the connection is closed before
  return question;
}

const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

const servingPid = async ({ home }: DaemonUnderTest): Promise<number> =>
  JSON.parse(await readFile(path.join(home, 'daemon.json'), 'utf8')).pid;

const restart = (...more: string[]) => runHeadgate(['restart', '--home', daemon.home, ...more]);

test('a restart refuses no connection, closes sockets with 1012, loses no message and runs nothing twice', async () => {
  await using answering = await openConversation(daemon);
  await using asking = await openConversation(daemon);
  await using working = await openConversation(daemon);
  const once = path.join(daemon.home, 'workspace', 'runs');
  model.when('handed over in mid-answer', [say('half'), stall()]);
  model.when('handed over in doubt', bash('echo asked | tee -a runs'), say('done'));
  model.when('handed over at work', bash('echo worked >> runs; echo up; sleep 60'), say('I see'));
  const answer = await askFor(answering, 'handed over in mid-answer');
  await answering.until('content');
  const doubt = await askFor(asking, 'handed over in doubt');
  const { approval_id: approvalId } = await asking.until('approve_request');
  const work = await askFor(working, 'handed over at work');
  await working.decide((await working.until('approve_request')).approval_id, { approved: true });
  await working.until('tool_output_chunk');
  model.when('handed over in mid-answer', say('whole'));
  const socket = await openSocket(daemon);
  const polls = pollHealth(daemon.url);

  const { code, stdout, stderr } = await restart();
  const { failures, gapMs, answered } = await polls.stop();

  const pid = await servingPid(daemon);
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal(stdout, `Headgate 0.1.0 runs in its place (pid ${pid}).\n`);
  assert.notEqual(pid, daemon.pid);
  assert.deepEqual(await socket.closed, { code: 1012, reason: 'service restart' });
  assert.deepEqual(failures, [], 'every poll was answered');
  assert.ok(answered > 10 && gapMs < allowedMs(1_000), `the longest time without an answer was ${gapMs} ms`);

  for (const talk of [answering, asking, working]) await talk.reconnect();
  assert.deepEqual(await answering.repeat(answer), completed(answer));
  await asking.decide(approvalId, { approved: true });
  assert.deepEqual(await asking.repeat(doubt), completed(doubt));
  assert.deepEqual(await working.repeat(work), completed(work));
  assert.deepEqual(speechOf(await answering.agree()), ['user: handed over in mid-answer', 'assistant: whole']);
  await asking.agree();
  assert.equal(speechOf(await working.agree()).at(-2), 'tool: up\n[stopped by shutdown]');
  assert.deepEqual((await readFile(once, 'utf8')).trim().split('\n'), ['worked', 'asked']);
});

test('a second restart while one is in progress is refused, and the next one works', async () => {
  const client = await daemon.client();
  const before = await servingPid(daemon);
  const [first, second] = await Promise.allSettled([
    client.call('daemon.restart', {}),
    client.call('daemon.restart', {}),
  ]);
  assert.equal(first.status, 'fulfilled');
  assert.equal(second.status === 'rejected' && second.reason.message, 'Another restart is in progress');
  client.close();
  const again = await restart(); // waits in the backlog, or for the new process
  assert.equal(again.code, 0, again.stderr);
  assert.notEqual(await servingPid(daemon), before);
});

test('a program that cannot start takes nothing over, and says why', async () => {
  const before = await servingPid(daemon);
  const config = path.join(daemon.home, 'config.json');
  const refusals: [string, RegExp][] = [
    ['{ "logLevel": "loud" }', /The installed program cannot take over: .*config\.json.*logLevel/],
    ['{ "workdir": "/nowhere/at/all" }', /The installed program cannot take over: .*\/nowhere\/at\/all/],
    ['{ "server": { "host": "127.0.0.2" } }', /The address has changed from 127\.0\.0\.1:0 to 127\.0\.0\.2:0/],
    ['{ "defaultModel": "nobody" }', /The installed program cannot take over: .*nobody/],
  ];
  const polls = pollHealth(daemon.url);
  for (const [text, words] of refusals) {
    await writeFile(config, text);
    const { code, stderr } = await restart();
    assert.equal(code, 1, text);
    assert.match(stderr, words);
  }
  await writeFile(config, '{}');
  const check = await restart('--check');
  assert.equal(check.stdout, 'Headgate 0.1.0 can take over. Nothing was changed.\n');
  assert.deepEqual((await polls.stop()).failures, []);
  assert.equal(await servingPid(daemon), before);
});

test('signals to the first process stop the one that serves, and both end', async () => {
  await restart();
  const pid = await servingPid(daemon);
  assert.deepEqual(await daemon.stop('SIGTERM'), { code: 0, signal: null });
  assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
});

test('with a file for the pid, the first process ends, and the file names the one that serves', async () => {
  const file = path.join(daemon.home, 'pid');
  await daemon.restart({ env: { HEADGATE_PID_FILE: file } });
  assert.equal((await readFile(file, 'utf8')).trim(), String(daemon.pid));
  const { code, stderr } = await restart();
  assert.equal(code, 0, stderr);
  await untilTrue(() => isGone(daemon.pid));
  const pid = await servingPid(daemon);
  assert.equal((await readFile(file, 'utf8')).trim(), String(pid));
  assert.equal((await daemon.get('/health')).status, 200);
  process.kill(pid, 'SIGTERM');
  assert.deepEqual(await daemon.exited(), { code: 0, signal: null }, 'when its output has ended');
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
