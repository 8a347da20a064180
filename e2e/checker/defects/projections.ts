import type { SocketFrame } from '../evidence.ts';
import { type Defect, pickSocketEvent } from './defect.ts';

const NUMBERS = 'events of a run are numbered';
const CHAT_END = 'a run has one final chat event';

const isStream = (stream: string) => (at: { name: string; payload: Record<string, unknown> }) =>
  at.name === 'agent' && at.payload.stream === stream;

/** Defects in the socket events that are not in the log. */
export const PROJECTION_DEFECTS: Defect[] = [
  {
    name: 'a socket misses an agent event',
    rule: NUMBERS,
    apply(evidence, random) {
      const { socket, index } = pickSocketEvent(evidence, random, isStream('assistant'));
      socket.frames.splice(index, 1);
    },
  },
  {
    name: 'a socket receives an agent event twice',
    rule: NUMBERS,
    apply(evidence, random) {
      const { socket, index } = pickSocketEvent(evidence, random, ({ name }) => name === 'agent');
      socket.frames.splice(index, 0, ...socket.frames.slice(index, index + 1));
    },
  },
  {
    name: 'a run has two final chat events',
    rule: CHAT_END,
    apply(evidence, random) {
      const { socket, index } = pickSocketEvent(evidence, random, ({ payload }) => payload.state === 'final');
      socket.frames.splice(index, 0, ...socket.frames.slice(index, index + 1));
    },
  },
  {
    name: 'a run has no final chat event',
    rule: CHAT_END,
    apply(evidence, random) {
      const isEnd = ({ name, payload }: { name: string; payload: Record<string, unknown> }) =>
        name === 'chat' && payload.state !== 'delta';
      const { socket, index } = pickSocketEvent(evidence, random, isEnd);
      socket.frames.splice(index, 1);
    },
  },
  {
    name: 'a broadcast is missing',
    rule: 'broadcasts are numbered',
    apply(evidence, random) {
      const isNumbered = ({ frame }: SocketFrame) => frame.type === 'event' && frame.seq !== undefined;
      const { socket, index } = pickSocketEvent(evidence, random, ({ name, socket: { frames }, index: at }) => {
        const isBetween = frames.slice(0, at).some(isNumbered) && frames.slice(at + 1).some(isNumbered);
        return name === 'approval.requested' && isBetween;
      });
      socket.frames.splice(index, 1);
    },
  },
  {
    name: 'the delta of a sample does not match the growth of its text',
    rule: 'sampled text grows by its deltas',
    apply(evidence, random) {
      const grows = (at: Parameters<ReturnType<typeof isStream>>[0]) =>
        isStream('assistant')(at) && at.payload.data !== undefined && !isFirst(at.payload.data);
      const { payload } = pickSocketEvent(evidence, random, grows);
      const data = Object(payload.data);
      data.delta += data.delta;
    },
  },
];

const isFirst = (data: unknown): boolean => Object(data).text === Object(data).delta;
