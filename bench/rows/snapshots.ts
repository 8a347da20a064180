import type { SnapshotTasks } from '../load/snapshots.ts';
import { type Row, ratio } from '../row.ts';

export const snapshotRow: Row = {
  name: 'snapshot',
  what: 'the first snapshot of a folder with 1,000 files (5.6 MB), before a run changes something in it',
  anchor: 'copying the folder',
  unit: 'x',
  target: { atMost: 2 },
  beside: [
    { figure: 'product', label: 'it takes', unit: 'ms', target: { atMost: 1_000 } },
    { figure: 'unchangedMs', label: 'another one when nothing has changed', unit: 'ms', target: { atMost: 150 } },
    { figure: 'changedMs', label: 'when five files have changed', unit: 'ms', target: { atMost: 300 } },
  ],
  async open(stage) {
    const load = stage.load<SnapshotTasks>('snapshots');
    const folder = await stage.folder();
    const files = stage.quick ? 100 : 1_000;
    return async () => {
      const { firstMs, unchangedMs, changedMs, copyMs } = await load.ask('snapshots', { folder, files });
      return ratio({ product: firstMs, anchor: copyMs }, { unchangedMs, changedMs });
    };
  },
};
