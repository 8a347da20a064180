import { parseArgs } from 'node:util';
import { start } from '../../../src/daemon/start.ts';

/** The daemon as `headgate start` with `--port` and `--home` runs it, with some parts replaced. */
export async function startWith(replace: NonNullable<Parameters<typeof start>[0]['replace']>): Promise<void> {
  const { values: flags } = parseArgs({
    allowPositionals: true, // the command's name
    options: { port: { type: 'string' }, home: { type: 'string' } },
  });
  const around = { environment: process.env, userHome: process.env.HOME ?? '/', cwd: process.cwd() };
  const root = new URL('../../../', import.meta.url);
  await start({ flags, around, root, keepCode: () => undefined, replace });
}
