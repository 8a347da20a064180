import type { CheckpointFiles } from '../../agent/checkpoints/checkpoint-files.ts';
import type { Clock } from '../../clock.ts';
import type { Ids } from '../../ids.ts';
import type { Log } from '../../log.ts';
import type { CheckpointSettings, LiveSettings } from '../live-settings.ts';
import type { Store } from '../store/store.ts';
import type { Workdirs } from '../workstreams/workdirs.ts';

/** What checkpoints need from outside. */
export interface CheckpointDeps {
  store: Store;
  files: CheckpointFiles;
  workdirs: Workdirs;
  live: Pick<LiveSettings, 'checkpoints'>;
  /** Makes texts of files fit for people and models: known secrets are replaced. */
  clean(text: string): string;
  clock: Clock;
  ids: Ids;
  log: Log;
}

const MB = 1024 * 1024;

/** Folders with more files are no project; their snapshot would take half a minute. */
const MOST_FILES = 50_000;
const MOST_MS = 20_000;

export const limitsOf = ({ maxFileMb, maxTotalMb }: CheckpointSettings) => ({
  maxFileBytes: maxFileMb * MB,
  maxTotalBytes: maxTotalMb * MB,
  maxFiles: MOST_FILES,
  maxMs: MOST_MS,
});
