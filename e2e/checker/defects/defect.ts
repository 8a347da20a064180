import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { RuleName } from '../check.ts';
import type {
  Effect,
  Evidence,
  Logged,
  RunOnDisk,
  SocketHistory,
  StreamHistory,
  WorkstreamOnDisk,
} from '../evidence.ts';
import type { Random } from '../random.ts';

/** A defect in a correct recording, and the rule that must find it. */
export interface Defect {
  name: string;
  rule: RuleName;
  /** Changes the evidence in place. Throws if the recording has nothing to change. */
  apply(evidence: Evidence, random: Random): void;
}

/** A workstream, and a matching part of it. */
export function pickIn<T>(evidence: Evidence, random: Random, find: (workstream: WorkstreamOnDisk) => readonly T[]) {
  const found = evidence.disk.workstreams.flatMap((workstream) =>
    find(workstream).map((part) => ({ workstream, part })),
  );
  return random.pick(found);
}

/** An event of a log, by its index in the list. */
export const pickEvent = (evidence: Evidence, random: Random, fits: (event: StreamEvent) => boolean) =>
  pickIn(evidence, random, ({ events }) => [...events.entries()].filter(([, logged]) => fits(logged.event)));

export const pickRun = (evidence: Evidence, random: Random, fits: (run: RunOnDisk) => boolean) =>
  pickIn(evidence, random, ({ runs }) => runs.filter(fits));

/** The index of a stream frame that holds a log event. */
export function pickFrame(
  { streams }: Evidence,
  random: Random,
  fits: (at: { stream: StreamHistory; index: number; event: StreamEvent }) => boolean,
) {
  const all = streams.flatMap((stream) =>
    stream.frames.flatMap(({ id, data }, index) =>
      id !== undefined && data.type !== 'connected' && index > 1 ? [{ stream, index, event: data as StreamEvent }] : [],
    ),
  );
  return random.pick(all.filter(fits));
}

/** A resumed stream, and the previous stream of its reader. */
export function continued({ streams }: Evidence): { stream: StreamHistory; before: StreamHistory }[] {
  return streams.flatMap((stream, index) => {
    const before = streams.findLast(({ reader }, at) => at < index && reader === stream.reader);
    const isExact = stream.frames[0]?.data.type === 'connected' && stream.frames[0].data.recovered === true;
    return before && isExact && stream.frames.length > 2 ? [{ stream, before }] : [];
  });
}

/** The index of a socket frame that holds an event with that name. */
export function pickSocketEvent(
  { sockets }: Evidence,
  random: Random,
  fits: (at: { name: string; payload: Record<string, unknown>; socket: SocketHistory; index: number }) => boolean,
) {
  const all = sockets.flatMap((socket) =>
    socket.frames.flatMap(({ frame }, index) =>
      frame.type === 'event'
        ? [
            {
              name: frame.event,
              payload: (frame.payload ?? {}) as Record<string, unknown>,
              seq: frame.seq,
              socket,
              index,
            },
          ]
        : [],
    ),
  );
  return random.pick(all.filter(fits));
}

/** Stores the events as if they had always been like this. */
export function renumber(events: Logged[]): void {
  for (const [index, logged] of events.entries()) logged.offset = index + 1;
}

export const isEnded = ({ run }: RunOnDisk): boolean => run.ended_ms !== null;

/** The lines of a call that began and ended. */
export const pickEffect = ({ effects }: Evidence, random: Random, fits: (effect: Effect) => boolean): Effect =>
  random.pick(effects.filter(fits));

export const swap = <T>(list: T[], one: number, other: number): void => {
  const [first, second] = [list[one], list[other]];
  if (first === undefined || second === undefined) throw new Error('there are not two to swap');
  list[one] = second;
  list[other] = first;
};
