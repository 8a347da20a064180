import { setTimeout as sleep } from 'node:timers/promises';
import { INSPECTED, openInspector } from '../inspector.ts';
import type { IdleTasks } from '../load/idle.ts';
import { residentBytes } from '../process-costs.ts';
import { type Row, ratio } from '../row.ts';
import type { Server } from '../stage.ts';

/** The growth of resident memory per connection, after garbage collections. */
const connectionRow = (count: number): Row => ({
  name: `memory-${count}`,
  what: `memory per idle connection, at ${count.toLocaleString('en')}`,
  anchor: 'bare ws',
  unit: 'x',
  target: { atMost: 1.6 },
  maxRounds: 3,
  async open(stage) {
    const bytesEach = async (start: () => Promise<Server & { token?: string }>) => {
      const { pid, port, token, stderr } = await start();
      const inspector = await openInspector(stderr());
      const load = stage.load<IdleTasks>('idle');
      const target = { port, ...(token !== undefined && { token }) };
      await load.ask('open', { ...target, count: 200 }); // code loaded by the first connections does not count
      await load.ask('close', undefined);
      const settled = async () => {
        await sleep(stage.quick ? 500 : 1_500);
        await inspector.collectGarbage();
        return residentBytes(pid);
      };
      const before = await settled();
      await load.ask('open', { ...target, count });
      const after = await settled();
      await load.ask('close', undefined);
      inspector.close();
      return (after - before) / count;
    };
    return async () =>
      ratio({
        product: await bytesEach(() => stage.product({ env: { HEADGATE_MODEL: 'demo', ...INSPECTED } })),
        anchor: await bytesEach(() => stage.anchor('echo', INSPECTED)),
      });
  },
});

export const connectionRows = [connectionRow(1_000), connectionRow(5_000)];
