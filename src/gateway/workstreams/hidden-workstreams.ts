import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../log.ts';
import { DELETED, markDeleted, removeRows } from '../store/deletion.ts';
import type { WorkstreamTable } from '../store/schema/schema.ts';
import { build, statementOf } from '../store/statements.ts';
import { type Statement, type Store, tookEffect } from '../store/store.ts';
import { insertWorkstream } from './workstream-rows.ts';

interface HiddenDeps {
  store: Pick<Store, 'db' | 'commit' | 'machine'>;
  log: Log;
}

/**
 * Stores workstreams with many messages in several units, so that other work can run in between. Until the last unit
 * such a workstream looks like a deleted one: nobody can find it, and after a crash the next sweep removes its rows.
 */
export class HiddenWorkstreams {
  readonly #deps: HiddenDeps;
  readonly #making = new Set<string>();

  constructor(deps: HiddenDeps) {
    this.#deps = deps;
  }

  /** Whether its rows are being stored, so that a sweep must not remove them. */
  has(wsId: string): boolean {
    return this.#making.has(wsId);
  }

  /**
   * Stores the row and each batch in a unit of its own; the batches also count the messages, or `finish` does. It commits
   * the last unit, with the statement that makes the workstream visible. Removes everything if one of them fails.
   */
  async make<T>(
    row: WorkstreamTable,
    batches: Iterable<Statement[]>,
    finish: (reveal: Statement) => Promise<T>,
  ): Promise<T> {
    const { store } = this.#deps;
    this.#making.add(row.ws_id);
    try {
      await store.commit({
        statements: [insertWorkstream({ ...row, machine: store.machine, loaded: DELETED, message_count: 0 })],
      });
      for (const statements of batches) {
        await store.commit({ statements });
        await nextTurn();
      }
      return await finish(reveal(row));
    } catch (error) {
      await this.#remove(row.ws_id);
      throw error;
    } finally {
      this.#making.delete(row.ws_id);
    }
  }

  /** If it fails, the next sweep removes the rows. */
  async #remove(wsId: string): Promise<void> {
    const { store, log } = this.#deps;
    try {
      await tookEffect(store.commit({ statements: [markDeleted(wsId)] })); // if only the answer of the last unit was lost
      await removeRows(store, wsId);
    } catch (err) {
      log.warn({ err, wsId }, 'an unfinished copy of a conversation could not be removed; the next sweep removes it');
    }
  }
}

const reveal = ({ ws_id, loaded }: WorkstreamTable): Statement =>
  statementOf(
    build.updateTable('workstreams').set({ loaded }).where('ws_id', '=', ws_id).where('loaded', '=', DELETED),
    1,
  );
