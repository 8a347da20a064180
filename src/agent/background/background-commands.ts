import type { BackgroundEnd } from '../../../protocol/events/background-command.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { OutputGuard } from '../guard/output-guard.ts';
import { createBackgroundOutput } from './background-output.ts';
import { BackgroundRun, type NewBackgroundCommand } from './background-run.ts';
import type { BackgroundRecords, StoredCommand } from './background-store.ts';

/** So many may run at the same time. */
export const BACKGROUND_LIMITS = { perWorkstream: 8, inAll: 64 } as const;

/** Commands whose end the model has not read yet keep their output in memory; of one workstream, so many. */
const KEPT_ENDED = 8;

/** The commands that run in the background, and those whose end the model has not read. */
export interface BackgroundCommands {
  /** Resolves when the command is stored and runs, or with why it does not. Rejects if it cannot be stored. */
  start(command: NewBackgroundCommand): Promise<StartedCommand>;
  /** A command of this workstream that runs, or whose output is still in memory. */
  find(wsId: string, commandId: string): BackgroundRun | undefined;
  /** A command of this workstream, also one that ended long ago, or with an earlier daemon. */
  read(wsId: string, commandId: string): Promise<StoredCommand | undefined>;
  /** Those of a workstream, in the order in which they were started. */
  runningIn(wsId: string): BackgroundRun[];
  /** Ends all commands of a workstream. Rejects only for `reset`, if the store cannot be written. */
  endIn(wsId: string, end: BackgroundEnd): Promise<void>;
  /** Notes that the model knows how a command has ended. */
  told(run: BackgroundRun): Promise<void>;
  /** The workstream is no longer loaded. */
  forget(wsId: string): void;
  /** Starts nothing from now on, and ends everything that runs. */
  close(): Promise<void>;
}

export type StartedCommand = { kind: 'started'; run: BackgroundRun } | { kind: 'refused'; reason: string };

interface BackgroundDeps {
  records: BackgroundRecords;
  /** All output passes it before it is shown or stored. */
  guard: Pick<OutputGuard, 'open' | 'clean'>;
  /** The folder of outputs. */
  outputs: string;
  clock: Clock;
  ids: Pick<Ids, 'id'>;
  log: Log;
}

export function createBackgroundCommands(deps: BackgroundDeps): BackgroundCommands {
  const { records, outputs, ids, guard, clock, log } = deps;
  const runs = new Map<string, BackgroundRun>();
  let isClosed = false;

  const running = () => [...runs.values()].filter(({ isRunning }) => isRunning);
  const runningIn = (wsId: string) => running().filter((run) => run.wsId === wsId);

  function whyNot(wsId: string): string | undefined {
    const { perWorkstream, inAll } = BACKGROUND_LIMITS;
    if (isClosed) return 'Headgate is shutting down.';
    const own = runningIn(wsId);
    if (own.length >= perWorkstream) {
      const names = own.map(({ id }) => id).join(', ');
      return `${perWorkstream} background commands run in this conversation, and no more are allowed: ${names}. End one with kill_shell, or wait for one with bash_output.`;
    }
    return running().length >= inAll
      ? `${inAll} background commands run on this machine, and no more are allowed. Try again when some have ended.`
      : undefined;
  }

  /** Those whose end the model has not read for a long time are read from the store. */
  function makeRoom(wsId: string): void {
    const ended = [...runs.values()].filter((run) => run.wsId === wsId && !run.isRunning);
    for (const { id } of ended.slice(0, Math.max(0, ended.length - KEPT_ENDED))) runs.delete(id);
  }

  return {
    async start(command) {
      const { wsId } = command;
      const reason = whyNot(wsId);
      if (reason !== undefined) return { kind: 'refused', reason };
      makeRoom(wsId);
      const id = ids.id('bg');
      const output = createBackgroundOutput({ folder: outputs, name: ids.id('out'), commandId: id });
      const run = new BackgroundRun(id, { command, output }, { records, guard, clock, log });
      runs.set(id, run); // before the first await, because it counts from now on
      const failure = await run.started();
      if (failure === undefined) return { kind: 'started', run };
      if (run.isSettled) runs.delete(id);
      return { kind: 'refused', reason: failure };
    },
    find(wsId, commandId) {
      const run = runs.get(commandId);
      return run?.wsId === wsId ? run : undefined;
    },
    async read(wsId, commandId) {
      const run = runs.get(commandId);
      return run?.wsId === wsId ? run.stored : records.find(wsId, commandId);
    },
    runningIn,
    async endIn(wsId, end) {
      // Also those whose end is not stored yet: the next conversation knows nothing of them.
      if (end === 'reset') for (const run of runs.values()) run.isTold ||= run.wsId === wsId;
      await Promise.all(runningIn(wsId).map((run) => run.stop(end)));
      if (end === 'reset') await records.toldAll(wsId);
    },
    async told(run) {
      run.isTold = true;
      runs.delete(run.id);
      await records.told(run.id);
    },
    forget(wsId) {
      for (const run of runs.values()) if (run.wsId === wsId && !run.isRunning) runs.delete(run.id);
    },
    async close() {
      isClosed = true;
      await Promise.all(running().map((run) => run.stop('shutdown')));
      for (const run of runs.values()) run.abandon();
    },
  };
}
