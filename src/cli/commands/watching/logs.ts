import { systemTimers } from '../../../../protocol/client/timers.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import type { LogLevel } from '../../../log.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { openClient, resolveTarget, type TargetFlags } from '../../connect.ts';
import { createPaint, wantsColours } from '../../terminal/paint.ts';
import { untilAnswered } from '../../until-answered.ts';
import { followLog } from '../../watching/follow-log.ts';
import { isAtLeast, toLogLine } from '../../watching/log-lines.ts';

export interface LogsFlags extends TargetFlags {
  follow?: boolean | undefined;
  lines: string;
  level: LogLevel;
  json?: boolean | undefined;
}

interface LogsOptions {
  flags: LogsFlags;
  around: Surroundings;
  root: URL;
}

const ALL = { limit: 5_000, maxBytes: 1_000_000 };

/** Prints the newest lines of the daemon's log and, with `--follow`, those that come. */
export async function logs({ flags, around, root }: LogsOptions): Promise<void> {
  const most = toCount(flags.lines);
  const caller = { target: await resolveTarget(flags, around), version: await readVersion(root) };
  const { stdout } = process;
  const paint = createPaint(wantsColours('auto', { isTerminal: stdout.isTTY, environment: around.environment }));
  const choose = (lines: readonly string[]) => lines.filter((line) => isAtLeast(line, flags.level));
  const print = (lines: readonly string[]) => {
    const shown = flags.json === true ? lines : lines.map((line) => toLogLine(line, paint));
    if (shown.length > 0) stdout.write(`${shown.join('\n')}\n`);
  };
  const client = await openClient(caller, () => undefined);
  try {
    const first = await client.call('logs.tail', ALL);
    print(most === 0 ? [] : choose(first.lines).slice(-most));
    if (flags.follow !== true) return;
    await followLog(first.cursor, {
      timers: systemTimers,
      read: (cursor) => untilAnswered(() => client.call('logs.tail', { ...ALL, cursor })),
      print: (lines) => print(choose(lines)),
      tell: (line) => void process.stderr.write(`headgate: ${line}\n`),
    });
  } finally {
    client.close();
  }
}

function toCount(lines: string): number {
  if (!/^\d{1,4}$/.test(lines) || Number(lines) > ALL.limit) {
    throw new UsageError(`--lines must be a number from 0 to ${ALL.limit}, not "${lines}".`);
  }
  return Number(lines);
}
