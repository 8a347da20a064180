import { systemClock } from '../../../clock.ts';
import { type CopyProgress, type MigratedStore, migrateStore } from '../../../daemon/store/migrate-store.ts';
import { resolveHome, type Surroundings } from '../../../home/home-path.ts';
import { untilSignal } from './until-signal.ts';

export interface MigrateFlags {
  from: string;
  to: string;
  home?: string;
  json?: boolean;
}

/** Copies the store of a stopped daemon from one kind of database to the other. */
export async function migrate({ from, to, json, ...flags }: MigrateFlags, around: Surroundings): Promise<void> {
  const home = resolveHome(flags, around);
  const progress = createProgress();
  const startedMs = systemClock.now();
  const migrated = await untilSignal((signal) =>
    migrateStore({
      home,
      from,
      to,
      signal,
      environment: around.environment,
      clock: systemClock,
      onProgress: progress.show,
    }),
  ).finally(progress.end);
  const tookMs = systemClock.now() - startedMs;
  const text = json ? JSON.stringify(toJson(migrated, tookMs), null, 2) : toLines(migrated, tookMs).join('\n');
  process.stdout.write(`${text}\n`);
}

const rowsOf = ({ tables }: MigratedStore): number => tables.reduce((sum, { rows }) => sum + rows, 0);

const toJson = (migrated: MigratedStore, tookMs: number) => ({
  from: migrated.from,
  to: migrated.to,
  continued: migrated.isContinued,
  rows: rowsOf(migrated),
  damagedRows: migrated.damaged,
  tables: migrated.tables,
  files: migrated.files,
  tookMs,
});

function toLines(migrated: MigratedStore, tookMs: number): string[] {
  const { from, to, tables, damaged, wasComplete, files } = migrated;
  const filled = tables.filter(({ rows }) => rows > 0).length;
  return [
    wasComplete
      ? `The copy of ${from} in ${to} was already complete.`
      : `Copied ${from} to ${to}: ${numbered(rowsOf(migrated))} rows of ${filled} tables in ${(tookMs / 1000).toFixed(1)} s. The digests of all tables are equal.`,
    ...(files.files > 0
      ? [
          `Copied ${numbered(files.files)} files (${numbered(Math.ceil(files.bytes / 1_048_576))} MiB), and compared each of them.`,
        ]
      : []),
    ...(files.missing > 0
      ? [`${numbered(files.missing)} files were gone or damaged before, and are not in the copy.`]
      : []),
    ...(damaged > 0 ? [`${damaged} events were damaged before and are in the copy as damaged.`] : []),
    ...toNext(migrated),
  ];
}

/** The daemon must use the same home, because the key of the secrets and the snapshots are files there. */
function toNext({ from, to }: MigratedStore): string[] {
  const toFile = !isAddress(to);
  return [
    toFile
      ? 'Next: remove store.url from config.json (and HEADGATE_STORE_URL), and start the daemon with this home.'
      : 'Next: set store.url in config.json (or HEADGATE_STORE_URL), and start the daemon with the same home, which keeps the key of the secrets and the snapshots for undo.',
    `${from} stays as it is. If a daemon uses it again, its clients reload.`,
  ];
}

const isAddress = (place: string): boolean => /^postgres(?:ql)?:/.test(place);

const numbered = (count: number): string => count.toLocaleString('en-US');

/** One line on the terminal that is written over, or a line per phase elsewhere. */
function createProgress(): { show(progress: CopyProgress): void; end(): void } {
  const { stderr } = process;
  let phase: CopyProgress['phase'] | undefined;
  let shownMs = 0;
  return {
    show(progress) {
      if (stderr.isTTY) {
        if (progress.phase === phase && systemClock.now() - shownMs < SHOWN_MS) return;
        shownMs = systemClock.now();
        stderr.write(`\r\x1b[K${toLine(progress)}`);
      } else if (progress.phase !== phase) {
        stderr.write(`${WORDS[progress.phase]} ${numbered(progress.total)} ${unitOf(progress)}\n`);
      }
      phase = progress.phase;
    },
    end() {
      if (stderr.isTTY && phase !== undefined) stderr.write('\r\x1b[K');
    },
  };
}

const SHOWN_MS = 100;
const WORDS = { copying: 'Copying', verifying: 'Verifying', files: 'Copying' } as const;

const unitOf = ({ phase }: CopyProgress): string => (phase === 'files' ? 'files' : 'rows');

function toLine(progress: CopyProgress): string {
  const { phase, table, rows, total } = progress;
  const percent = total === 0 ? 100 : Math.floor((100 * rows) / total);
  return `${WORDS[phase]} ${table}: ${numbered(rows)} of ${numbered(total)} ${unitOf(progress)} (${percent} %)`;
}
