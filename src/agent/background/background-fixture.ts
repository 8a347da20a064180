import { systemClock } from '../../clock.ts';
import { randomIds } from '../../ids.ts';
import { recordingLog } from '../../testing/temp-store.ts';
import { testGuard } from '../guard/guard-fixture.ts';
import { createBackgroundCommands } from './background-commands.ts';
import type { BackgroundRecords, StoredCommand } from './background-store.ts';

/** Background commands whose states are kept in memory, each as it was told. */
export function backgroundFixture(outputs: string, replace: Partial<BackgroundRecords> = {}) {
  const told: StoredCommand[] = [];
  const records: BackgroundRecords = {
    started: async (command) => void told.push(command),
    changed: async (command) => void told.push(command),
    told: async () => undefined,
    toldAll: async () => undefined,
    find: async (wsId, id) => told.findLast((one) => one.wsId === wsId && one.state.command_id === id),
    ...replace,
  };
  const background = createBackgroundCommands({
    records,
    guard: testGuard(),
    outputs,
    clock: systemClock,
    ids: randomIds,
    log: recordingLog(),
  });
  return { background, told };
}
