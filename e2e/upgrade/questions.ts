import { createHash } from 'node:crypto';
import { z } from 'zod';
import { CONNECT, openClient, type TestClient } from '../../src/gateway/testing/test-client.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';

/** The answers of a daemon, by question. */
export type Answers = Record<string, unknown>;

/** Runs a `headgate` command against the daemon and returns its output. */
export type Cli = (...args: string[]) => Promise<string>;

interface Asked {
  daemon: DaemonUnderTest;
  cli: Cli;
  /** A removed job whose history is still available. */
  removedJob: string | undefined;
}

/** Asks for everything that a home contains, over every interface. Older builds understand these questions too. */
export async function askEverything({ daemon, cli, removedJob }: Asked): Promise<Answers> {
  const client = await openClient(daemon.wsUrl, {});
  await client.call('connect', { ...CONNECT, auth: { token: daemon.token } });
  const answers: Answers = {};
  const ask: Ask = async (method, params = {}) => {
    const { ok, payload, error } = await client.request(method, params);
    const answer = ok ? payload : { error };
    answers[Object.keys(params).length === 0 ? method : `${method} ${JSON.stringify(params)}`] = answer;
    return answer;
  };
  for (const [method, params] of OF_THE_WHOLE) await ask(method, params);
  const jobs = await askAboutJobs(ask, removedJob);
  for (const { wsId: id, name } of rowsIn(await ask('workstream.saved', { limit: 100 }), 'workstreams')) {
    const wsId = String(id);
    await ask('workstream.get', { wsId });
    await ask('chat.history', { sessionKey: wsId });
    if (name === 'long') await ask('output.read', { wsId, callId: 'long', limit: 131_072 });
    if (LOGS.includes(String(name))) answers[`log of ${wsId}`] = await readLog(client, wsId);
    Object.assign(answers, await askOverHttp(daemon, { wsId, name }));
  }
  for (const nodeId of idsIn(await ask('node.list', { extended: true }), 'nodes', 'nodeId'))
    await ask('node.describe', { nodeId });
  client.socket.close();
  for (const route of ['/v1/api/workstreams', '/v1/api/workstreams/saved', '/v1/api/auth/status'])
    answers[`GET ${route}`] = (await daemon.get(route)).body;
  for (const command of jobs.length > 0 ? COMMANDS : [])
    answers[`headgate ${command}`] = JSON.parse(await cli(...command.split(' ')));
  return z.record(z.string(), z.unknown()).parse(shorten(answers));
}

type Ask = (method: string, params?: object) => Promise<unknown>;

async function askAboutJobs(ask: Ask, removedJob: string | undefined): Promise<string[]> {
  const jobs = idsIn(await ask('cron.list', { includeDisabled: true, extended: true }), 'jobs', 'id');
  for (const id of removedJob === undefined ? jobs : [...jobs, removedJob]) {
    await ask('cron.runs', { id });
    await ask('cron.runs', { id, extended: true });
  }
  return jobs;
}

/** Replaces long texts with their beginning and digest. */
function shorten(value: unknown): unknown {
  if (typeof value === 'string' && value.length > 1_000)
    return `${value.slice(0, 60)}… (${value.length} characters, ${digestOf(value)})`;
  if (Array.isArray(value)) return value.map(shorten);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(part)]));
}

const digestOf = (bytes: string | Buffer): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

const OF_THE_WHOLE: readonly [method: string, params?: object][] = [
  ['workstream.list'],
  ['sessions.list'],
  ['sessions.preview', { keys: ['main', 'notes'] }],
  ['approval.list'],
  ['cron.list', { includeDisabled: true }],
  ['cron.status'],
  ['node.pair.list'],
  ['token.list'],
  ['config.get'],
  ['models.list'],
  ['voicewake.get'],
  ['last-heartbeat'],
  ['status'],
];

/** Names of the workstreams whose complete logs are read. */
const LOGS = ['tools', 'decisions', 'expired', 'unknown', 'stopped', 'cancelled', 'main', 'waits', 'always'];

const COMMANDS = ['cron runs failing --json', 'cron show dawn --json', 'nodes list --json', 'token list --json'];

/** Returns all events of a log with their offsets. */
async function readLog(client: TestClient, wsId: string): Promise<unknown[]> {
  const { payload } = await client.request('workstream.get', { wsId });
  const { cursor } = recordOf(payload);
  if (cursor === undefined) return []; // it is closed
  const [epoch, last] = String(cursor).split(':');
  const before = client.frames.length;
  await client.call('events.subscribe', { wsId, after: `${epoch}:0` });
  const isOf = (frame: unknown) => recordOf(recordOf(frame).payload).wsId === wsId;
  const toLog = () =>
    client.frames
      .slice(before)
      .filter(({ type }) => type === 'event')
      .filter(isOf);
  const cursorOf = (frame: unknown) => String(recordOf(recordOf(frame).payload).cursor);
  while (last !== '0' && !toLog().some((frame) => cursorOf(frame) === `${epoch}:${last}`))
    await new Promise((resolve) => client.socket.once('message', resolve));
  await client.call('events.unsubscribe', { wsId });
  return toLog().map((frame) => [Number(cursorOf(frame).split(':')[1]), recordOf(recordOf(frame).payload).event]);
}

async function askOverHttp(daemon: DaemonUnderTest, { wsId, name }: { wsId: string; name: unknown }): Promise<Answers> {
  const answers: Answers = {};
  const place = `/v1/api/workstreams/${wsId}/attachments`;
  const { status, body } = await daemon.get(place);
  if (status === 200) answers[`GET ${place}`] = body;
  for (const id of idsIn(body, 'attachments', 'attachment_id')) {
    const bytes = await (await daemon.fetch(`${place}/${id}/content`)).arrayBuffer();
    answers[`GET ${place}/${id}/content`] = digestOf(Buffer.from(bytes));
  }
  if (name !== 'tools') return answers;
  await using stream = await daemon.sse(wsId);
  await stream.until('history');
  answers[`stream of ${wsId}`] = stream.frames.slice(0, 2).map(({ data }) => data);
  return answers;
}

const recordOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

const rowsIn = (answer: unknown, list: string): Record<string, unknown>[] => {
  const rows = recordOf(answer)[list];
  return Array.isArray(rows) ? rows.map(recordOf) : [];
};

const idsIn = (answer: unknown, list: string, name: string): string[] =>
  rowsIn(answer, list).map((row) => String(row[name]));
