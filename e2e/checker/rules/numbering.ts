import type { EventFrame } from '../../../protocol/frames.ts';
import type { AgentEvent } from '../../../protocol/methods/agent.ts';
import type { ChatEvent } from '../../../protocol/methods/chat.ts';
import type { Evidence, Finding, Outage, SocketHistory } from '../evidence.ts';

/** Broadcasts carry `seq` without gaps on one connection, because no client here is slow enough to be skipped. */
export function* broadcastNumbers({ sockets }: Evidence): Generator<Finding> {
  for (const socket of sockets) {
    let last: number | undefined;
    for (const { event, seq } of eventsOf(socket)) {
      if (seq === undefined) continue;
      const isNext = last === undefined || seq === last + 1;
      if (!isNext) yield { what: `${event} has number ${seq} after ${last}`, where: socket.reader };
      last = seq;
    }
  }
}

/** The `agent` events of a run are numbered without gaps; clients present at its start see number 1. */
export function* agentNumbers(evidence: Evidence): Generator<Finding> {
  for (const { where, events } of heardParts(evidence)) {
    let last: number | undefined;
    for (const told of events) {
      const what = wrongNumber(told, last);
      if (what !== undefined) yield { what, where };
      last = told.payload.seq;
    }
  }
}

/** A `chat` event follows the corresponding `agent` event and has its number. */
function wrongNumber({ event, payload }: RunEvent, last: number | undefined): string | undefined {
  const { seq } = payload;
  if (event === 'chat') return seq === last ? undefined : `chat event with number ${seq} beside ${last ?? 'none'}`;
  if (last !== undefined && seq !== last + 1) return `agent event ${seq} after ${last}`;
  const isStart = payload.stream === 'job' && payload.data.state === 'started';
  return isStart && seq !== 1 ? `starts with number ${seq}` : undefined;
}

/** One `final`, `aborted` or `error` per run, and nothing after it. */
export function* oneChatEnd(evidence: Evidence): Generator<Finding> {
  for (const { where, events, isBrokenOff } of heardRuns(evidence)) {
    const end = events.findIndex(({ event, payload }) => event === 'chat' && payload.state !== 'delta');
    const after = end < 0 ? undefined : events[end + 1];
    if (after) yield { what: `${after.event} event after the end`, where };
    if (end < 0 && !isBrokenOff && events.some(isAgentEnd)) yield { what: 'ended as agent, but not as chat', where };
  }
}

const isAgentEnd = ({ event, payload }: RunEvent): boolean =>
  event === 'agent' && payload.stream === 'job' && payload.data.state !== 'started';

/** The text of each sample is the previous text plus its delta. */
export function* cumulativeText(evidence: Evidence): Generator<Finding> {
  for (const { where, events } of heardParts(evidence)) {
    for (const [stream, samples] of Map.groupBy(events.flatMap(samplesIn), (sample) => sample.stream)) {
      for (const [index, { text, delta }] of samples.entries()) {
        const before = samples[index - 1]?.text;
        // A client that joins later has no previous text; a new turn starts empty.
        if (before === undefined || text === delta || text === before + delta) continue;
        yield { what: `${stream} text is not the previous text plus its delta`, where };
      }
    }
  }
}

interface Sample {
  stream: string;
  text: string;
  delta: string;
}

function samplesIn({ event, payload }: RunEvent): Sample[] {
  if (event !== 'agent' || (payload.stream !== 'assistant' && payload.stream !== 'reasoning')) return [];
  return [{ stream: payload.stream, text: String(payload.data.text), delta: String(payload.data.delta) }];
}

type RunEvent = { event: 'agent'; payload: AgentEvent } | { event: 'chat'; payload: ChatEvent };

interface HeardRun {
  where: string;
  events: RunEvent[];
  /** No event follows the last one: the connection may have broken in between. */
  isBrokenOff: boolean;
}

/** The events of each run that each socket received without interruption. */
const heardRuns = ({ sockets }: Evidence): HeardRun[] =>
  sockets.flatMap((socket) => {
    const last = socket.frames.findLast(({ way }) => way === 'in')?.frame;
    return stretchesOf(socket).flatMap((stretch) =>
      [...Map.groupBy(stretch, ({ payload }) => payload.runId)].map(([runId, events]) => ({
        where: `${socket.reader} ${runId}`,
        events,
        isBrokenOff: last?.type === 'event' && last.payload === events.at(-1)?.payload,
      })),
    );
  });

/**
 * The same, in parts: another machine that continues a run numbers its events from 1 again, and what a worker says while it
 * cannot be reached is lost.
 */
const heardParts = (evidence: Evidence): Pick<HeardRun, 'where' | 'events'>[] =>
  heardRuns(evidence).flatMap(({ where, events }) =>
    partsOf(events, breaksIn(evidence)).map((part) => ({ where, events: part })),
  );

/** By a wrong clock, any moment may be in a break. */
const breaksIn = ({ breaks = [], areClocksWrong = false }: Evidence): readonly Outage[] =>
  areClocksWrong && breaks.length > 0 ? [{ fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY }] : breaks;

function partsOf(events: readonly RunEvent[], breaks: readonly Outage[]): RunEvent[][] {
  const parts: RunEvent[][] = [[]];
  let last: RunEvent | undefined;
  for (const told of events) {
    const mayBegin = last !== undefined && told.event === 'agent' && mayHaveBroken(breaks, last, told);
    if (mayBegin && told.payload.seq !== (last?.payload.seq ?? 0) + 1) parts.push([]);
    parts.at(-1)?.push(told);
    if (told.event === 'agent') last = told;
  }
  return parts;
}

const mayHaveBroken = (breaks: readonly Outage[], before: RunEvent, after: RunEvent): boolean =>
  breaks.some(({ fromMs, toMs }) => momentOf(before) < toMs && momentOf(after) > fromMs);

const momentOf = ({ event, payload }: RunEvent): number => (event === 'agent' ? payload.ts : 0);

/** A subscription changes the runs that a socket receives, so each answer begins a new stretch. */
function stretchesOf({ frames }: SocketHistory): RunEvent[][] {
  const subscribing = new Set(
    frames.flatMap(({ way, frame }) => (way === 'out' && frame.method === 'events.subscribe' ? [frame.id] : [])),
  );
  const stretches: RunEvent[][] = [[]];
  for (const { frame } of frames) {
    if (frame.type === 'res' && subscribing.has(frame.id)) stretches.push([]);
    if (frame.type !== 'event' || (frame.event !== 'agent' && frame.event !== 'chat')) continue;
    stretches.at(-1)?.push({ event: frame.event, payload: frame.payload } as RunEvent); // typed by the rows of the events
  }
  return stretches;
}

const eventsOf = ({ frames }: SocketHistory): EventFrame[] =>
  frames.flatMap(({ frame }) => (frame.type === 'event' ? [frame] : []));
