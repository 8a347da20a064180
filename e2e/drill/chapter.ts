import { systemClock } from '../../src/clock.ts';
import type { Disk } from '../checker/evidence.ts';
import type { Random } from '../checker/random.ts';
import type { Recorder } from '../checker/recording/recorder.ts';
import { endlessCommands } from '../checker/rules/uses.ts';
import type { DiskReader } from '../checker/stored.ts';
import { offsetOf } from '../checker/views.ts';
import type { DaemonUnderTest } from '../support/daemon/daemon.ts';
import { pause } from '../support/deadline.ts';
import { type Actor, createActor } from './actor.ts';
import { createSocketReader, createStreamReader, type Reader, type ReaderParts } from './readers.ts';

const WORKSTREAMS = 8;
/** How many of them are coordinators. */
const LEADS = 2;

/** A pause before a client connects again. */
const RECONNECT_MS = 60;

interface ChapterParts {
  /** The prefix of its reader names and numbers. */
  name: string;
  daemon: Pick<DaemonUnderTest, 'post'>;
  recorder: Recorder;
  stored: DiskReader;
  onCut(): void;
  /** There are several daemons: fewer workstreams, whose clients connect again within a round, until they are cut off. */
  isCluster?: boolean;
  /** The id of the machine that gets a workstream; default: the daemon chooses. */
  machineFor?(index: number): string | undefined;
}

/** New workstreams with their actors and readers. */
export async function openChapter({ name, daemon, recorder, stored, onCut, isCluster, machineFor }: ChapterParts) {
  const [most, leading] = isCluster ? [WORKSTREAMS / 2, LEADS / 2] : [WORKSTREAMS, LEADS];
  const created = await Promise.all(
    Array.from({ length: most }, (_, index) =>
      daemon.post('/v1/api/route/workstreams/new', {
        ...(index < leading && { kind: 'coordinator' }),
        target_node: machineFor?.(index),
      }),
    ),
  );
  const wsIds = created.map(({ body }) => String(body.ws_id));
  let last = 0;
  const next = () => `${name}-${++last}`;
  const leads = wsIds.slice(0, leading);
  const actors = wsIds.map((wsId) =>
    createActor({ wsId, recorder, next, isLead: leads.includes(wsId), forgetsKeys: isCluster }),
  );
  const partsOf = (reader: string): ReaderParts => ({ name: `${name} ${reader}`, recorder, onCut });
  const readers = [
    ...wsIds.flatMap((wsId, index) => [
      { wsIds: [wsId], reader: createStreamReader(partsOf(`stream ${index}a`), wsId) },
      { wsIds: [wsId], reader: createStreamReader(partsOf(`stream ${index}b`), wsId) },
      { wsIds: [wsId], reader: createSocketReader(partsOf(`socket ${index}`), [wsId]) },
    ]),
    { wsIds: wsIds.slice(0, 3), reader: createSocketReader(partsOf('socket of three'), wsIds.slice(0, 3)) },
    { wsIds, reader: createSocketReader(partsOf('socket of all'), wsIds) },
  ];

  /** The workstreams with those that work for them. */
  const withChildren = async () => [...wsIds, ...(await stored.children(leads))];

  return {
    wsIds,
    /** The machines that have them, by the answers. */
    nodeIds: created.map(({ body }) => String(body.node_id)),
    withChildren,
    next,
    /** Resolves after the daemon has died, or after `leave`. */
    async act(random: Random, signal: AbortSignal): Promise<void> {
      await Promise.all([
        ...actors.map((actor, index) =>
          isCluster
            ? actOn(actor, random.fork(`actor ${index}`), signal)
            : actor.act(random.fork(`actor ${index}`), signal),
        ),
        ...readers.map(({ reader }, index) => reader.read(random.fork(`reader ${index}`), signal)),
      ]);
    },
    /** Ends all runs, and waits until all readers have received the end. */
    async settle(random: Random): Promise<void> {
      for (const { reader } of readers) reader.stay();
      for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt += 1) {
        const finishing = actors.map((actor, index) => actor.finish(random.fork(`actor ${index} ${attempt}`)));
        if (isCluster)
          await Promise.allSettled(finishing); // another attempt follows a connection that was lost
        else await Promise.all(finishing);
        if (isAtRest(await stored.read(await withChildren()))) break; // otherwise, the result of a watch has begun another run, its poll is being stopped, or the end of a command is stored later
      }
      await heardAll(stored, readers);
    },
    leave(): void {
      for (const actor of actors) actor.close();
      for (const { reader } of readers) reader.close();
    },
  };
}

/** One connection after the other. */
async function actOn(actor: Actor, random: Random, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await actor.act(random, signal);
    await systemClock.sleep(random.int(5, RECONNECT_MS), signal).catch(() => undefined);
  }
}

const MOST_ATTEMPTS = 10;

const isAtRest = ({ workstreams }: Disk): boolean =>
  workstreams.every(
    ({ runs, watches, events }) =>
      runs.every(({ run }) => run.ended_ms !== null) &&
      endlessCommands({ events }).length === 0 &&
      watches.every(
        ({ active, is_polling: polls, result_json: waiting }) => active === 0 && polls === 0 && waiting === null,
      ),
  );

const PATIENCE_MS = 30_000;

/** Waits until every reader has reached the end of the log. The checker reports a reader that never does. */
async function heardAll(stored: DiskReader, readers: { wsIds: string[]; reader: Reader }[]): Promise<void> {
  const disk = await stored.read();
  const ends = new Map(disk.workstreams.map(({ wsId, events }) => [wsId, events.at(-1)?.offset ?? 0]));
  const isBehind = ({ wsIds, reader }: { wsIds: string[]; reader: Reader }) =>
    wsIds.some((wsId) => offsetOf(reader.placeIn(wsId)) < (ends.get(wsId) ?? 0));
  for (let waitedMs = 0; waitedMs < PATIENCE_MS && readers.some(isBehind); waitedMs += 20) await pause(20);
}
