import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import type { GatewayClient } from '../../../protocol/client/ws-client.ts';
import { parseCursor } from '../../../protocol/cursor.ts';
import type { ParamsInput } from '../../../protocol/index.ts';
import type { Approval } from '../../../protocol/methods/approval.ts';
import type { StreamEvent, StreamEventOf, StreamEventType } from '../../../protocol/stream-events.ts';
import { planAsLogged } from '../../checker/as-logged.ts';
import type { DaemonUnderTest } from '../daemon/daemon.ts';
import { type Ledger, type Logged, readLedger } from '../daemon/ledger.ts';
import type { Arrivals } from './arrivals.ts';
import { followSocket, followStream, type SocketFollower, type StreamFollower } from './followers.ts';
import { storyOf } from './story.ts';

/** A question to the agent that can be repeated with its key. */
export interface Question {
  runId: string;
  params: { message: string; sessionKey: string; idempotencyKey: string };
  /** Rejects if the connection is lost before the answer. */
  answer: Promise<unknown>;
}

/** One workstream, its actions, and two clients that follow it across restarts. */
export interface Conversation extends AsyncDisposable {
  readonly wsId: string;
  readonly client: GatewayClient;
  /** Asks through `agent`; resolves when it is accepted. */
  ask(message: string): Promise<Question>;
  /** Repeats the question with the same key. */
  repeat(question: Question): Promise<unknown>;
  /** The first matching event of the type, past or future. */
  until<T extends StreamEventType>(type: T, fits?: (event: StreamEventOf<T>) => boolean): Promise<StreamEventOf<T>>;
  /** Resolves when the run has ended and the workstream is idle. */
  ended(question: { runId: string }): Promise<void>;
  pending(): Promise<Approval[]>;
  decide(approvalId: string, decision: { approved: boolean; feedback?: string; always?: boolean }): Promise<unknown>;
  /** Reconnects all clients after a restart. */
  reconnect(): Promise<void>;
  /** Checks that all clients and a new reader received the log in the database, and that it is consistent. Returns it. */
  agree(): Promise<Ledger>;
  /** The events of the stream so far. */
  readonly seen: readonly Logged[];
  story(): string[];
}

/** Opens a new workstream and follows it from its beginning. */
export async function openConversation(
  daemon: DaemonUnderTest,
  options: ParamsInput<'workstream.create'> = {},
): Promise<Conversation> {
  const client = await daemon.client();
  const { wsId } = await client.call('workstream.create', options);
  const socket = followSocket(client, wsId);
  const stream = await followStream(daemon, wsId);
  const until: Conversation['until'] = async (type, fits = () => true) => {
    const isIt = ({ event }: Logged) => event.type === type && fits(event as never); // the type was just checked
    return (await stream.seen.until(isIt, type)).event as never;
  };
  return {
    wsId,
    client,
    until,
    ask: (message) => ask(client, { message, sessionKey: wsId, idempotencyKey: randomUUID() }),
    repeat: ({ params }) => client.call('agent', params),
    async ended({ runId }) {
      await until('ws_state', ({ run }) => run?.run_id === runId);
    },
    pending: async () => (await client.call('approval.list', { wsId })).approvals,
    decide: (approvalId, decision) => client.call('approval.resolve', { approvalId, ...decision }),
    async reconnect() {
      await stream.resume();
      client.retryNow();
    },
    agree: () => agree(daemon, wsId, { stream, socket }),
    seen: stream.seen.all,
    story: () => storyOf(eventsOf(stream.seen)),
    async [Symbol.asyncDispose]() {
      client.close();
      await stream[Symbol.asyncDispose]();
    },
  };
}

async function ask(client: GatewayClient, params: Question['params']): Promise<Question> {
  const accepted = Promise.withResolvers<unknown>();
  const answer = client.call('agent', params, { onInterim: accepted.resolve, timeoutMs: 150_000 });
  answer.catch(accepted.reject); // reports a refusal; `answer` reports a connection lost later
  await accepted.promise;
  return { runId: params.idempotencyKey, params, answer };
}

interface Followers {
  stream: StreamFollower;
  socket: SocketFollower;
}

async function agree(daemon: DaemonUnderTest, wsId: string, { stream, socket }: Followers): Promise<Ledger> {
  const ledger = readLedger(daemon.home, wsId);
  const last = ledger.events.at(-1)?.offset ?? 0;
  const told = storyOf(ledger.events.map(({ event }) => event));
  for (const [name, { seen }] of Object.entries({ 'the event stream': stream, 'the WebSocket': socket })) {
    if (last > 0) await seen.until(({ offset }) => offset >= last, `offset ${last} on ${name}`);
    assert.deepEqual(storyOf(eventsOf(seen)), told, `${name} got the events of the log`);
    const offsets = seen.all.map(({ offset }) => offset);
    assert.deepEqual(
      offsets,
      [...new Set(offsets)].sort((a, b) => a - b),
      `${name} got each event once, in order`,
    );
  }
  assert.deepEqual(socket.resets, [], 'the WebSocket subscription always resumed without a reset');
  await agreeAfresh(daemon, wsId, ledger);
  return ledger;
}

/** A stream opened now: the history up to a cursor, then the rest of the log. */
async function agreeAfresh(daemon: DaemonUnderTest, wsId: string, { events, messages }: Ledger): Promise<void> {
  const last = events.at(-1)?.offset ?? 0;
  await using stream = await daemon.sse(wsId);
  const { id, data: history } = await stream.until('history');
  const from = parseCursor(id)?.offset ?? 0;
  if (from < last) await stream.until((frame) => parseCursor(frame.id)?.offset === last);
  const caughtUp = stream.frames.slice(2).filter((frame) => frame.id !== undefined);
  const shown = messages.filter((message) => message.role !== 'user' || !message.environment); // those are for the model
  const isBefore = ({ offset }: Logged) => offset <= from;
  const asReplayed = events.filter((logged) => !isBefore(logged)).map(({ event }) => event);
  assert.deepEqual(
    storyOf(caughtUp.map(({ data }) => planAsLogged(data) ?? data)),
    replayOf(asReplayed),
    'a new stream catches up',
  );
  assert.deepEqual(
    history.messages.map(({ role }: { role: string }) => role),
    shown.slice(0, history.messages.length).map(({ role }) => role),
    'the history of a new stream equals the stored messages',
  );
  if (asReplayed.length === 0)
    assert.equal(history.messages.length, shown.length, 'the history contains every message');
}

/** A decided approval is replayed as its running calls, and a decided plan not at all. */
function replayOf(events: StreamEvent[]): string[] {
  const decided = new Set(events.flatMap((event) => (event.type === 'approval_resolved' ? [event.approval_id] : [])));
  return storyOf(
    events.flatMap((event): StreamEvent[] => {
      if (event.type !== 'approve_request' || !decided.has(event.approval_id)) return [event];
      return event.kind === 'plan' ? [] : [{ type: 'tool_info', items: event.items }];
    }),
  );
}

const eventsOf = ({ all }: Arrivals<Logged>): StreamEvent[] => all.map(({ event }) => event);
