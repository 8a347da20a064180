import type { Store, Unit } from '../store.ts';

/** The logs that another machine writes now. This daemon may still have work under way that would add to them. */
export interface LeftLogs {
  /** What would add to this log is refused with this error from now on. */
  leave(wsId: string, refusal: Error): void;
  /** This daemon writes these logs again. */
  take(wsIds: readonly string[]): void;
  /** Refuses units that add to a log which this daemon has left. */
  guarding(commit: Store['commit']): Store['commit'];
}

export function createLeftLogs(): LeftLogs {
  const left = new Map<string, Error>();
  const refusalOf = ({ events, elsewhere = [] }: Unit): Error | undefined =>
    [...(events ? [events] : []), ...elsewhere].flatMap(({ wsId }) => left.get(wsId) ?? []).at(0);
  return {
    leave: (wsId, refusal) => void left.set(wsId, refusal),
    take(wsIds) {
      for (const wsId of wsIds) left.delete(wsId);
    },
    guarding: (commit) => (unit) => {
      const refusal = left.size === 0 ? undefined : refusalOf(unit);
      return refusal === undefined ? commit(unit) : Promise.reject(refusal);
    },
  };
}
