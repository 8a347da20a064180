import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { GatewayClient } from '../../../../protocol/client/ws-client.ts';
import { wordsOf } from '../../../../protocol/words-of.ts';
import { systemClock } from '../../../clock.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { findHostTimeZone } from '../../../host-time-zone.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { openClient, resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { shellJob } from '../../terminal/job.ts';
import { createPaint, type Paint, wantsColours } from '../../terminal/paint.ts';
import { enterRawTerminal } from '../../terminal/raw-terminal.ts';
import { toSafeJson } from '../../terminal/safe-text.ts';
import { createLiveScreen } from '../../terminal/screen.ts';
import { readTop, type Top } from '../../watching/read-top.ts';
import { toTopLines } from '../../watching/top-lines.ts';

export interface TopFlags extends TargetFlags {
  once?: boolean | undefined;
  json?: boolean | undefined;
  interval: string;
}

interface TopOptions {
  flags: TopFlags;
  around: Surroundings;
  root: URL;
}

const here = () => ({ nowMs: systemClock.now(), tz: findHostTimeZone() });

/** Shows what the daemon does, until a key ends it; without a terminal, once. */
export async function top({ flags, around, root }: TopOptions): Promise<void> {
  const intervalMs = toInterval(flags.interval);
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const { stdin, stdout } = process;
  const isTerminal = stdin.isTTY && stdout.isTTY && around.environment.TERM !== 'dumb';
  const paint = createPaint(wantsColours('auto', { isTerminal: stdout.isTTY, environment: around.environment }));
  if (flags.json === true || flags.once === true || !isTerminal) {
    const found = await withClient(caller, (client) => readTop(client, systemClock.now()));
    stdout.write(flags.json === true ? `${toSafeJson(found)}\n` : toText(found, paint));
    return;
  }
  const client = await openClient(caller, () => undefined);
  try {
    await watch(client, { paint, intervalMs });
  } finally {
    client.close();
  }
}

function toInterval(seconds: string): number {
  if (!/^\d{1,4}(\.\d+)?$/.test(seconds) || Number(seconds) < 0.5) {
    throw new UsageError(`--interval must be a number of seconds from 0.5, not "${seconds}".`);
  }
  return Number(seconds) * 1_000;
}

const WIDE = { columns: 10_000, maxRows: 10_000 };

/** Everything, because nobody knows how wide the reader is. */
const toText = (found: Top, paint: Paint): string =>
  `${toTopLines(found, { paint, columns: WIDE.columns }, { maxRows: WIDE.maxRows, here: here() }).join('\n')}\n`;

interface WatchDeps {
  paint: Paint;
  intervalMs: number;
}

async function watch(client: GatewayClient, { paint, intervalMs }: WatchDeps): Promise<void> {
  const { stdin, stdout } = process;
  const left = Promise.withResolvers<void>();
  let shown: Top | undefined;
  let trouble: string | undefined;
  let cancel = (): void => undefined;
  const keys = () => paint('dim', `q leaves · every ${intervalMs / 1_000} s`);
  const table = () => {
    const size = { maxRows: screen.rows - 2, here: here() };
    return shown === undefined ? [] : toTopLines(shown, { paint, columns: screen.columns }, size);
  };
  const view = () => ({ lines: [...table(), trouble === undefined ? keys() : paint('yellow', `! ${trouble}`)] });
  const screen = createLiveScreen({ output: stdout, timers: systemTimers, view });
  const refresh = async (): Promise<void> => {
    try {
      shown = await readTop(client, systemClock.now());
      trouble = undefined;
    } catch (error) {
      trouble = wordsOf(error); // the next attempt may succeed: the connection comes back
    }
    screen.invalidate();
    cancel = systemTimers.after(intervalMs, () => void refresh());
  };
  const terminal = enterRawTerminal({
    input: stdin,
    write: (text) => stdout.write(text),
    onKey: (text, { name, ctrl }) => {
      if (text === 'q' || name === 'escape' || (ctrl === true && (name === 'c' || name === 'd'))) left.resolve();
    },
    onPaste: () => undefined,
    stopping: { job: shellJob, onStop: () => screen.clear(), onContinue: () => screen.invalidate() },
  });
  process.once('SIGINT', left.resolve).once('SIGTERM', left.resolve).once('SIGHUP', left.resolve);
  try {
    await refresh();
    await left.promise;
  } finally {
    cancel();
    screen.print(table()); // the last state stays
    screen.close();
    terminal.leave();
  }
}
