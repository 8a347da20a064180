import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemClock } from '../../clock.ts';
import { tempDir } from '../../testing/temp-store.ts';
import { type CheckpointWork, createCheckpointWorker } from './checkpoint-work.ts';

type Choices = Partial<Pick<CheckpointWork['plan']['request'], 'choices' | 'others'>>;

/** A folder with files, and the snapshots of it. */
export function checkpointFixture(limits: { maxFileBytes?: number; maxTotalBytes?: number; maxFiles?: number } = {}) {
  const dir = tempDir();
  const root = join(dir.path, 'work');
  const folder = join(dir.path, 'home', 'checkpoints');
  mkdirSync(root);
  const open = () => createCheckpointWorker({ folder, home: join(dir.path, 'home'), now: systemClock.now });
  let worker = open();
  const all = { maxFileBytes: 1_000_000, maxTotalBytes: 10_000_000, maxFiles: 1_000, maxMs: 60_000, ...limits };
  const roots = [{ path: root, way: root }];
  const at = (path: string) => join(root, path);
  return {
    root,
    folder,
    at,
    write(path: string, text: string | Buffer) {
      mkdirSync(join(at(path), '..'), { recursive: true });
      writeFileSync(at(path), text);
    },
    read: (path: string) => (existsSync(at(path)) ? readFileSync(at(path), 'utf8') : undefined),
    snap(base?: string): string {
      const [taken] = worker.snapshot({ wsId: 'ws', roots, limits: all, bases: [base] });
      return taken?.kind === 'taken' ? taken.tree : assert.fail(JSON.stringify(taken));
    },
    attempt: () => worker.snapshot({ wsId: 'ws', roots, limits: all })[0],
    plan(from: string, to: string, { choices = [], others = 'refuse' }: Choices = {}) {
      const steps = [{ from: [from], to: [to] }];
      return worker.plan({ wsId: 'ws', roots, steps, choices, others, maxFileBytes: all.maxFileBytes });
    },
    /** Goes from one snapshot to another; returns the plan and what was not possible. */
    change(from: string, to: string, how: Choices = {}) {
      const plan = this.plan(from, to, how);
      const { changes } = plan;
      return { plan, failed: worker.apply({ wsId: 'ws', roots, changes, id: 'c1', maxFileBytes: all.maxFileBytes }) };
    },
    worker: () => worker,
    reopen() {
      worker = open();
    },
    [Symbol.dispose]: () => dir[Symbol.dispose](),
  };
}

/** The paths that a plan changes. */
export const changedIn = ({ plan }: { plan: { changes: { shown: string }[] } }) =>
  plan.changes.map(({ shown }) => shown);
