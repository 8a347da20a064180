import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createCheckpointWorker } from '../../src/agent/checkpoints/checkpoint-work.ts';
import { systemClock } from '../../src/clock.ts';
import { serveTasks } from '../task-process.ts';

/** What each snapshot of a folder takes, in milliseconds. */
interface SnapshotTimes {
  firstMs: number;
  unchangedMs: number;
  changedMs: number;
  /** Copying the folder. */
  copyMs: number;
}

const LIMITS = { maxFileBytes: 10_000_000, maxTotalBytes: 512_000_000, maxFiles: 50_000, maxMs: 60_000 };
const CHANGED = 5;

/** Text that is as compressible as source files, and not the same in any two files. */
const textOf = (file: number): string =>
  Array.from(
    { length: 150 },
    (_, line) => `const value_${file}_${line} = compute(${(file * 7919 + line * 104729) % 99991});`,
  ).join('\n');

const nameOf = (file: number): string => `folder-${file % 50}/file-${file}.ts`;

const tasks = {
  /** Fills a folder with files, and takes its snapshots with an empty store, as a thread of the daemon does. */
  async snapshots({ folder, files }: { folder: string; files: number }): Promise<SnapshotTimes> {
    rmSync(folder, { recursive: true, force: true });
    const work = path.join(folder, 'work');
    const write = (file: number, text: string) => writeFileSync(path.join(work, nameOf(file)), text);
    for (let file = 0; file < files; file += 1) {
      mkdirSync(path.join(work, path.dirname(nameOf(file))), { recursive: true });
      write(file, textOf(file));
    }
    const home = path.join(folder, 'home');
    const worker = createCheckpointWorker({ folder: path.join(home, 'checkpoints'), home, now: systemClock.now });
    let base: string | undefined;
    const snap = () => {
      const [taken] = worker.snapshot({
        wsId: 'ws',
        roots: [{ path: work, way: work }],
        limits: LIMITS,
        bases: [base],
      });
      if (taken?.kind !== 'taken') throw new Error(`no snapshot: ${JSON.stringify(taken)}`);
      base = taken.tree;
    };
    const firstMs = msOf(snap);
    const unchangedMs = msOf(snap);
    for (let file = 0; file < CHANGED; file += 1) write(file, `${textOf(file)}\n// changed`);
    const changedMs = msOf(snap);
    const copyMs = msOf(() => cpSync(work, path.join(folder, 'copy'), { recursive: true }));
    return { firstMs, unchangedMs, changedMs, copyMs };
  },
};

export type SnapshotTasks = typeof tasks;

function msOf(work: () => void): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

serveTasks(tasks);
