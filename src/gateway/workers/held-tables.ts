import type { Log } from '../../log.ts';
import type { Store } from '../store/store.ts';

/** Reads what it holds of some tables again. */
export interface Holder {
  /** Its tables. */
  tables: readonly string[];
  reload(): Promise<unknown>;
}

/** What daemons hold in memory of the tables that others change, too. */
export interface HeldTables {
  /** Calls back when this daemon has changed some of them. */
  onChanged(listener: (tables: readonly string[]) => void): void;
  /** Another daemon has changed these. Undefined: perhaps all. */
  reload(tables?: readonly string[]): void;
}

export function createHeldTables(
  holders: readonly Holder[],
  { store, log }: { store: Pick<Store, 'onTables'>; log: Log },
): HeldTables {
  const held = new Set(holders.flatMap(({ tables }) => tables));
  /** One after the other, so that what was read last holds. */
  let reading = Promise.resolve();
  return {
    onChanged(listener) {
      store.onTables?.((tables) => {
        const changed = [...tables].filter((table) => held.has(table));
        if (changed.length > 0) listener(changed);
      });
    },
    reload(tables) {
      for (const { tables: own, reload } of holders) {
        if (tables && !own.some((table) => tables.includes(table))) continue;
        reading = reading.then(reload).then(
          () => undefined,
          (err: unknown) => log.warn({ err, tables: own }, 'what another daemon has changed could not be read'),
        );
      }
    },
  };
}
