import { GatewayError } from '../../../protocol/errors.ts';
import { StopReason } from '../../agent/stop-reason.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { MAIN } from './session-keys.ts';

/** Why a workstream no longer accepts anything. */
export type Closing = 'close' | 'unload' | 'shutdown';

const WORDS: Record<Closing, string> = {
  close: 'The workstream is being closed',
  unload: 'The workstream was unloaded to make room',
  shutdown: 'Headgate is shutting down',
};

/** The error for a message that arrives too late. */
export const closed = (closing: Closing): GatewayError => (closing === 'unload' ? new Unloaded() : tooLate(closing));

const tooLate = (closing: Closing) => new GatewayError('UNAVAILABLE', WORDS[closing], { retryAfterMs: 2_000 });

/** The workstream was unloaded to make room after the caller found it, and nothing was changed. */
class Unloaded extends GatewayError {
  constructor() {
    super('UNAVAILABLE', WORDS.unload, { retryAfterMs: 2_000 });
  }
}

/** Works with a workstream; again if it was unloaded to make room before the work changed anything. */
export async function whileLoaded<W, T>(find: () => Promise<W>, work: (workstream: W) => Promise<T>): Promise<T> {
  for (;;) {
    const workstream = await find();
    try {
      return await work(workstream);
    } catch (error) {
      if (!(error instanceof Unloaded)) throw error;
    }
  }
}

/** The stop reason for a run that the next start continues. */
export const shuttingDown = () => new StopReason('shutdown', WORDS.shutdown);

/** Why a workstream is no longer loaded: it makes room, another machine has it now, or a person closed or deleted it. */
export type Unloading = 'evicted' | 'moved' | 'closed';

/** The limit of loaded workstreams is reached, and none can be unloaded at the moment. The code and the words are specified. */
export class NoRoom extends GatewayError {
  constructor(maxWorkstreams: number) {
    super('INVALID_REQUEST', `Maximum of ${maxWorkstreams} workstreams reached`, { retryable: true });
  }
}

interface Loaded {
  busy: boolean;
  queue: { length: number };
  data: { wsId: string; sessionKey: string; updatedMs: number };
}

/** Whether something happens or waits in it. Held messages wait although nothing runs, and background commands end with their workstream. */
export const isInUse = ({ busy, queue, data }: Loaded, background: RunningIn): boolean =>
  busy || queue.length > 0 || background.runningIn(data.wsId).length > 0;

interface RunningIn {
  runningIn(wsId: string): readonly unknown[];
}

/**
 * The workstream that can be unloaded at the least cost: nothing happens or waits in it, and it was updated or loaded
 * again the longest time ago. Readers do not keep it, because every open page reads all workstreams.
 */
export function idleLongest<W extends Loaded>(
  workstreams: Iterable<W>,
  {
    reopenedMs,
    background,
    leaving,
  }: {
    reopenedMs: ReadonlyMap<string, number>;
    background: RunningIn;
    /** Those of which a change is under way, such as who sees them. */
    leaving: { has(wsId: string): boolean };
  },
): W | undefined {
  const usedMs = ({ data }: W) => Math.max(data.updatedMs, reopenedMs.get(data.wsId) ?? 0);
  let oldest: W | undefined;
  for (const one of workstreams) {
    const { wsId, sessionKey } = one.data;
    if (leaving.has(wsId) || isInUse(one, background) || sessionKey === MAIN) continue;
    if (!oldest || usedMs(one) < usedMs(oldest)) oldest = one;
  }
  return oldest;
}

interface Crowd<W> {
  /** How many there are too many. */
  excess(): number;
  /** Undefined if none is idle. */
  idlest(): W | undefined;
  /** From then on, it does not count. */
  unload(one: W): Promise<void>;
}

/** So many leave in one transaction. */
const AT_ONCE = 64;

/** Unloads workstreams while there are too many, those that were idle longest first. False if too many are in use. */
export async function thinOut<W>({ excess, idlest, unload }: Crowd<W>): Promise<boolean> {
  while (excess() > 0) {
    const leaving: Promise<void>[] = [];
    while (excess() > 0 && leaving.length < AT_ONCE) {
      const oldest = idlest();
      if (oldest === undefined) break;
      leaving.push(unload(oldest));
    }
    if (leaving.length === 0) return false;
    await Promise.all(leaving);
  }
  return true;
}

const RETRY_MS = 1_000;

/** Before something is tried again. False when the daemon stops meanwhile; a restart then tries again. */
export const pause = ({ clock, stopping }: { clock: Clock; stopping: AbortSignal }): Promise<boolean> =>
  clock.sleep(RETRY_MS, stopping).then(
    () => true,
    () => false, // the daemon is stopping
  );

/**
 * Longer than a command takes to be killed, and shorter than the stop of the whole daemon may take, so that the store is
 * still closed in an orderly way.
 */
const SHUTDOWN_MS = 3_500;

/** Waits for the work of a workstream to stop. After a limit it goes on without: the next start finds an interrupted run. */
export async function stoppedInTime(
  stopped: Promise<unknown>,
  { wsId, clock, log }: { wsId: string; clock: Clock; log: Log },
): Promise<void> {
  const over = new AbortController();
  const late = clock.sleep(SHUTDOWN_MS, over.signal).then(
    () => log.warn({ wsId }, 'a run did not stop in time; the daemon stops without it'),
    () => undefined, // it stopped
  );
  try {
    await Promise.race([stopped, late]);
  } finally {
    over.abort();
  }
}
