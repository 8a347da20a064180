import { GatewayError } from '../../../protocol/errors.ts';
import type { Result } from '../../../protocol/index.ts';
import type { ConfigIssue, configContracts } from '../../../protocol/methods/config.ts';
import type { Scheduler } from '../../cron/scheduler.ts';
import type { Call, Handlers } from '../call.ts';
import type { Overrides } from '../configuration/setting-rows.ts';
import type { Store } from '../store/store.ts';
import type { Workstreams } from '../workstreams/workstreams.ts';

/** The configuration file, as clients may see and change it. */
export interface ConfigFile {
  read(): Promise<Result<'config.get'>>;
  /** Writes the text as given. Throws INVALID_REQUEST with the issues, CONFLICT when the base is outdated. */
  write(raw: string, baseHash: string | undefined): Promise<ConfigChange>;
  /** Merges a patch into the file. */
  patch(raw: string, baseHash: string): Promise<ConfigChange>;
  schema(): Result<'config.schema'>;
  /** The keys that are changed only in the file itself. */
  readonly fileOnly: readonly string[];
  /** Applies the file after it was edited by hand. Throws INVALID_REQUEST with the issues. */
  reload(): Promise<Pick<ConfigChange, 'applied' | 'restart'>>;
  /** Recognizes stored values again, also masked ones: the digest of the value at a path. */
  digests(): Promise<(path: readonly string[]) => string>;
  /** Secrets are masked. */
  readonly overrides: Overrides;
}

export interface ConfigChange {
  path: string;
  config: unknown;
  /** Settings in the file without effect. */
  issues: ConfigIssue[];
  /** The keys that differ from the file before. */
  changed: string[];
  /** Changed keys that apply now. */
  applied: string[];
  /** Changed keys that apply at the next start. */
  restart: string[];
}

/** What the methods of the configuration need. */
export interface ConfigMethodDeps {
  configFile: ConfigFile;
  affected: AffectedParts;
  store: Pick<Store, 'commit'>;
}

/** The parts that act on a changed setting before they use it the next time. */
export interface AffectedParts {
  cron: { scheduler: Pick<Scheduler, 'look'> };
  workstreams: Pick<Workstreams, 'trim'>;
  channels: { look(): void };
}

export function configMethods({
  configFile,
  affected,
  store,
}: ConfigMethodDeps): Handlers<keyof typeof configContracts> {
  /** The file cannot be part of a transaction, so the record follows it. */
  const record = (changed: readonly string[], call: Call) =>
    store.commit({ statements: call.audited(toDetail(changed)) });
  const answer = async (change: ConfigChange, extended: boolean | undefined, call: Call) => {
    await takeEffect(change.applied, affected);
    await record(change.changed, call);
    return toResult(change, extended);
  };
  return {
    'config.get': () => configFile.read(),
    'config.set': async ({ raw, baseHash, extended }, call) =>
      answer(await configFile.write(raw, baseHash), extended, call),
    'config.patch': async ({ raw, baseHash, extended }, call) =>
      answer(await configFile.patch(raw, baseHash), extended, call),
    'config.schema': () => configFile.schema(),
    'config.reload': async (_params, call) => {
      const { applied, restart } = await configFile.reload().catch(withoutIssues);
      await takeEffect(applied, affected);
      await record([...applied, ...restart], call);
      return { status: applied.length > 0 ? 'ok' : 'noop', applied, restart };
    },
  };
}

/** The issues are about keys of the file, and not about params, which HTTP would rename. */
function withoutIssues(error: unknown): never {
  if (!(error instanceof GatewayError)) throw error;
  throw new GatewayError(error.code, error.message, { cause: error, retryable: error.retryable });
}

/** A record has at most this many keys, of this length; names are free in some places, such as those of models. */
const RECORDED = { keys: 50, length: 128 };

/** Names only: a value may be a secret. */
function toDetail(changed: readonly string[]): { changed: string[]; more?: number } {
  const named = changed.slice(0, RECORDED.keys).map((key) => key.slice(0, RECORDED.length));
  return { changed: named, ...(changed.length > named.length && { more: changed.length - named.length }) };
}

/** The scheduler sleeps until its next job, and a change may wake it earlier; a lower limit unloads workstreams; a bot may be another one. */
export async function takeEffect(
  applied: readonly string[],
  { cron, workstreams, channels }: AffectedParts,
): Promise<void> {
  if (applied.some((key) => key.startsWith('cron.'))) cron.scheduler.look();
  if (applied.some((key) => key.startsWith('channels.'))) channels.look();
  if (applied.includes('server.maxWorkstreams')) await workstreams.trim();
}

const toResult = ({ path, config, issues, applied, restart }: ConfigChange, extended: boolean | undefined) => ({
  ok: true as const,
  path,
  config,
  issues,
  ...(extended && { applied, restart }),
});
