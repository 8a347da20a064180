import type { BackgroundCommand } from '../../../protocol/events/background-command.ts';
import type { StreamEvent } from '../../../protocol/stream-events.ts';
import type { BackgroundCommands } from '../../agent/background/background-commands.ts';
import type { BackgroundRecords, StoredCommand } from '../../agent/background/background-store.ts';
import { type Store, tookEffect } from '../store/store.ts';
import type { Watches, WatchRecords } from '../watches/watch-records.ts';
import {
  findCommand,
  insertCommand,
  markAllTold,
  markTold,
  readCommands,
  readUntold,
  readUntoldIds,
  updateCommand,
} from './background-rows.ts';

/** The stored states of background commands, with the events that tell of their changes. */
export interface StoredBackground extends BackgroundRecords {
  /** The latest commands of a workstream, in the order in which they were started. */
  list(wsId: string): Promise<StoredCommand[]>;
  /** The commands that have ended and of whose end the model has not heard. */
  untold(wsId: string): Promise<StoredCommand[]>;
  /** Loads what an earlier daemon left untold. */
  load(): Promise<void>;
  /** Another machine may have left something untold in this workstream. */
  lookAgain(wsId: string): void;
}

/** What goes on between the runs of a daemon: commands in the background, and watches. */
export interface Background {
  commands: BackgroundCommands;
  records: StoredBackground;
  watches: Watches;
}

/**
 * Ends what goes on in a workstream, and waits for it. A cancel is about what runs now; a watch goes on until it is cancelled
 * itself.
 */
export async function endBackgroundIn(
  wsId: string,
  end: 'reset' | 'cancelled' | 'closed',
  {
    commands,
    watches,
  }: { commands: Pick<BackgroundCommands, 'endIn'>; watches: { records: Pick<WatchRecords, 'endIn'> } },
): Promise<void> {
  const watched = end === 'cancelled' ? undefined : watches.records.endIn(wsId, end);
  await Promise.all([commands.endIn(wsId, end), watched]);
}

export function createBackgroundRecords(store: Store): StoredBackground {
  /** The workstreams that may have untold ends, so that most model calls need not look. */
  const untold = new Set<string>();
  return {
    async started(command, process) {
      const { wsId, state } = command;
      await store.commit({
        statements: insertCommand(command, process),
        events: { wsId, events: [toEvent(state)] },
        durable: true, // it has an effect as soon as this is stored
      });
    },
    async changed(command) {
      const { wsId, state, isTold } = command;
      const unit = { statements: [updateCommand(command)], events: { wsId, events: [toEvent(state)] } };
      if (!(await tookEffect(store.commit(unit)))) return;
      if (state.state === 'ended' && !isTold) untold.add(wsId);
    },
    async told(commandId) {
      await store.commit({ statements: markTold([commandId]) });
    },
    async toldAll(wsId) {
      if (untold.delete(wsId)) await store.commit({ statements: [markAllTold(wsId)] });
    },
    find: (wsId, commandId) => findCommand(store, wsId, commandId),
    list: (wsId) => readCommands(store, wsId),
    async untold(wsId) {
      if (!untold.has(wsId)) return [];
      const found = await readUntold(store, wsId);
      if (found.length === 0) untold.delete(wsId);
      return found;
    },
    async load() {
      for (const wsId of await readUntoldIds(store)) untold.add(wsId);
    },
    lookAgain: (wsId) => void untold.add(wsId),
  };
}

const toEvent = (state: BackgroundCommand): StreamEvent => ({ type: 'background_command', ...state });
