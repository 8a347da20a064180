import assert from 'node:assert/strict';
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { systemClock } from '../../src/clock.ts';
import { insertMessage } from '../../src/gateway/runs/run-rows.ts';
import { OF_EVERYONE } from '../../src/gateway/sharing/perception.ts';
import { openSqliteStore } from '../../src/gateway/store/sqlite-store.ts';
import { insertWorkstream, toWorkstreamRow } from '../../src/gateway/workstreams/workstream-rows.ts';
import { randomIds } from '../../src/ids.ts';
import { createLog } from '../../src/pino-log.ts';
import { tempDir } from '../../src/testing/temp-store.ts';
import { createRandom, type Random } from '../checker/random.ts';
import { openConversation } from '../support/clients/conversation.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { findLeafPages } from '../support/faults/leaf-pages.ts';
import { startScriptedModel } from '../support/model/scripted-model.ts';
import { say } from '../support/model/scripted-steps.ts';

/** `npm run damage` asks for 500. */
const FLIPS = Number(process.env.DAMAGE_FLIPS ?? 60);
const SEED = Number(process.env.DAMAGE_SEED ?? Math.trunc(Math.random() * 2 ** 31));
/** In parallel, each in its own page. */
const FLIPS_PER_START = 30;
const CONVERSATIONS = 20;
const MESSAGES = 60;
const EVENTS = 90;

const wordsOf = (kind: string, place: number) =>
  `${kind} ${place}: ${'What was said in the course of a day. '.repeat(8)}`;

test(`events and messages with flipped bits are never served silently after a clean stop`, async (t) => {
  t.diagnostic(`DAMAGE_SEED=${SEED}`);
  const random = createRandom(SEED);
  using folder = tempDir();
  const pristine = path.join(folder.path, 'pristine.db');
  await using daemon = await startDaemon();
  await daemon.stop();
  const database = path.join(daemon.home, 'headgate.db');
  const wsIds = await store(database, daemon.home);
  copyFileSync(database, pristine);
  const pages = findLeafPages(pristine, ['events', 'messages']);
  assert.ok(pages.length > 3 * FLIPS_PER_START, `${pages.length} leaves`);
  const score: Score = { flips: 0, lost: 0, refused: 0 };
  while (score.flips < FLIPS) {
    writeFileSync(database, flipped(pristine, chooseSome(pages, random), random));
    score.flips += FLIPS_PER_START;
    await daemon.restart();
    await readAll(daemon, wsIds, score);
    const { body } = await daemon.get('/health');
    assert.deepEqual([body.store.status, body.store.damaged], ['degraded', true]);
    assert.match(daemon.output().stderr, /a part of the database is damaged/);
    await daemon.stop();
    for (const suffix of ['-wal', '-shm']) rmSync(database + suffix, { force: true });
  }
  t.diagnostic(
    `${score.flips} flips: ${score.lost} events and messages reported as damaged, ${score.refused} reads refused, 0 served altered`,
  );
  assert.ok(score.lost > 0);
});

interface Score {
  flips: number;
  /** Positions replaced by a placeholder. */
  lost: number;
  /** Reads that were answered with an error. */
  refused: number;
}

async function store(file: string, home: string): Promise<string[]> {
  const log = createLog({ level: 'silent', readable: false });
  await using opened = await openSqliteStore({
    path: file,
    clock: systemClock,
    log,
    durability: 'normal',
    bootId: 'seed',
  });
  const wsIds = Array.from({ length: CONVERSATIONS }, () => randomIds.wsId());
  for (const wsId of wsIds) {
    const nowMs = systemClock.now();
    const row = toWorkstreamRow({ owned: OF_EVERYONE, wsId, workdir: home, nowMs });
    const messages = places(MESSAGES).flatMap((place) =>
      insertMessage({ wsId, runId: `run-${place}`, nowMs }, { role: 'user', content: wordsOf('message', place) }),
    );
    const events = places(EVENTS).map((place) => ({ type: 'info' as const, message: wordsOf('event', place) }));
    await opened.commit({
      statements: [insertWorkstream(row), ...messages],
      events: { wsId, events, inMessages: true },
    });
  }
  return wsIds;
}

const places = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1);

function chooseSome(pages: readonly number[], random: Random): number[] {
  const left = [...pages];
  return Array.from({ length: FLIPS_PER_START }, () => left.splice(random.int(0, left.length - 1), 1)[0] ?? 1);
}

function flipped(file: string, pages: readonly number[], random: Random): Buffer {
  const bytes = readFileSync(file);
  const pageBytes = bytes.readUInt16BE(16);
  for (const page of pages) {
    const at = (page - 1) * pageBytes + random.int(0, pageBytes - 1);
    bytes.writeUInt8(bytes.readUInt8(at) ^ (1 << random.int(0, 7)), at);
  }
  return bytes;
}

/** Every way to read stored events and messages; each must return the original, a placeholder or an error. */
async function readAll(daemon: DaemonUnderTest, wsIds: readonly string[], score: Score): Promise<void> {
  const client = await daemon.client();
  const epoch = metaOf(daemon.home, 'epoch');
  for (const wsId of wsIds) {
    await refusable(score, async () => {
      const { messages } = await client.call('workstream.history', { wsId, limit: MESSAGES });
      assert.deepEqual(
        messages.map(({ seq }) => seq),
        places(MESSAGES),
      );
      for (const { seq, content, damaged } of messages) judge({ content, damaged }, wordsOf('message', seq), score);
    });
    await refusable(score, async () => {
      const { snapshot } = await client.call('workstream.get', { wsId });
      assert.deepEqual(
        snapshot.messages.map(({ seq }) => seq),
        places(MESSAGES),
      );
      for (const { seq, content, damaged } of snapshot.messages)
        judge({ content, damaged }, wordsOf('message', seq), score);
    });
    await refusable(score, async () => {
      const { messages } = await client.call('chat.history', { sessionKey: wsId, limit: MESSAGES });
      assert.equal(messages.length, MESSAGES);
      for (const [index, { role, content }] of messages.entries()) {
        const [part] = content;
        const text = part?.type === 'text' ? part.text : '';
        judge({ content: text, damaged: role === 'assistant' || undefined }, wordsOf('message', index + 1), score);
      }
    });
    await refusable(score, () => readLog(daemon, { wsId, epoch, score }));
  }
  await refusable(score, async () => {
    const { previews } = await client.call('sessions.preview', { keys: [...wsIds], limit: 50, maxChars: 2_000 });
    for (const { status, items } of previews) {
      if (status === 'error') score.refused += 1;
      for (const [index, { role, text }] of items.entries())
        judge({ content: text, damaged: role === 'assistant' || undefined }, wordsOf('message', index + 11), score);
    }
  });
}

async function readLog(daemon: DaemonUnderTest, { wsId, epoch, score }: { wsId: string; epoch: string; score: Score }) {
  await using stream = await daemon.sse(`/v1/api/events?ws_id=${wsId}&resume=1`, { lastEventId: `${epoch}:0` });
  const offsetOf = (id: string | undefined) => Number(id?.split(':')[1]);
  // If the offset of the last row is damaged, the log ends later, so that no offset is used twice.
  const { id: end } = await stream.until(({ id }) => offsetOf(id) >= EVENTS);
  let next = 1;
  for (const { id, data } of stream.frames) {
    if (data.type !== 'info' && data.type !== 'error') continue;
    const offset = offsetOf(id);
    if (data.damaged) score.lost += Math.min(offset, EVENTS) - next + 1;
    else assert.deepEqual([offset, data.message], [next, wordsOf('event', next)]);
    next = offset + 1;
  }
  assert.equal(next, offsetOf(end) + 1);
}

function judge(read: { content: string | null; damaged: true | undefined }, written: string, score: Score): void {
  if (read.damaged) assert.match(read.content ?? '', /^\[This message is damaged in the database/);
  else assert.equal(read.content, written);
  if (read.damaged) score.lost += 1;
}

/** Only an error that names the damage counts as a clear answer. */
async function refusable(score: Score, read: () => Promise<void>): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof Error) || !error.message.includes('The part of the database that holds this is damaged'))
      throw error;
    score.refused += 1;
  }
}

function metaOf(home: string, key: string): string {
  using database = new DatabaseSync(path.join(home, 'headgate.db'), { readOnly: true });
  return String(database.prepare('select value from meta where key = ?').get(key)?.value);
}

/** Stops the daemon cleanly, changes its database and restarts it. */
async function change(daemon: DaemonUnderTest, sql: string, ...parameters: string[]): Promise<void> {
  await daemon.stop();
  using database = new DatabaseSync(path.join(daemon.home, 'headgate.db'));
  assert.equal(database.prepare(sql).run(...parameters).changes, 1);
  database.close();
  await daemon.restart();
}

test('an altered message is neither sent to the model nor copied, and the conversation continues after it', async () => {
  await using model = await startScriptedModel();
  await using daemon = await startDaemon({ model: model.url });
  await using talk = await openConversation(daemon);
  model.when('pay', say('Paid.'));
  await talk.ended(await talk.ask('pay 10 to Anna'));
  await change(
    daemon,
    "update messages set body_json = replace(body_json, '10', '99') where ws_id = ? and seq = 1",
    talk.wsId,
  );
  await talk.reconnect();
  const { messages } = await talk.client.call('workstream.history', { wsId: talk.wsId });
  assert.deepEqual(
    messages.map(({ content, damaged }) => [content, damaged]),
    [
      ['[This message is damaged in the database and cannot be shown.]', true],
      ['Paid.', undefined],
    ],
  );
  const answer = await (await talk.ask('pay again')).answer.catch((error: unknown) => error);
  assert.match(JSON.stringify(answer), /The part of the database that holds this conversation is damaged/);
  assert.equal(model.requests.length, 1);
  await talk.client.call('workstream.command', { wsId: talk.wsId, command: '/new' });
  await talk.until(
    'error',
    ({ message }) => message === 'Command error: The part of the database that holds this is damaged',
  );
  await talk.client.call('workstream.command', { wsId: talk.wsId, command: '/clear' });
  await talk.ended(await talk.ask('pay 5 to Bert'));
  const { body } = await model.request(1);
  assert.deepEqual(
    body.messages.slice(1).map(({ content }) => content),
    ['pay 5 to Bert'],
  );
});

test('a truncated log is detected, and no position in it is used twice', async () => {
  await using daemon = await startDaemon();
  await using talk = await openConversation(daemon);
  await talk.ended(await talk.ask('hello'));
  const newest = talk.seen.at(-1)?.offset ?? 0;
  await change(daemon, 'delete from events where ws_id = ? and "offset" = ?', talk.wsId, String(newest));
  const client = await daemon.client();
  const epoch = metaOf(daemon.home, 'epoch');
  await using stream = await daemon.sse(`/v1/api/events?ws_id=${talk.wsId}&resume=1`, {
    lastEventId: `${epoch}:${newest - 1}`,
  });
  const { data } = await stream.until(({ id }) => id === `${epoch}:${newest}`);
  assert.deepEqual([data.type, data.damaged], ['error', true]);
  await client.call('workstream.command', { wsId: talk.wsId, command: '/name again' });
  const next = await stream.until(({ id }) => Number(id?.split(':')[1]) > newest);
  assert.equal(next.id, `${epoch}:${newest + 1}`);
});
