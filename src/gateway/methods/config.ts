import type { Result } from '../../../protocol/index.ts';
import type { ConfigIssue, configContracts } from '../../../protocol/methods/config.ts';
import type { Scheduler } from '../../cron/scheduler.ts';
import type { Handlers } from '../call.ts';
import type { Overrides } from '../configuration/setting-rows.ts';

/** The configuration file, as clients may see and change it. */
export interface ConfigFile {
  read(): Promise<Result<'config.get'>>;
  /** Writes the text as given. Throws INVALID_REQUEST with the issues, CONFLICT when the base is outdated. */
  write(raw: string, baseHash: string | undefined): Promise<ConfigChange>;
  /** Merges a patch into the file. */
  patch(raw: string, baseHash: string): Promise<ConfigChange>;
  schema(): Result<'config.schema'>;
  /** Applies the file after it was edited by hand. Throws INVALID_REQUEST with the issues. */
  reload(): Promise<Pick<ConfigChange, 'applied' | 'restart'>>;
  readonly overrides: Overrides;
}

export interface ConfigChange {
  path: string;
  config: unknown;
  /** Settings in the file without effect. */
  issues: ConfigIssue[];
  /** Changed keys that apply now. */
  applied: string[];
  /** Changed keys that apply at the next start. */
  restart: string[];
}

/** What the methods of the configuration need. */
export interface ConfigMethodDeps {
  configFile: ConfigFile;
  cron: { scheduler: Pick<Scheduler, 'look'> };
}

export function configMethods({ configFile, cron }: ConfigMethodDeps): Handlers<keyof typeof configContracts> {
  const toAnswer = (change: ConfigChange, extended: boolean | undefined) => {
    lookAtJobs(change.applied, cron);
    return toResult(change, extended);
  };
  return {
    'config.get': () => configFile.read(),
    'config.set': async ({ raw, baseHash, extended }) => toAnswer(await configFile.write(raw, baseHash), extended),
    'config.patch': async ({ raw, baseHash, extended }) => toAnswer(await configFile.patch(raw, baseHash), extended),
    'config.schema': () => configFile.schema(),
    'config.reload': async () => {
      const { applied, restart } = await configFile.reload();
      lookAtJobs(applied, cron);
      return { status: applied.length > 0 ? 'ok' : 'noop', applied, restart };
    },
  };
}

/** The scheduler sleeps until its next job, and a change may wake it earlier. */
export function lookAtJobs(applied: readonly string[], { scheduler }: ConfigMethodDeps['cron']): void {
  if (applied.some((key) => key.startsWith('cron.'))) scheduler.look();
}

const toResult = ({ path, config, issues, applied, restart }: ConfigChange, extended: boolean | undefined) => ({
  ok: true as const,
  path,
  config,
  issues,
  ...(extended && { applied, restart }),
});
