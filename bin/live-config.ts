import type { CronSwitch } from '../protocol/cron.ts';
import type { WebhookDestination } from '../src/gateway/channels/webhook.ts';
import type { LiveSettings } from '../src/gateway/live-settings.ts';
import type { Config } from './config.ts';
import { StartError } from './start-error.ts';

/** The keys of config.json that take effect while the daemon runs; the others wait for its next start. */
export const LIVE_KEYS: readonly string[] = [
  ...['approvalTimeoutSecs', 'channels', 'cron', 'heartbeatMinutes', 'logLevel', 'nodes', 'retentionDays'],
  ...['server.inbound', 'server.maxWorkstreams', 'tools.timeoutSecs'],
];

interface LiveConfigOptions {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  setLogLevel(level: Config['logLevel']): void;
}

/** The configuration in force. Its values are read when they are used, so that a change counts at once. */
export interface LiveConfig extends LiveSettings {
  readonly retentionDays: number;
  readonly commandTimeoutSecs: number;
  readonly webhooks: ReadonlyMap<string, WebhookDestination>;
  /** What may be asked of nodes. */
  readonly nodes: Config['nodes'];
  /** Throws StartError when the environment lacks something that the configuration names. */
  check(next: Config): void;
  /** Makes the next configuration the one in force, as far as it can change now; answers the keys that changed. */
  apply(next: Config): { applied: string[]; restart: string[] };
}

export function createLiveConfig({ config, environment, setLogLevel }: LiveConfigOptions): LiveConfig {
  /** As the file says; what needs a restart is compared against what it was started with. */
  let current = config;
  let webhooks = webhooksOf(config, environment);
  return {
    get approvalMs() {
      return current.approvalTimeoutSecs * 1000;
    },
    get maxWorkstreams() {
      return current.server.maxWorkstreams;
    },
    get heartbeatMs() {
      return current.heartbeatMinutes * 60_000;
    },
    get cron() {
      const switchedOffBy: CronSwitch[] = [];
      if (!current.cron.enabled) switchedOffBy.push('cron.enabled');
      if (environment.HEADGATE_SKIP_CRON === '1') switchedOffBy.push('HEADGATE_SKIP_CRON');
      return { ...current.cron, enabled: switchedOffBy.length === 0, switchedOffBy };
    },
    get inbound() {
      return current.server.inbound;
    },
    get retentionDays() {
      return current.retentionDays;
    },
    get commandTimeoutSecs() {
      return current.tools.timeoutSecs;
    },
    get webhooks() {
      return webhooks;
    },
    get nodes() {
      return current.nodes;
    },
    check: (next) => void webhooksOf(next, environment),
    apply(next) {
      const applied = changedKeys(current, next).filter(isLive);
      const restart = changedKeys(config, next).filter((key) => !isLive(key));
      webhooks = webhooksOf(next, environment);
      current = next;
      setLogLevel(next.logLevel);
      return { applied, restart };
    },
  };
}

const isLive = (key: string): boolean => LIVE_KEYS.some((live) => key === live || key.startsWith(`${live}.`));

/** A destination whose secret is not in the environment would send unsigned: that is said instead. */
function webhooksOf(
  { channels }: Config,
  environment: LiveConfigOptions['environment'],
): Map<string, WebhookDestination> {
  const named = Object.entries(channels.webhook).map(([name, { url, secret, secretEnv = '' }]) => {
    const found = secret ?? environment[secretEnv];
    if (!found) throw new StartError(`channels.webhook.${name}: the environment has no ${secretEnv}`);
    return [name, { url, secret: found }] as const;
  });
  return new Map(named);
}

/** The paths of all values that differ, deepest first said. */
function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (!isRecord(before) || !isRecord(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => changedKeys(before[key], after[key], path === '' ? key : `${path}.${key}`));
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
