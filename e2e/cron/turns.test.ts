import assert from 'node:assert/strict';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { after, test } from 'node:test';
import type { GatewayClient } from '../../protocol/client/ws-client.ts';
import type { CronApproval, CronOccurrence } from '../../protocol/cron.ts';
import type { ParamsInput, Result } from '../../protocol/index.ts';
import { systemClock } from '../../src/clock.ts';
import { openSse } from '../support/clients/sse.ts';
import { readLedger, speechOf } from '../support/daemon/ledger.ts';
import { openStage } from '../support/daemon/stage.ts';
import { within } from '../support/deadline.ts';
import type { ChatRequest } from '../support/model/scripted-model.ts';
import { callTools, say, stall } from '../support/model/scripted-steps.ts';

/** The requests to the webhook. */
const delivered: string[] = [];
const hook = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  delivered.push(JSON.parse(body).data.message);
  response.end();
});
await once(hook.listen(0, '127.0.0.1'), 'listening');
const address = hook.address();
const hookUrl = `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/`;
after(() => void hook.close());

const { model, daemon } = await openStage({
  config: { channels: { webhook: { ops: { url: hookUrl, secret: 'a secret of the test' } } } },
});
const bash = (command: string) => callTools({ name: 'bash', arguments: { command } });

type Add = ParamsInput<'cron.add'>;
type Turn = Partial<Extract<Add['payload'], { kind: 'agentTurn' }>>;

/** A job that is due in an hour by default. */
async function addJob(
  client: GatewayClient,
  message: string,
  { turn = {}, ...more }: Partial<Add> & { turn?: Turn } = {},
) {
  const { id } = await client.call('cron.add', {
    schedule: { kind: 'every', everyMs: 3_600_000 },
    sessionTarget: 'isolated',
    wakeMode: 'next-heartbeat',
    payload: { kind: 'agentTurn', message, ...turn },
    ...more,
  });
  return id;
}

/** How the job's latest run ended, once it has. */
async function endOf(client: GatewayClient, id: string): Promise<CronOccurrence> {
  const ended = Promise.withResolvers<CronOccurrence>();
  const look = async () => {
    const { entries } = await client.call('cron.runs', { id, extended: true });
    const last = entries.at(-1);
    if (last && 'attempts' in last && last.status !== undefined) ended.resolve(last);
  };
  const stop = client.on('cron', ({ action }) => void (action === 'finished' && look().catch(ended.reject)));
  await look();
  return within(ended.promise, 60_000, () => `the end of ${id}`).finally(stop);
}

/** Runs it now and waits for its end. */
async function runNow(client: GatewayClient, id: string): Promise<CronOccurrence> {
  assert.deepEqual(await client.call('cron.run', { id, mode: 'force' }), { ok: true, ran: true });
  return endOf(client, id);
}

async function sessionOf(client: GatewayClient, id: string): Promise<Result<'workstream.list'>['workstreams'][number]> {
  const { workstreams } = await client.call('workstream.list', {});
  return workstreams.find(({ sessionKey }) => sessionKey === `cron:${id}`) ?? assert.fail(`no session of ${id}`);
}

const toolTexts = ({ messages }: ChatRequest) =>
  messages.flatMap(({ role, content }) => (role === 'tool' ? [String(content)] : []));
const touched = (file: string) =>
  access(path.join(daemon.home, 'workspace', file)).then(
    () => true,
    () => false,
  );

test('an isolated job asks the agent in a separate session, and its history names that session', async () => {
  const client = await daemon.client();
  model.when('count the sheep', say('There are 12.'));
  const id = await addJob(client, 'count the sheep', { name: 'Sheep' });
  const { status, summary, attempts, runId, sessionKey } = await runNow(client, id);
  assert.deepEqual([status, summary, attempts, sessionKey], ['ok', 'There are 12.', 1, `cron:${id}`]);
  const { wsId, name } = await sessionOf(client, id);
  const ledger = readLedger(daemon.home, wsId);
  assert.deepEqual([name, ledger.runs.map(({ run }) => run.run_id)], ['Sheep', [runId]]);
  assert.deepEqual(speechOf(ledger), [`user: [cron:${id} Sheep] count the sheep`, 'assistant: There are 12.']);
  await client.call('workstream.close', { wsId });
  await runNow(client, id);
  assert.deepEqual(await sessionOf(client, id).then((again) => [again.wsId, again.name]), [wsId, 'Sheep']);
});

test('the summary of an isolated job reaches the main session with its prefix', async () => {
  const client = await daemon.client();
  model.when('look outside', say('It rains.'));
  const id = await addJob(client, 'look outside', { isolation: { postToMainPrefix: 'Weather' } });
  await runNow(client, id);
  const { queuedSystemEvents } = await client.call('status', {});
  assert.equal(queuedSystemEvents.at(-1), 'Weather: It rains.');
});

test('without an approver, a call that needs approval is refused at once, and the history shows it', async () => {
  const client = await daemon.client();
  model.when('never this', bash('touch never.txt'), say('I was not allowed to.'));
  const id = await addJob(client, 'never this');
  const before = model.requests.length;
  assert.deepEqual((await runNow(client, id)).summary, 'I was not allowed to.');
  const heard = toolTexts((await model.request(before + 1)).body);
  assert.deepEqual(heard, ['Not run: no approver was available, and the job’s policy is deny.']);
  assert.equal(await touched('never.txt'), false);
  const { wsId } = await sessionOf(client, id);
  await using stream = await daemon.sse(wsId);
  const { data: history } = await stream.until('history');
  const denied = history.messages.filter(({ denied = false }) => denied).map(({ role }: { role: string }) => role);
  assert.deepEqual(denied, ['assistant', 'tool']);
});

test('the tools that a job allows run without asking; all others are refused', async () => {
  const client = await daemon.client();
  const write = { name: 'write_file', arguments: { path: 'other.txt', content: 'x' } };
  model.when('only bash', callTools({ name: 'bash', arguments: { command: 'touch allowed.txt' } }, write), say('half'));
  const approval: CronApproval = { mode: 'allow', tools: ['bash'] };
  const before = model.requests.length;
  assert.equal((await runNow(client, await addJob(client, 'only bash', { approval }))).status, 'ok');
  assert.deepEqual([await touched('allowed.txt'), await touched('other.txt')], [true, false]);
  const heard = toolTexts((await model.request(before + 1)).body);
  assert.equal(heard.filter((text) => text.endsWith('the job’s policy allows only bash.')).length, 1);
});

test('a job that waits for approvals asks; its calls run if approved in time and are denied at its deadline', async () => {
  const client = await daemon.client();
  const waiting = (timeoutMs: number) => ({ approval: { mode: 'wait', timeoutMs } as const });
  model.when('nobody answers', bash('touch late.txt'), say('no answer'));
  const before = model.requests.length;
  const late = await runNow(client, await addJob(client, 'nobody answers', waiting(1_000)));
  assert.deepEqual([late.status, await touched('late.txt')], ['ok', false]);
  assert.deepEqual(toolTexts((await model.request(before + 1)).body), ['Approval timed out after 1 s']);
  model.when('somebody answers', bash('touch in-time.txt'), say('thanks'));
  const id = await addJob(client, 'somebody answers', waiting(60_000));
  const asked = Promise.withResolvers<string>();
  const stop = client.on('approval.requested', ({ approvalId }) => asked.resolve(approvalId));
  const run = runNow(client, id);
  await client.call('approval.resolve', { approvalId: await asked.promise, approved: true });
  stop();
  assert.deepEqual([(await run).summary, await touched('in-time.txt')], ['thanks', true]);
});

test('an approver who follows the session of a job is asked; a reader without the approve scope is not', async () => {
  const client = await daemon.client();
  model.when('is anybody there', bash('touch it'), say('done'));
  const id = await addJob(client, 'is anybody there');
  await runNow(client, id);
  const { wsId } = await sessionOf(client, id);
  const { token } = await client.call('token.create', { scope: 'write', name: 'a reader' });
  await using reader = await openSse(`${daemon.url}/v1/api/events?ws_id=${wsId}`, { token });
  await reader.until('history');
  await runNow(client, id);
  assert.equal(
    reader.frames.some(({ data }) => data.type === 'approve_request'),
    false,
  );
  await using person = await daemon.sse(wsId);
  const run = runNow(client, id);
  const { data } = await person.until('approve_request');
  await daemon.post('/v1/api/approve', {
    ws_id: wsId,
    approved: false,
    approval_id: data.approval_id,
    feedback: 'not now',
  });
  assert.equal((await run).status, 'ok');
  assert.deepEqual(toolTexts(model.requests.at(-1)?.body ?? assert.fail()).at(-1), 'Denied by user: not now');
});

test('an approver who follows the session over a WebSocket is asked, until the connection ends', async () => {
  const client = await daemon.client();
  model.when('over a socket', bash('touch it'), say('done'));
  const id = await addJob(client, 'over a socket');
  await client.call('sessions.patch', { key: `cron:${id}`, thinkingLevel: 'low' });
  const { wsId } = await sessionOf(client, id);
  await client.call('events.subscribe', { wsId });
  const asked = Promise.withResolvers<string>();
  const stop = client.on('approval.requested', ({ approvalId }) => asked.resolve(approvalId));
  const run = runNow(client, id);
  await client.call('approval.resolve', { approvalId: await asked.promise, approved: false });
  assert.equal((await run).status, 'ok');
  stop();
  await client.call('events.unsubscribe', { wsId });
  await runNow(client, id);
  const [first, second] = toolTexts(model.requests.at(-1)?.body ?? assert.fail());
  assert.deepEqual([first, second?.startsWith('Not run: no approver was available')], ['Denied by user', true]);
});

test('an answer is delivered to the job’s channel; if that fails, the job shows the reason', async () => {
  const client = await daemon.client();
  model.when('send it', say('the report'));
  const to = (turn: Turn) => addJob(client, 'send it', { turn: { deliver: true, ...turn } });
  const arrived = once(hook, 'request');
  assert.equal((await runNow(client, await to({ channel: 'webhook', to: 'ops' }))).status, 'ok');
  const [, response] = await within(arrived, 60_000, () => 'a delivery');
  if (!response.writableFinished) await once(response, 'finish');
  assert.deepEqual(delivered, ['the report']);
  const asked = model.requests.length;
  const lost = await runNow(client, await to({ channel: 'webhook', to: 'nobody' }));
  assert.deepEqual([lost.status, lost.error], ['error', 'Unknown destination: nobody (available: ops)']);
  assert.equal(model.requests.length, asked);
  const inVain = await runNow(client, await to({ bestEffortDeliver: true }));
  assert.deepEqual([inVain.status, inVain.summary], ['skipped', 'the report']);
  assert.match(inVain.error ?? '', /^Nothing was delivered: /);
});

test('a job that exceeds its time limit is stopped, keeps its partial answer, and shows the reason', async () => {
  const client = await daemon.client();
  model.when('take for ever', [say('I begin'), stall()]);
  const id = await addJob(client, 'take for ever', { maxRunMs: 1_000 });
  const { status, error } = await runNow(client, id);
  assert.deepEqual([status, error], ['error', "It ran longer than 1 s, the job's maxRunMs"]);
  const { wsId } = await sessionOf(client, id);
  assert.deepEqual(speechOf(readLedger(daemon.home, wsId)).at(-1), 'assistant: I begin');
});

test('a run that a person cancels ends the occurrence as interrupted', async () => {
  const client = await daemon.client();
  const held = stall();
  model.when('cancel me', [say('I begin'), held]);
  const id = await addJob(client, 'cancel me');
  const run = runNow(client, id);
  await held.reached;
  const { wsId } = await sessionOf(client, id);
  await daemon.post('/v1/api/cancel', { ws_id: wsId });
  const { status, error } = await run;
  assert.deepEqual([status, error], ['interrupted', 'cancelled']);
});

test('a main job is queued for the next turn, or wakes the agent at once', async () => {
  const client = await daemon.client();
  const tell = (text: string, wakeMode: Add['wakeMode']) =>
    addJob(client, '', { sessionTarget: 'main', wakeMode, payload: { kind: 'systemEvent', text } });
  const asked = model.requests.length;
  const quiet = await runNow(client, await tell('the milk is low', 'next-heartbeat'));
  assert.deepEqual([quiet.status, quiet.summary, model.requests.length], ['ok', 'the milk is low', asked]);
  model.when('the milk is out', say('I will buy some.'));
  const beat = Promise.withResolvers<{ preview?: string | undefined }>();
  const stop = client.on('heartbeat', beat.resolve);
  await runNow(client, await tell('the milk is out', 'now'));
  assert.equal((await beat.promise).preview, 'I will buy some.');
  stop();
  const { body } = await model.request(asked);
  assert.match(String(body.messages.at(-1)?.content), /the milk is low\nSystem: .* the milk is out$/);
});

test('a scheduled run interrupted by kill -9 continues after the restart and ends once', async () => {
  const client = await daemon.client();
  const held = stall();
  model.when('survive', [say('half'), held]);
  const id = await addJob(client, 'survive', { schedule: { kind: 'at', atMs: systemClock.now() } });
  await held.reached;
  model.when('survive', say('whole'));
  await daemon.kill9();
  await daemon.restart();
  const again = await daemon.client();
  const { status, summary, attempts, runId } = await endOf(again, id);
  assert.deepEqual([status, summary, attempts], ['ok', 'whole', 1]);
  const { entries } = await again.call('cron.runs', { id });
  assert.equal(entries.length, 1);
  const { runs } = readLedger(daemon.home, (await sessionOf(again, id)).wsId);
  assert.deepEqual(
    runs.map(({ run }) => [run.run_id, run.status]),
    [[runId, 'ok']],
  );
});

test('without an approver, a job’s command that kill -9 interrupted is not run again', async () => {
  const client = await daemon.client();
  const approval: CronApproval = { mode: 'allow', tools: ['bash'] };
  model.when('once only', bash('echo x >> once.txt; echo up; sleep 60'), say('It may have happened.'));
  const id = await addJob(client, 'once only', { approval });
  await client.call('sessions.patch', { key: `cron:${id}`, thinkingLevel: 'low' });
  const stream = await daemon.sse((await sessionOf(client, id)).wsId);
  await client.call('cron.run', { id, mode: 'force', wait: false });
  await stream.until('tool_output_chunk');
  const asked = model.requests.length;
  await daemon.kill9();
  await stream.close();
  await daemon.restart();
  const { status, summary } = await endOf(await daemon.client(), id);
  assert.deepEqual([status, summary], ['ok', 'It may have happened.']);
  const heard = toolTexts((await model.request(asked)).body);
  assert.match(heard.join(), /^Outcome unknown: .* it was not run again\. No approver was available\.$/);
  assert.equal(await readFile(path.join(daemon.home, 'workspace', 'once.txt'), 'utf8'), 'x\n');
});
