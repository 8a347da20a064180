import type { Result } from '../../../../protocol/index.ts';
import { keepAwake, systemClock } from '../../../clock.ts';
import { type DaemonFile, readDaemonFile } from '../../../home/daemon-file.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { hasCode } from '../../../home/private-file.ts';
import { StartError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { resolveTarget, type TargetFlags, withClient } from '../../connect.ts';
import { toSafeText } from '../../terminal/safe-text.ts';
import { requireActive } from '../cluster/standby-at.ts';

export interface RestartFlags extends TargetFlags {
  check?: boolean;
  json?: boolean;
}

interface RestartCommand {
  flags: RestartFlags;
  around: Surroundings;
  root: URL;
}

/** Longer than the daemon waits for the checks of the new process. */
const CHECK_MS = 90_000;

type Restart = Result<'daemon.restart'>;

/** Lets the installed program take over from the running daemon, and waits until it serves. */
export async function restart({ flags, around, root }: RestartCommand): Promise<void> {
  using _ = keepAwake();
  const check = flags.check === true;
  const target = await resolveTarget(flags, around);
  const { home, url } = target;
  await requireActive(url);
  const caller = { target, version: await readVersion(root) };
  const { found, before } = await withClient(caller, async (client) => ({
    // Once it answers, so that the file is the one of this daemon.
    before: home === undefined ? undefined : await readDaemonFile(home),
    found: await client.call('daemon.restart', check ? { check } : {}, { timeoutMs: CHECK_MS }),
  }));
  const isWatched = !check && home !== undefined;
  if (isWatched) await untilServing({ home, before, found });
  const lines = check ? toPlan(found) : isWatched ? toOutcome(found) : [`Headgate ${versionOf(found)} is taking over.`];
  process.stdout.write(`${flags.json ? JSON.stringify(found, null, 2) : lines.join('\n')}\n`);
}

const versionOf = ({ version }: Restart): string => toSafeText(version);

const toPlan = (found: Restart): string[] => [
  `Headgate ${versionOf(found)} can take over. Nothing was changed.`,
  ...(found.migration === null
    ? []
    : [
        `It would migrate the database from version ${found.migration.from} of the tables to ${found.migration.to}; afterwards ${toWayBack(found.migration)}. Make a backup before: headgate backup`,
      ]),
];

const toOutcome = (found: Restart): string[] => [
  `Headgate ${versionOf(found)} runs in its place (pid ${found.pid}).`,
  ...(found.migration === null
    ? []
    : [
        `It migrated the database from version ${found.migration.from} of the tables to ${found.migration.to}; ${toWayBack(found.migration)}.`,
      ]),
];

const toWayBack = ({ from, usableFrom }: NonNullable<Restart['migration']>): string =>
  usableFrom > from ? 'an older Headgate cannot use it any more' : 'the former version can still use it';

interface Waited {
  home: string;
  /** What the file said before. */
  before: DaemonFile | undefined;
  found: Restart;
}

const PAUSE_MS = 50;

/** Waits as long as one of the two processes runs: a migration can take minutes. Throws StartError if the new one failed. */
async function untilServing({ home, before, found }: Waited): Promise<void> {
  const { signal } = new AbortController();
  for (;;) {
    const now = await readDaemonFile(home);
    if (now?.pid === found.pid) return;
    if (now?.failure !== undefined && now.startedAt !== before?.startedAt)
      throw new StartError(`The daemon runs, but the new program did not take over: ${now.failure}`);
    if (isGone(found.pid) && (now === undefined || isGone(now.pid)))
      throw new StartError('The daemon and the new program have ended. The log has the reason.');
    await systemClock.sleep(PAUSE_MS, signal);
  }
}

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return hasCode(error, 'ESRCH');
  }
}
