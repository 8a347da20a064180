import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { parseCursor } from '../../protocol/cursor.ts';
import type { EventFrame } from '../../protocol/frames.ts';
import type { StreamEventOf, StreamEventType } from '../../protocol/stream-events.ts';
import { systemClock } from '../../src/clock.ts';
import { type Arrivals, createArrivals } from '../support/clients/arrivals.ts';
import { type DaemonUnderTest, startDaemon } from '../support/daemon/daemon.ts';
import { isForSummary } from '../support/model/bounded-answers.ts';
import { type ScriptedModel, startScriptedModel } from '../support/model/scripted-model.ts';
import { callTools, type ScriptedCall, say, stall, think, useTokens } from '../support/model/scripted-steps.ts';
import { delegateWork } from './agent-scenario.ts';
import type { CallHistory, CallParams, Evidence, StreamFrame } from './evidence.ts';
import { leadWork } from './lead-scenario.ts';
import { readAfresh } from './read-afresh.ts';
import { readDisk } from './read-disk.ts';
import { effectCommand } from './recording/effects-file.ts';
import type { CallWish } from './recording/record-call.ts';
import type { RecordedSocket } from './recording/record-socket.ts';
import type { RecordedStream } from './recording/record-stream.ts';
import { createRecorder, type Recorder } from './recording/recorder.ts';
import { steer } from './steer-scenario.ts';
import { useTools } from './use-scenario.ts';

const MODEL_KEY = 'model-key-3f6c1a';
const CANARY = 'canary-of-the-environment-91b7';
const EFFECTS = 'effects.txt';

/**
 * Records a short, correct scenario: two workstreams with everything that the rules check, readers
 * that are disconnected, and a kill while a tool runs.
 */
export async function recordScenario(): Promise<Evidence> {
  await using model = await startScriptedModel({ key: MODEL_KEY });
  const env = { OPENAI_API_KEY: MODEL_KEY, HEADGATE_TEST_CANARY: CANARY };
  const spawnedMs = systemClock.now();
  await using daemon = await startDaemon({ model: model.url, env });
  const recorder = createRecorder(daemon, {
    budgetBytes: 1024 ** 3,
    secrets: [
      { name: 'the key of the model', value: MODEL_KEY },
      { name: 'a secret of the environment', value: CANARY },
    ],
    boot: { spawnedMs, readyMs: systemClock.now() },
  });
  const first = await openTalk(recorder, daemon, { name: 'first' });
  const second = await openTalk(recorder, daemon, { name: 'second' });
  await converse(first, model);
  await readInPieces(first);
  await decide(first, model);
  await takeBack(first, model);
  await stop(second, model);
  await spend(second, model);
  await steer(second, model);
  await useTools(second, model);
  await delegateWork(second, model, EFFECTS);
  const earlier = readDisk(daemon.home);
  await leadWork(await openTalk(recorder, daemon, { name: 'lead', kind: 'coordinator' }), model, daemon.home);
  await die({ first, second }, { model, recorder });
  await recorder.sampleMemory();
  await readAfresh(first);
  await Promise.all([readersAreDone(first), readersAreDone(second)]);
  const effectsFiles = [path.join(daemon.home, 'workspace', EFFECTS)];
  const requests = model.requests.map(({ body }) => body.messages);
  // Awaited here, because the daemon ends with the function.
  return { ...(await recorder.evidence({ settled: true, effectsFiles, earlier, withFiles: true })), requests };
}

interface Talk {
  wsId: string;
  recorder: Recorder;
  daemon: DaemonUnderTest;
  /** The frames of the stream, over all its connections. */
  seen: Arrivals<StreamFrame>;
  /** The frames of the socket. */
  heard: Arrivals<EventFrame>;
  stream: RecordedStream;
  socket: RecordedSocket;
}

async function openTalk(
  recorder: Recorder,
  daemon: DaemonUnderTest,
  made: { name: string; kind?: string },
): Promise<Talk> {
  const { body } = await daemon.post('/v1/api/workstreams/new', made);
  const seen = createArrivals<StreamFrame>();
  const talk = { wsId: String(body.ws_id), recorder, daemon, seen, heard: createArrivals<EventFrame>() };
  return { ...talk, stream: openStream(talk), socket: await openSocket(talk) };
}

type Place = Pick<Talk, 'wsId' | 'recorder' | 'seen' | 'heard'>;

const openStream = ({ wsId, recorder, seen }: Place, lastEventId?: string): RecordedStream =>
  recorder.stream({ reader: `stream of ${wsId}`, wsId, lastEventId, onFrame: seen.add });

async function openSocket({ wsId, recorder, heard }: Place, after?: string): Promise<RecordedSocket> {
  const socket = recorder.socket({ reader: `socket of ${wsId}`, onEvent: heard.add });
  await socket.connected;
  const subscribed = Promise.withResolvers<unknown>();
  socket.request('events.subscribe', { wsId, ...(after !== undefined && { after }) }, subscribed.resolve);
  await subscribed.promise;
  return socket;
}

/** The first matching event, past or future. */
async function until<T extends StreamEventType>({ seen }: Place, type: T, fits: (event: StreamEventOf<T>) => boolean) {
  const isIt = ({ id, data }: StreamFrame) => id !== undefined && data.type === type && fits(data as never); // of the type
  return (await seen.until(isIt, type)).data as StreamEventOf<T>;
}

/** Sends a message, and returns its run and how often it was sent. */
async function send(talk: Talk, message: string, method: CallWish['method'] = 'workstream.send') {
  const params = { wsId: talk.wsId, message, idempotencyKey: randomUUID() };
  const { answered } = talk.recorder.call({ method, params }, method === 'workstream.send' ? undefined : talk.socket);
  const { runId } = ((await answered)?.payload ?? {}) as { runId?: string }; // by the methods' contracts
  if (runId === undefined) throw new Error(`not accepted: ${message}`);
  return { runId, params };
}

const ended = (talk: Talk, { runId }: { runId: string }) => until(talk, 'ws_state', ({ run }) => run?.run_id === runId);

const asked = (talk: Talk, { after }: { after?: string } = {}) =>
  until(talk, 'approve_request', ({ approval_id }) => approval_id !== after);

async function resolve(talk: Talk, approvalId: string, params: Partial<CallParams>): Promise<CallHistory> {
  const method = params.feedback === undefined ? 'workstream.approve' : 'approval.resolve';
  const wish = { method, params: { wsId: talk.wsId, approvalId, ...params } } as const;
  const call = talk.recorder.call(wish, method === 'approval.resolve' ? talk.socket : undefined);
  await call.answered;
  return call.history;
}

const bash = (tag: string, secs: number): ScriptedCall => ({
  id: `call-${tag}`,
  name: 'bash',
  arguments: { command: effectCommand({ tag, file: EFFECTS, secs }) },
});

async function converse(talk: Talk, model: ScriptedModel): Promise<void> {
  const rest = stall();
  model.when('hello', [think('They greet. '), say('Good '), rest, say('morning ', 'to ', 'you.')]);
  const params = { wsId: talk.wsId, message: 'hello', idempotencyKey: randomUUID() };
  const wish = { method: 'agent', params } as const;
  await talk.recorder.call(wish, talk.socket).answered;
  await until(talk, 'content', () => true);
  await talk.recorder.call({ method: 'workstream.send', params: { wsId: talk.wsId, message: 'busy?' } }).answered;
  await talk.recorder.call(wish, talk.socket).answered; // a repeat during the run
  await talk.heard.until(({ event }) => event === 'chat', 'a sample of the text');
  rest.release();
  await ended(talk, { runId: params.idempotencyKey });
  const { params: sent, ...run } = await send(talk, 'hello again');
  await ended(talk, run);
  await talk.recorder.call({ method: 'workstream.send', params: sent }).answered; // a repeat after the run
}

/** A second reader, who resumes after the first event and is disconnected repeatedly. */
async function readInPieces({ wsId, recorder, seen }: Talk): Promise<void> {
  let lastEventId = seen.all.find(({ id }) => id !== undefined)?.id;
  for (const cutAfterBytes of [1_200, 1_500, 1_100]) {
    const stream = recorder.stream({ reader: 'pieces', wsId, lastEventId, cutAfterBytes });
    await stream.ended;
    lastEventId = stream.lastId ?? lastEventId;
  }
}

async function decide(talk: Talk, model: ScriptedModel): Promise<void> {
  model.when('two', callTools({ ...bash('fx-one', 0.01) }, { ...bash('fx-two', 0.01) }), say('Both done.'));
  const two = await send(talk, 'two', 'chat.send');
  const approval = await asked(talk);
  const [item] = approval.items;
  await resolve(talk, approval.approval_id, { approved: true });
  await until(talk, 'tool_result', ({ call_id }) => call_id === item?.call_id);
  await resolve(talk, approval.approval_id, { approved: false, feedback: 'too late' });
  await ended(talk, two);
  model.when('denied', callTools(bash('fx-denied', 0)), say('As you wish.'));
  const denied = await send(talk, 'denied');
  const question = await asked(talk, { after: approval.approval_id });
  await resolve(talk, question.approval_id, { approved: false, feedback: 'not today' });
  await ended(talk, denied);
}

/** A message is answered again, a turn is taken back, and the rest is summarized. */
async function takeBack(talk: Talk, model: ScriptedModel): Promise<void> {
  const { wsId, recorder, socket } = talk;
  const key = () => randomUUID();
  model.when('unsure', say('Perhaps. '.repeat(80)));
  await ended(talk, await send(talk, `unsure${' indeed'.repeat(80)}`));
  model.when('unsure', say('Certainly. '.repeat(80)));
  const retry = { method: 'workstream.retry', params: { wsId, idempotencyKey: key() } } as const;
  const { runId } = ((await recorder.call(retry, socket).answered)?.payload ?? {}) as { runId: string }; // by its contract
  await ended(talk, { runId });
  await recorder.call(retry, socket).answered; // a repeat
  model.when('regretted', say('Already forgotten.'));
  await ended(talk, await send(talk, 'regretted'));
  const rewind = { method: 'workstream.rewind', params: { wsId, turns: 1, idempotencyKey: key() } } as const;
  await recorder.call(rewind, socket).answered;
  await recorder.call(rewind, socket).answered; // a repeat
  model.onRequest((body) => (isForSummary(body) ? say('They greeted, and were sure in the end.') : undefined));
  await recorder.call({ method: 'workstream.command', params: { wsId, command: '/compact' } }, socket).answered;
  await until(talk, 'compacted', () => true);
}

async function stop(talk: Talk, model: ScriptedModel): Promise<void> {
  const { wsId, recorder } = talk;
  model.when('endless', [say('It goes on '), stall()]);
  const endless = await send(talk, 'endless');
  await until(talk, 'content', () => true);
  await recorder.call({ method: 'workstream.cancel', params: { wsId } }).answered;
  await ended(talk, endless);
  model.when('sleepy', callTools(bash('fx-cancelled', 30)));
  const sleepy = await send(talk, 'sleepy');
  const { approval_id: approvalId } = await asked(talk);
  await resolve(talk, approvalId, { approved: true });
  await until(talk, 'tool_output_chunk', () => true);
  await recorder.call({ method: 'workstream.cancel', params: { wsId, force: true } }).answered;
  await ended(talk, sleepy);
}

/** A budget is used up twice: a person first allows more, then declines. */
async function spend(talk: Talk, model: ScriptedModel): Promise<void> {
  const { wsId, daemon } = talk;
  const client = await daemon.client();
  const spent = (await client.call('usage.get', { by: 'workstream', wsId })).rows.reduce(
    (total, { inputTokens, outputTokens }) => total + inputTokens + outputTokens,
    0,
  );
  const { recorder, socket } = talk;
  const setTo = (tokens?: number) =>
    recorder.call({ method: 'budget.set', params: { wsId, ...(tokens !== undefined && { tokens }) } }, socket).answered;
  await setTo(spent + 500);
  const costs = (tokens: number) => useTokens({ prompt: tokens - 100, completion: 100 });
  const isBudget = ({ kind, approval_id: id }: StreamEventOf<'approve_request'>) =>
    kind === 'budget' && !decidedIn(talk, id);
  model.when('costly', [costs(1_000), say('That was dear.')]);
  await ended(talk, await send(talk, 'costly'));
  const again = await send(talk, 'costly again');
  await resolve(talk, (await until(talk, 'approve_request', isBudget)).approval_id, { approved: true });
  await ended(talk, again);
  const listing = callTools({ id: 'call-list', name: 'list_directory', arguments: { path: '.' } });
  model.when('dearest', [costs(50_000), listing]);
  model.when('The budget of this run is used up', [costs(1_000), say('I stop here.')]);
  const dearest = await send(talk, 'dearest');
  const question = await until(talk, 'approve_request', isBudget);
  await resolve(talk, question.approval_id, { approved: false, feedback: 'too dear' });
  // The stream has the end of a failed run without an id.
  const isEnd = ({ data }: StreamFrame) => data.type === 'ws_state' && data.run?.run_id === dearest.runId;
  await talk.seen.until(isEnd, 'the end of a run without more');
  await setTo();
}

async function die(
  { first, second }: Record<'first' | 'second', Talk>,
  parts: Pick<Talk, 'recorder'> & { model: ScriptedModel },
) {
  const { recorder, model } = parts;
  const wasAsked = first.seen.all.findLast(({ data }) => data.type === 'approve_request')?.data;
  const after = wasAsked?.type === 'approve_request' ? wasAsked.approval_id : '';
  model.when('deadly', callTools(bash('fx-deadly', 30)), say('It was cut off.'));
  const deadly = await send(first, 'deadly');
  const isNew = ({ approval_id: id }: { approval_id: string }) => id !== after && !decidedIn(first, id);
  const question = await until(first, 'approve_request', isNew);
  await resolve(first, question.approval_id, { approved: true });
  await until(first, 'tool_output_chunk', ({ chunk }) => chunk.includes('fx-deadly'));
  model.when('half', [say('Half an '), stall()]);
  const half = await send(second, 'half');
  await until(second, 'content', ({ text }) => text.startsWith('Half'));
  await recorder.kill9();
  model.when('half', say('The whole answer.'));
  await Promise.all([first, second].map(({ stream, socket }) => Promise.all([stream.ended, socket.ended])));
  await recorder.restart();
  await Promise.all([comeBack(first), comeBack(second)]);
  const outcome = await until(first, 'approve_request', ({ kind }) => kind === 'outcome');
  await resolve(first, outcome.approval_id, { approved: false, feedback: 'leave it' });
  await Promise.all([ended(first, deadly), ended(second, half)]);
}

const decidedIn = ({ seen }: Talk, id: string): boolean =>
  seen.all.some(({ data }) => data.type === 'approval_resolved' && data.approval_id === id);

async function comeBack(talk: Talk): Promise<void> {
  const lastId = talk.stream.lastId;
  talk.stream = openStream(talk, lastId);
  const told = talk.heard.all.flatMap(({ event, payload }) => (event === 'workstream' ? [Object(payload).cursor] : []));
  talk.socket = await openSocket(talk, told.at(-1));
}

/** Waits until both readers have received everything on disk. */
async function readersAreDone({ wsId, daemon, seen, socket }: Talk): Promise<void> {
  const [workstream] = readDisk(daemon.home, [wsId]).workstreams;
  const last = workstream?.events.at(-1)?.offset ?? 0;
  await seen.until(({ id }) => parseCursor(id)?.offset === last, `offset ${last}`);
  // The answer comes after all events that existed when the request was made.
  const asked = Promise.withResolvers<unknown>();
  socket.request('health', {}, asked.resolve);
  await asked.promise;
}
