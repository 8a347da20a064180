import assert from 'node:assert/strict';
import { workstreamEndpoints } from '../../protocol/http/workstream.ts';
import type { StreamEventOf, StreamEventType } from '../../protocol/stream-events.ts';
import { storyOf } from '../support/clients/story.ts';
import { type Logged, readLedger } from '../support/daemon/ledger.ts';
import type { Load } from './load.ts';
import { type Reader, readSocket, readStream } from './readers.ts';
import { messageOf, pickTurn, TURNS, type TurnKind } from './script.ts';

const MAX_TURNS = 8;
const STAY_MS = 60_000;
/** How often a conversation continues in the workstream of an earlier one. */
const REOPENED = 0.3;

/** One workstream from start to close: a few turns, a person who stays, two readers who connect and disconnect. */
export async function converse(load: Load): Promise<void> {
  const { http } = load.daemon;
  const reopened = load.random() < REOPENED ? load.closed.shift() : undefined;
  const { ws_id: wsId } = await http.call(workstreamEndpoints.create, { resume_ws: reopened ?? null });
  let isOver = false;
  // At the end all readers stay connected, because a busy machine would cut them before they have read anything.
  const patience = (signal: AbortSignal) => load.wait(isOver ? STAY_MS : 200 + load.random() * 2_000, signal);
  const person = readStream(load.daemon, wsId);
  const readers = [readStream(load.daemon, wsId, patience), readSocket(load.daemon, wsId, patience)];
  try {
    await Promise.all([person, ...readers].map(({ ready }) => ready));
    const before = readLedger(load.daemon.home, wsId).events.length;
    const turns = 1 + Math.floor(load.random() * MAX_TURNS);
    for (let turn = 0; turn < turns && !load.isResting(); turn += 1) {
      const kind = pickTurn(load.random);
      await takeTurn({ load, wsId, person }, kind);
      load.count(kind);
      await load.wait(load.random() * 2 * load.pauseMs, load.stopping);
    }
    isOver = true;
    await compare([person, ...readers], readLedger(load.daemon.home, wsId).events.slice(before));
  } finally {
    await Promise.all([person, ...readers].map((reader) => reader.stop()));
    await http.call(workstreamEndpoints.close, { ws_id: wsId });
  }
  load.closed.push(wsId);
}

/** Checks that every reader received the contents of the file. */
async function compare(readers: Reader[], logged: Logged[]): Promise<void> {
  const last = logged.at(-1)?.offset ?? 0;
  const story = storyOf(logged.map(({ event }) => event));
  for (const { seen } of readers) {
    if (last > 0) await seen.until(({ offset }) => offset >= last, `offset ${last}`);
    assert.deepEqual(storyOf(seen.all.map(({ event }) => event)), story);
  }
}

interface Talk {
  load: Load;
  wsId: string;
  person: Reader;
}

async function takeTurn(talk: Talk, kind: TurnKind): Promise<void> {
  const { load, wsId } = talk;
  const { http } = load.daemon;
  if (kind === 'settings') {
    await http.call(workstreamEndpoints.command, { ws_id: wsId, command: `/name soak ${load.random()}` });
    return;
  }
  const from = talk.person.seen.all.at(-1)?.offset ?? 0;
  const { run_id: runId } = await http.call(workstreamEndpoints.send, {
    ws_id: wsId,
    message: messageOf(kind, load.random),
  });
  await DURING[kind]?.(talk, from);
  const end = await until(talk, from, { type: 'ws_state', fits: ({ run }) => run?.run_id === runId });
  assert.equal(end.run?.status, TURNS[kind].status, `${kind}: ${end.run?.error}`);
}

/** The actions of a person during a turn of this kind, whose events have offsets after `from`. */
const DURING: Partial<Record<TurnKind, (talk: Talk, from: number) => Promise<unknown>>> = {
  approved: (talk, from) => decide(talk, from, true),
  denied: (talk, from) => decide(talk, from, false),
  async busy({ load, wsId }) {
    const { status } = await load.daemon.http.call(workstreamEndpoints.send, { ws_id: wsId, message: 'and this' });
    assert.equal(status, 'busy');
  },
  async cancelled(talk, from) {
    await until(talk, from, { type: 'content' });
    await cancel(talk);
  },
  async 'cancelled in a tool'(talk, from) {
    await decide(talk, from, true);
    await until(talk, from, { type: 'tool_output_chunk' });
    await cancel(talk);
  },
};

async function decide(talk: Talk, from: number, approved: boolean): Promise<void> {
  const { approval_id: approvalId } = await until(talk, from, { type: 'approve_request' });
  const decision = { ws_id: talk.wsId, approval_id: approvalId, approved, feedback: approved ? '' : 'no' };
  await talk.load.daemon.http.call(workstreamEndpoints.approve, decision);
}

async function cancel({ load, wsId }: Talk): Promise<void> {
  const receipt = await load.daemon.http.call(workstreamEndpoints.cancel, { ws_id: wsId });
  assert.equal(receipt.status, 'ok');
}

interface Wanted<T extends StreamEventType> {
  type: T;
  fits?(event: StreamEventOf<T>): boolean;
}

async function until<T extends StreamEventType>(
  talk: Talk,
  from: number,
  wanted: Wanted<T>,
): Promise<StreamEventOf<T>> {
  const { type, fits = () => true } = wanted;
  const isIt = ({ event, offset }: Logged) => offset > from && event.type === type && fits(event as never); // the type was just checked
  return (await talk.person.seen.until(isIt, type)).event as never;
}
