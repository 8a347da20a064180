import type { Statement } from '../store/store.ts';
import { Elsewhere } from '../workers/elsewhere.ts';
import { isInUse, type Unloading } from './closing.ts';
import type { Workstream } from './workstream.ts';
import type { WorkstreamData } from './workstream-data.ts';
import type { RegistryDeps } from './workstream-deps.ts';

/** The workstreams that are being unloaded, closed or deleted. Whoever asks for one waits for the end of the work. */
export class Leaving {
  readonly #working = new Map<string, Promise<unknown>>();

  has(wsId: string): boolean {
    return this.#working.has(wsId);
  }

  /** Resolves when the work is over, whether or not it succeeded; undefined if there is none. */
  get(wsId: string): Promise<unknown> | undefined {
    return this.#working.get(wsId);
  }

  /** Holds when neither this nor that work is in progress: in the same turn, because other work could begin in between. */
  async holdAfter<T>(
    wsId: string,
    others: { get(wsId: string): Promise<unknown> | undefined },
    work: () => Promise<T>,
  ): Promise<T> {
    for (;;) {
      const under = [this.get(wsId), others.get(wsId)].filter((each) => each !== undefined);
      if (under.length === 0) return this.hold(wsId, work());
      await Promise.allSettled(under);
    }
  }

  async hold<T>(wsId: string, work: Promise<T>): Promise<T> {
    const over = work.catch(() => undefined); // the caller gets the error
    this.#working.set(wsId, over);
    try {
      return await work;
    } finally {
      if (this.#working.get(wsId) === over) this.#working.delete(wsId);
    }
  }
}

/** How a workstream becomes another machine's. */
export interface Giving {
  /** The machine that gets it; null: the active daemon. */
  to: string | null;
  marks: readonly Statement[];
}

interface Leaver {
  wsId: string;
  giving: Giving;
  unload(open: Workstream): Promise<void>;
}

/** Gives a workstream, loaded or not. False, and nothing happens, if it is not at rest. */
export async function handOver(
  open: Workstream | undefined,
  { wsId, giving: { to, marks }, unload }: Leaver,
  { store, workdirs, background }: Pick<RegistryDeps, 'store' | 'workdirs' | 'background'>,
): Promise<boolean> {
  if (open && isInUse(open, background.commands)) return false;
  store.leaveLog?.(wsId, new Elsewhere(to));
  if (open) await unload(open).finally(() => workdirs.release(wsId));
  else await store.commit({ statements: marks, durable: true });
  return true;
}

/** Stops a workstream that nobody finds any more, and stores by `marks` what becomes of it. */
export async function putAway(
  workstream: Workstream,
  { marks, reason }: { marks: readonly Statement[]; reason: Unloading },
  { store, coordinators }: Pick<RegistryDeps, 'store' | 'coordinators'>,
): Promise<void> {
  await workstream.cancel({ force: false });
  const elsewhere = reason === 'closed' ? coordinators.news.ofClosed(workstream.data) : [];
  await store.commit({ statements: marks, elsewhere, durable: reason === 'moved' });
}

/** Frees what was held for a workstream, and tells that it is no longer loaded. Readers stay unless it was closed. */
export async function afterUnload(
  data: WorkstreamData,
  reason: Unloading,
  { workdirs, background, events, onUnloaded }: Pick<RegistryDeps, 'workdirs' | 'background' | 'events' | 'onUnloaded'>,
): Promise<void> {
  const { wsId } = data;
  await workdirs.release(wsId);
  background.commands.forget(wsId);
  if (reason === 'closed') events.end(wsId);
  else events.release(wsId);
  onUnloaded(data, reason);
}
