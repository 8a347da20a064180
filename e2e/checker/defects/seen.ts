import type { StreamEvent } from '../../../protocol/stream-events.ts';
import { isDelta } from '../../../src/gateway/store/merge-deltas.ts';
import type { Evidence, StreamHistory } from '../evidence.ts';
import { continued, type Defect, pickEvent, pickFrame, pickSocketEvent, renumber, swap } from './defect.ts';

const ORDER = 'every event is received once and in order';
const ON_DISK = 'every event a client received is on disk';
const RESUMPTION = 'a stream resumes exactly or says why not';
const OPENING = 'a stream begins with its position';

const isPlain = ({ event }: { event: Parameters<typeof isDelta>[0] }): boolean => !isDelta(event);
const isInside = ({ stream, index }: { stream: StreamHistory; index: number }): boolean =>
  index < stream.frames.length - 3;

/** Streams have another name for questions about plans. */
const PLAN_EVENTS: ReadonlySet<string> = new Set(['plan_review']);

/** A new stream that opens after its decision leaves out such a question, and nobody can tell when it opened. */
const mayBeLeftOut = (event: StreamEvent): boolean =>
  PLAN_EVENTS.has(event.type) || (event.type === 'approve_request' && event.kind === 'budget');

/** A stream that could not be continued, and its frame that says so. */
function refused({ streams }: Evidence) {
  for (const stream of streams) {
    const index = stream.frames.findIndex(({ data }) => data.type === 'replay_truncated');
    if (index >= 0) return { stream, index, truncated: stream.frames[index]?.data ?? {} };
  }
  throw new Error('every stream was continued');
}

/** Defects in the events that clients received. */
export const SEEN_DEFECTS: Defect[] = [
  {
    name: 'a client misses an event',
    rule: ORDER,
    apply(evidence, random) {
      const { stream, index } = pickFrame(evidence, random, (at) => isInside(at) && !mayBeLeftOut(at.event));
      stream.frames.splice(index, 1);
    },
  },
  {
    name: 'a socket misses an event',
    rule: ORDER,
    apply(evidence, random) {
      const isMiddle = (cursor: unknown) => /:([5-9]|1\d)$/.test(String(cursor));
      const fits = ({ name, payload }: { name: string; payload: { cursor?: unknown } }) =>
        name === 'workstream' && isMiddle(payload.cursor);
      const { socket, index } = pickSocketEvent(evidence, random, fits);
      socket.frames.splice(index, 1);
    },
  },
  {
    name: 'a client never receives the last event',
    rule: 'readers receive the last event',
    apply(evidence, random) {
      random.pick(evidence.streams.filter(({ isOpen }) => isOpen)).frames.pop();
    },
  },
  {
    name: 'a client sees two events in the wrong order',
    rule: ORDER,
    apply(evidence, random) {
      const { stream, index } = pickFrame(evidence, random, (at) => isInside(at) && isPlain(at));
      const next = stream.frames.findIndex(({ id }, place) => place > index && id !== undefined);
      swap(stream.frames, index, next);
    },
  },
  {
    name: 'a client sees an event twice',
    rule: ORDER,
    apply(evidence, random) {
      const { stream, index } = pickFrame(evidence, random, isInside);
      stream.frames.splice(index, 0, ...stream.frames.slice(index, index + 1));
    },
  },
  {
    name: 'a client sees the text of a delta twice',
    rule: ON_DISK,
    apply(evidence, random) {
      const { event } = pickFrame(evidence, random, (at) => at.event.type === 'content');
      if (event.type === 'content') event.text += event.text;
    },
  },
  {
    name: 'a client sees a changed character',
    rule: ON_DISK,
    apply(evidence, random) {
      const { event } = pickFrame(
        evidence,
        random,
        (at) => at.event.type === 'reasoning' || at.event.type === 'content',
      );
      if (event.type === 'content' || event.type === 'reasoning') event.text = `${event.text.slice(1)}~`;
    },
  },
  {
    name: 'the last event of a client is not on disk',
    rule: ON_DISK,
    apply(evidence, random) {
      const read = evidence.disk.workstreams.filter(({ wsId }) =>
        evidence.streams.some((stream) => stream.wsId === wsId),
      );
      random.pick(read).events.pop();
    },
  },
  {
    name: 'the log loses an event and closes the gap',
    rule: ON_DISK,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, (event) => event.type === 'status');
      workstream.events.splice(part[0], 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'the log has two events in the wrong order',
    rule: ON_DISK,
    apply(evidence, random) {
      const { workstream, part } = pickEvent(evidence, random, (event) => event.type === 'thinking_start');
      swap(workstream.events, part[0], part[0] + 1);
      renumber(workstream.events);
    },
  },
  {
    name: 'a resumed stream skips an event',
    rule: ORDER,
    apply(evidence, random) {
      const { stream } = random.pick(continued(evidence).filter((pair) => pair.stream.frames.length > 5));
      stream.frames.splice(2, 1);
    },
  },
  {
    name: 'a resumed stream repeats the last event',
    rule: ORDER,
    apply(evidence, random) {
      const { stream, before } = random.pick(continued(evidence).filter((pair) => pair.before.frames.length > 2));
      stream.frames.splice(2, 0, ...before.frames.slice(-1));
    },
  },
  {
    name: 'a stream resumes at a wrong position',
    rule: ORDER,
    apply(evidence, random) {
      const { stream, before } = random.pick(continued(evidence));
      const place = before.frames[1]?.id ?? '';
      stream.lastEventId = place;
      stream.frames[1] = { id: place, data: { type: 'history', messages: [], from: place } };
    },
  },
  {
    name: 'a stream claims to be recovered although the log is a different one',
    rule: RESUMPTION,
    apply(evidence, random) {
      const { stream } = random.pick(continued(evidence));
      stream.lastEventId = `another:${stream.lastEventId?.split(':')[1]}`;
    },
  },
  {
    name: 'a stream is not recovered although it could be',
    rule: RESUMPTION,
    apply(evidence, random) {
      const [connected] = random.pick(continued(evidence)).stream.frames;
      if (connected?.data.type === 'connected') Object.assign(connected.data, { recovered: false, reason: 'expired' });
    },
  },
  {
    name: 'a client is not told whether its stream was recovered',
    rule: RESUMPTION,
    apply(evidence, random) {
      const [connected] = random.pick(continued(evidence)).stream.frames;
      if (connected?.data.type === 'connected') delete connected.data.recovered;
    },
  },
  {
    name: 'a stream does not report that events are lost',
    rule: RESUMPTION,
    apply(evidence) {
      const { stream, index } = refused(evidence);
      stream.frames.splice(index, 1);
    },
  },
  {
    name: 'a stream reports a wrong number of lost events',
    rule: RESUMPTION,
    apply(evidence) {
      Object.assign(refused(evidence).truncated, { lost_count: 7 });
    },
  },
  {
    name: 'a subscription resumes at a wrong position',
    rule: RESUMPTION,
    apply({ sockets }, random) {
      const answers = sockets.flatMap(({ frames }) =>
        frames.flatMap(({ frame }) => (frame.type === 'res' ? [Object(frame.payload)] : [])),
      );
      const answer = random.pick(answers.filter(({ recovered }) => recovered === true));
      answer.cursor = `${answer.cursor}0`;
    },
  },
  {
    name: 'a history omits a message',
    rule: OPENING,
    apply({ streams }, random) {
      const histories = streams.flatMap(({ frames }) => {
        const data = frames[1]?.data;
        return data?.type === 'history' && !('truncated' in data) && data.messages.length > 0 ? [data] : [];
      });
      random.pick(histories).messages.shift();
    },
  },
  {
    name: 'a stream begins after the question that waits',
    rule: 'a new stream shows the pending question',
    apply(evidence, random) {
      const { streams, disk } = evidence;
      const { workstream, part } = pickEvent(evidence, random, ({ type }) => type === 'approve_request');
      const { offset = 0 } = workstream.events[part[0]] ?? {};
      const isFirst = ({ wsId, frames: [connected] }: StreamHistory) =>
        wsId === workstream.wsId && connected?.data.type === 'connected' && connected.data.recovered === undefined;
      const [, history] = random.pick(streams.filter(isFirst)).frames;
      if (history) history.id = `${disk.epoch}:${offset}`;
    },
  },
  {
    name: 'an event of the log has no cursor',
    rule: OPENING,
    apply(evidence, random) {
      const { stream, index, event } = pickFrame(evidence, random, isInside);
      stream.frames[index] = { data: event };
    },
  },
];
