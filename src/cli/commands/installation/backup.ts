import path from 'node:path';
import { toVisibleLine } from '../../../../protocol/text/visible-text.ts';
import { systemClock } from '../../../clock.ts';
import { type Backup, checkBackup, type Manifest, makeBackup, restoreBackup } from '../../../daemon/backup/backup.ts';
import { resolveHome, type Surroundings } from '../../../home/home-path.ts';
import { readVersion } from '../../../version.ts';
import { untilSignal } from '../store/until-signal.ts';

export interface BackupFlags {
  home?: string;
  json?: boolean;
}

export type RestoreFlags = BackupFlags & { check?: boolean };

interface BackupCommand {
  flags: BackupFlags;
  around: Surroundings;
  root: URL;
}

/** Writes a backup of a home into one archive. */
export async function backup(target: string | undefined, { flags, around, root }: BackupCommand): Promise<void> {
  const home = resolveHome(flags, around);
  const version = await readVersion(root);
  const made = await untilSignal((signal) =>
    makeBackup({
      home,
      environment: around.environment,
      target: target === undefined ? undefined : path.resolve(around.cwd, target),
      version,
      nowMs: systemClock.now(),
      signal,
    }),
  );
  print(made, flags, () => [
    `Backed up ${home} to ${made.file}: ${countOf(made.files)}, ${toSize(made.bytes)}`,
    `SHA-256 ${made.sha256}`,
    ...toWarnings(made),
  ]);
}

function toWarnings({ machineKey, leftOut }: Backup): string[] {
  const links = leftOut.map(
    (name) =>
      `Not in it: ${toVisibleLine(name)}, which is neither a file nor a folder, or whose name is reserved or not UTF-8.`,
  );
  if (machineKey !== null && !machineKey.included) return [...links, toKeyHint(machineKey.id)];
  return ['It holds the operator token and the key of all secrets. Keep it as safe as the home folder.', ...links];
}

const toKeyHint = (id: string): string =>
  `Its secrets are encrypted with the key ${id}, which is not in the home folder (a credential of systemd). Keep that key, too.`;

/** Puts a backup in the place of a home, or with `--check` only verifies it. */
export async function restore(
  name: string,
  { flags, around }: { flags: RestoreFlags; around: Surroundings },
): Promise<void> {
  const archive = path.resolve(around.cwd, name);
  if (flags.check) {
    const manifest = await untilSignal((signal) => checkBackup({ archive, signal }));
    print({ manifest }, flags, () => [`${archive} is intact: ${describe(manifest)}`, ...toKeyNeed(manifest)]);
    return;
  }
  const home = resolveHome(flags, around);
  const { manifest, aside } = await untilSignal((signal) =>
    restoreBackup({ archive, home, nowMs: systemClock.now(), signal }),
  );
  print({ manifest, home, aside: aside ?? null }, flags, () => [
    `Restored ${home}: ${describe(manifest)}`,
    ...(aside === undefined ? [] : [`The files before it are in ${aside}. Delete that folder when you are satisfied.`]),
    ...toKeyNeed(manifest),
  ]);
}

const describe = ({ createdAt, version, files }: Manifest): string =>
  `${countOf(files.length)} of ${createdAt}, by Headgate ${toVisibleLine(version)}`;

const toKeyNeed = ({ machineKey }: Manifest): string[] =>
  machineKey === null || machineKey.included ? [] : [toKeyHint(toVisibleLine(machineKey.id))];

const countOf = (files: number): string => (files === 1 ? '1 file' : `${files} files`);

const toSize = (bytes: number): string =>
  bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;

function print(value: object, { json }: BackupFlags, toLines: () => string[]): void {
  process.stdout.write(`${json ? JSON.stringify(value, null, 2) : toLines().join('\n')}\n`);
}
