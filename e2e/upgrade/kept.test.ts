import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, test } from 'node:test';
import type { CronEvent } from '../../protocol/cron.ts';
import type { Approval } from '../../protocol/methods/approval.ts';
import { createArrivals } from '../support/clients/arrivals.ts';
import { spawnHeadgate } from '../support/daemon/daemon-process.ts';
import { say, stall } from '../support/model/scripted-steps.ts';
import { unpackHome } from './old-home.ts';
import { bash } from './record/conversations.ts';
import { DISABLED } from './record/jobs.ts';

/** A minute after a one-time job came due, and before the login link expires. */
const LATER_MS = 6 * 60_000;
const old = await unpackHome('schema-11');
after(() => old[Symbol.asyncDispose]());
const { recorded, model } = old;
const late = stall();
model.when('look at the clock', [late, say('It is late.')]);
model.when('cut the hedge', say('not asked for again'), say('The hedge is cut.'));
const { daemon, clock } = await old.start(LATER_MS);
const client = await daemon.client();
const wsIds = new Map(
  (await client.call('workstream.saved', { limit: 100 })).workstreams.map(({ name, wsId }) => [name, wsId]),
);
const wsIdOf = (name: string): string => wsIds.get(name) ?? assert.fail(`no workstream ${name}`);

/** The older build showed these outcomes only as text. */
const OUTCOMES: Record<string, string[]> = {
  tools: ['done', 'failed', 'done', 'done', 'done', 'done', 'done', 'failed'],
  decisions: ['denied', 'denied', 'cancelled'],
  cancelled: ['cancelled'],
  expired: ['expired'],
  unknown: ['unknown'],
  stopped: ['cancelled'],
  unattended: ['blocked'],
};

test('each stored tool result has the right outcome', async () => {
  const outcomes: Record<string, unknown[]> = {};
  for (const name of Object.keys(OUTCOMES)) {
    const { messages } = await client.call('workstream.history', { wsId: wsIdOf(name) });
    outcomes[name] = messages.flatMap((message) => (message.role === 'tool' ? [message.outcome] : []));
  }
  assert.deepEqual(outcomes, OUTCOMES);
});

test('each stored decision names who made it', async () => {
  const person = { kind: 'principal', id: 'operator' };
  const expected = {
    tools: [person, person, person, person],
    decisions: [person, person, { kind: 'cancel' }],
    expired: [{ kind: 'timeout' }],
    unattended: [],
  };
  const deciders: Record<string, unknown[]> = {};
  for (const name of Object.keys(expected)) {
    const { notes = [] } = await client.call('workstream.history', { wsId: wsIdOf(name) });
    deciders[name] = notes.flatMap((note) => (note.kind === 'decision' ? [note.by] : []));
  }
  assert.deepEqual(deciders, expected);
});

test('a question pending during the upgrade can be answered: its command, whose folder is not known, does not run, and the caller gets the answer', async () => {
  const wsId = wsIdOf('waits');
  const repeat = { message: 'cut the hedge', sessionKey: wsId, idempotencyKey: recorded.waitingRun };
  const answer = client.call('agent', repeat, { timeoutMs: 60_000 });
  await client.call('approval.resolve', { approvalId: recorded.waitingApproval, approved: true });
  assert.deepEqual(await answer, { runId: recorded.waitingRun, status: 'ok', summary: 'completed' });
  const { messages } = await client.call('workstream.history', { wsId });
  const [result, said] = messages.slice(-2).map(({ content }) => content);
  assert.match(result ?? '', /^Not run: it no longer matches what was approved/);
  assert.equal(said, 'The hedge is cut.');
});

test('idempotency keys from before the upgrade still return the first answer and refuse another call', async () => {
  const before = model.requests.length;
  const first = { message: 'first note', sessionKey: 'notes', idempotencyKey: 'agent first note' };
  const { status } = await client.call('agent', first);
  await assert.rejects(client.call('agent', { ...first, message: 'another' }), { code: 'CONFLICT' });
  const { id } = await client.call('cron.add', { ...DISABLED, name: 'disabled', idempotencyKey: 'add disabled' });
  assert.deepEqual([status, id, model.requests.length], ['ok', (await jobOf('disabled')).id, before]);
});

const READ = ['read'];
const WRITE = ['read', 'write'];
const APPROVE = ['read', 'write', 'approve'];

test('tokens and logins keep their rights, and ended ones stay ended', async () => {
  const { read, write, approve, lasting, brief, revoked, child, login, loginOfWrite, endedLogin } = recorded;
  const all = { read, write, approve, lasting, brief, revoked, child, login, loginOfWrite, endedLogin };
  const rights = Object.entries(all).map(async ([name, token]) => [name, await rightsOf(token)]);
  assert.deepEqual(Object.fromEntries(await Promise.all(rights)), {
    ...{ read: READ, write: WRITE, approve: APPROVE, lasting: READ, child: WRITE },
    ...{ login: APPROVE, loginOfWrite: WRITE },
    ...{ brief: 401, revoked: 401, endedLogin: 401 },
  });
});

test('a login link from before the upgrade works once, and revoking a token ends its login', async () => {
  const logIn = () => daemon.post('/v1/api/auth/login', { code: recorded.loginCode });
  assert.deepEqual([(await logIn()).status, (await logIn()).status], [200, 401]);
  const { tokens } = await client.call('token.list', {});
  await client.call('token.revoke', { tokenId: tokens.find(({ name }) => name === 'write')?.tokenId ?? '' });
  assert.deepEqual([await rightsOf(recorded.write), await rightsOf(recorded.loginOfWrite)], [401, 401]);
});

test('a one-time job that came due during the upgrade runs once', async () => {
  const { id } = await jobOf('later');
  const events = createArrivals<CronEvent>();
  client.on('cron', events.add);
  late.release();
  await events.until(({ jobId, action }) => jobId === id && action === 'finished');
  const { entries } = await client.call('cron.runs', { id, extended: true });
  const told = entries.map((entry) => 'attempts' in entry && [entry.status, entry.summary, entry.attempts]);
  assert.deepEqual(told, [['ok', 'It is late.', 1]]);
});

test('auto-approve without an end is off after the upgrade: the next command asks', async () => {
  const message = 'paint the shed';
  model.when(message, bash('echo painted > shed.txt'), say('It stays as it is.'));
  const asked = createArrivals<Approval>();
  client.on('approval.requested', asked.add);
  const answer = client.call('agent', { message, sessionKey: wsIdOf('always'), idempotencyKey: message });
  const { approvalId } = await asked.until(({ wsId }) => wsId === wsIdOf('always'));
  await client.call('approval.resolve', { approvalId, approved: false });
  assert.equal((await answer).status, 'ok');
  assert.equal(existsSync(path.join(old.home, 'workspace', 'shed.txt')), false);
});

test('a closed conversation reopens by its name, and the model gets the messages since /clear', async () => {
  model.when('and now?', say('Still here.'));
  const { wsId } = await client.call('workstream.create', { resumeWs: 'Greenhouse' });
  await client.call('agent', { message: 'and now?', sessionKey: wsId, idempotencyKey: 'and now' });
  const told = model.requests.at(-1)?.body.messages.filter(({ role }) => role !== 'system') ?? [];
  assert.deepEqual(
    told.map(({ content }) => content),
    ['after the clearing', 'I am still here.', 'and now?'],
  );
});

test('a conversation from before the upgrade goes on, and each request extends the last one', async () => {
  const { wsId } = await client.call('workstream.create', { resumeWs: 'Greenhouse' });
  const texts: string[] = [];
  for (const message of ['what grows?', 'what else?', 'and the roses?']) {
    model.when(message, say('Plenty.'));
    await client.call('agent', { message, sessionKey: wsId, idempotencyKey: message });
    const { messages, tools } = model.requests.at(-1)?.body ?? assert.fail('no request');
    texts.push(JSON.stringify({ tools, messages }).slice(0, -2));
  }
  const [first = '', second = '', third = ''] = texts;
  assert.deepEqual([second.startsWith(first), third.startsWith(second)], [true, true]);
});

test('a pending message to a webhook is delivered', async () => {
  old.openWebhook();
  const body = await old.received.until((text) => text.includes('Open the shed.'), 'the message');
  assert.equal(JSON.parse(body).data.message, 'Open the shed.');
});

test('a paired node connects with its token, and a repeated command returns its stored answer', async () => {
  const read = (file: string, idempotencyKey: string) => {
    const params = { path: file };
    return client.call('node.invoke', { nodeId: recorded.nodeId ?? '', command: 'file.read', params, idempotencyKey });
  };
  await assert.rejects(read('/outside.txt', 'read outside'), { message: recorded.refusal });
  const file = path.join(old.root, 'node', 'node.json');
  await writeFile(file, (await readFile(file, 'utf8')).replace('{{GATEWAY}}', new URL(daemon.url).host));
  const folders = ['--home', path.join(old.root, 'node'), '--folder', path.join(old.root, 'lent')];
  const node = await spawnHeadgate({
    args: ['node', 'run', '--gateway', daemon.url, ...folders, '--name', 'shed'],
    env: { HOME: old.root, ...clock },
  });
  after(() => node.kill('SIGKILL'));
  await node.printed(/^Connected\.$/m);
  const answer = await read(path.join(old.root, 'lent', 'note.txt'), 'read it again');
  assert.match(JSON.stringify(answer), /Lent to the gateway/);
});

test('auto-approve with an end stays on after the upgrade: the next command runs without asking', async () => {
  await using newer = await unpackHome('schema-16');
  const upgraded = await newer.start(LATER_MS);
  const reader = await upgraded.daemon.client();
  const { workstreams } = await reader.call('workstream.list', {});
  const always = workstreams.find(({ name }) => name === 'always');
  assert.ok(always?.skipPermissionsUntilMs, 'auto-approve has an end');
  const message = 'paint the door';
  newer.model.when(message, bash('echo painted > door.txt'), say('The door is painted.'));
  await reader.call('agent', { message, sessionKey: always.wsId, idempotencyKey: message }, { timeoutMs: 60_000 });
  assert.equal(await readFile(path.join(newer.home, 'workspace', 'door.txt'), 'utf8'), 'painted\n');
});

async function jobOf(name: string) {
  const { jobs } = await client.call('cron.list', { includeDisabled: true });
  return jobs.find((job) => job.name === name) ?? assert.fail(`no job ${name}`);
}

async function rightsOf(token: string): Promise<unknown> {
  const response = await daemon.fetch('/v1/api/auth/status', { headers: { authorization: `Bearer ${token}` } });
  const body = await response.json();
  return body.authenticated === true ? body.scopes : 401;
}
