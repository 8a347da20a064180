import { randomUUID } from 'node:crypto';
import path from 'node:path';
import type { AppendTasks } from '../load/appends.ts';
import { type Row, ratio } from '../row.ts';

export const appendRow: Row = {
  name: 'append',
  what: 'durable append of events by 16 writers that wait for their commits',
  anchor: 'bare SQLite, a transaction per row',
  unit: 'x',
  async open(stage) {
    const folder = await stage.folder();
    const newFile = () => path.join(folder, `${randomUUID()}.db`);
    const [ours, theirs] = [stage.load<AppendTasks>('appends'), stage.load<AppendTasks>('appends')];
    const rows = stage.quick ? 5_000 : 60_000;
    const perSecond = ({ cpuMs }: { cpuMs: number }) => (rows * 1000) / cpuMs;
    return async () => {
      const stored = await ours.ask('store', { path: newFile(), rows, writers: 16 });
      const one = await ours.ask('store', { path: newFile(), rows, writers: 1 });
      const bare = await theirs.ask('bare', { path: newFile(), rows });
      const compared = ratio({ product: perSecond(stored), anchor: perSecond(bare) });
      return { ...compared, figures: { ...compared.figures, productOneWriter: perSecond(one) } };
    };
  },
};

export const appendChecksumRow: Row = {
  name: 'append-checksum',
  what: 'processor time of the checksums of appended events',
  anchor: 'appending them',
  unit: 'x',
  target: { atMost: 0.05 },
  async open(stage) {
    const folder = await stage.folder();
    const load = stage.load<AppendTasks>('appends');
    const rows = stage.quick ? 5_000 : 60_000;
    return async () => {
      const { cpuMs: anchor } = await load.ask('store', {
        path: path.join(folder, `${randomUUID()}.db`),
        rows,
        writers: 16,
      });
      const { cpuMs: product } = await load.ask('checksums', { rows, writers: 16 });
      return ratio({ product, anchor });
    };
  },
};

/** Bytes are counted, not time, so one round is like the others. */
const writtenRow = (streams: number): Row => ({
  name: `written-${streams}`,
  what: `bytes written per character of ${streams === 1 ? 'an answer' : `${streams} answers`} streamed in pieces of 4 characters`,
  anchor: 'bare SQLite, a row per piece',
  unit: 'x',
  target: { atMost: streams === 1 ? 0.55 : 0.25 },
  maxRounds: 1,
  async open(stage) {
    const folder = await stage.folder();
    const load = stage.load<AppendTasks>('appends');
    return async () => {
      const streamed = { streams, pieces: stage.quick ? 200 : 2_000 };
      const newFile = () => path.join(folder, `${randomUUID()}.db`);
      return ratio({
        product: await load.ask('streamed', { ...streamed, path: newFile() }),
        anchor: await load.ask('streamedBare', { ...streamed, path: newFile() }),
      });
    };
  },
});

export const writtenRows = [writtenRow(1), writtenRow(20)];
