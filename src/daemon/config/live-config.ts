import type { CronSwitch } from '../../../protocol/cron.ts';
import { isRecord } from '../../../protocol/is-record.ts';
import type { ConfigIssue } from '../../../protocol/methods/config.ts';
import type { TelegramSettings } from '../../gateway/channels/telegram/telegram-settings.ts';
import type { WebhookDestination } from '../../gateway/channels/webhook.ts';
import type { WhatsAppSettings } from '../../gateway/channels/whatsapp/whatsapp-settings.ts';
import type { LiveSettings } from '../../gateway/live-settings.ts';
import type { PushSettings } from '../../gateway/push/push-services.ts';
import { StartError } from '../../start-error.ts';
import { pushSettingsOf } from './channels/push-settings.ts';
import { telegramSettingsOf } from './channels/telegram-config.ts';
import { whatsAppSettingsOf } from './channels/whatsapp-config.ts';
import type { Config } from './config.ts';
import { ownJudge } from './judge-config.ts';

/** The keys of config.json that take effect at once; the others need a restart. */
const LIVE_KEYS: readonly string[] = [
  ...['agents', 'approvalTimeoutSecs', 'approvals', 'budgets', 'channels', 'checkpoints', 'cron', 'egress'],
  ...['heartbeatMinutes', 'hooks', 'judge', 'logLevel', 'mcp', 'memory', 'models', 'defaultModel', 'nodes'],
  'retentionDays',
  'session',
  'workstreams',
  ...[
    'server.inbound',
    'server.maxWorkstreams',
    'tools.background',
    'tools.diagnostics',
    'tools.network',
    'tools.tier',
  ],
  'tools.timeoutSecs',
];

interface LiveConfigOptions {
  config: Config;
  environment: Readonly<Record<string, string | undefined>>;
  setLogLevel(level: Config['logLevel']): void;
  /** Called with each configuration that comes into force after the first. One that throws has changed nothing. */
  changes?: readonly ((next: Config) => void)[];
}

interface ChannelSettings {
  readonly webhooks: ReadonlyMap<string, WebhookDestination>;
  /** The bot at Telegram; undefined: there is none. */
  readonly telegram: TelegramSettings | undefined;
  /** The number at WhatsApp; undefined: there is none. */
  readonly whatsapp: WhatsAppSettings | undefined;
  /** Who is notified of questions. */
  readonly push: PushSettings;
  /** What turns recordings into text. */
  readonly transcribe: Config['channels']['transcribe'];
}

/** The configuration in force. Its values are read when they are used, so that a change takes effect at once. */
export interface LiveConfig extends LiveSettings {
  readonly retentionDays: number;
  readonly commandTimeoutSecs: number;
  readonly backgroundMaxSecs: number;
  readonly sandboxTier: Config['tools']['tier'];
  /** What looks for problems in changed files. */
  readonly diagnostics: Config['tools']['diagnostics'];
  /** What runs at moments of runs. */
  readonly hooks: Config['hooks'];
  /** Tool servers. */
  readonly mcp: Config['mcp'];
  /** Hosts that sandboxed commands may connect to. */
  readonly allowedHosts: readonly string[];
  /** Names that may resolve to private addresses. */
  readonly privateHosts: readonly string[];
  /** Folders whose instruction files are used, as written in the file. */
  readonly trustedFolders: readonly string[];
  readonly channels: ChannelSettings;
  /** The rules for commands to nodes. */
  readonly nodes: Config['nodes'];
  /** Reports variables that the configuration names but the environment lacks. */
  check(next: Config): ConfigIssue[];
  /** All of it, also what needs a restart. */
  whole(): Config;
  /** Applies the settings that can change at once; returns the changed keys of both kinds. If it throws, nothing has changed. */
  apply(next: Config): { applied: string[]; restart: string[] };
}

function cronOf({ cron }: Config, environment: LiveConfigOptions['environment']): LiveConfig['cron'] {
  const switchedOffBy: CronSwitch[] = [];
  if (!cron.enabled) switchedOffBy.push('cron.enabled');
  if (environment.HEADGATE_SKIP_CRON === '1') switchedOffBy.push('HEADGATE_SKIP_CRON');
  return { ...cron, enabled: switchedOffBy.length === 0, switchedOffBy };
}

function sessionOf({ session }: Config, environment: LiveConfigOptions['environment']): LiveConfig['session'] {
  return environment.HEADGATE_SKIP_TITLES === '1' ? { ...session, titles: 'message' } : session;
}

function judgeOf(config: Config, environment: LiveConfigOptions['environment']): LiveConfig['judge'] {
  const { useModel, timeoutSecs, ...judge } = config.judge;
  const usesModel = useModel && environment.HEADGATE_SKIP_JUDGE_MODEL !== '1';
  return { ...judge, own: ownJudge(config.judge), usesModel, timeoutMs: timeoutSecs * 1000 };
}

const subAgentsOf = ({ agents: { parallel, maxTimeoutSecs } }: Config): LiveConfig['subAgents'] => ({
  parallel,
  maxTimeoutMs: maxTimeoutSecs * 1000,
});

/** Keys that need a restart are compared with the configuration of the start. */
export function createLiveConfig({ config, environment, setLogLevel, changes = [] }: LiveConfigOptions): LiveConfig {
  const held = holdConfig({ config, environment });
  return Object.assign(held, {
    check: (next: Config) => [...missingSecrets(next, environment), ...missingTokens(next, environment)],
    apply(next: Config) {
      const former = held.whole();
      const changed = changesBetween({ file: former, start: config }, next);
      held.replace(next); // before the changes are told, because those who are told read other settings
      try {
        for (const change of changes) change(next);
      } catch (error) {
        held.replace(former);
        throw error;
      }
      setLogLevel(next.logLevel);
      return changed;
    },
  });
}

interface HeldConfig extends Omit<LiveConfig, 'check' | 'apply'> {
  replace(next: Config): void;
}

function holdConfig({ config, environment }: Pick<LiveConfigOptions, 'config' | 'environment'>): HeldConfig {
  let current = config; // that of the file
  let channels = channelsOf(config, environment);
  return {
    get approvalMs() {
      return current.approvalTimeoutSecs * 1000;
    },
    get alwaysMs() {
      return current.approvals.alwaysSecs * 1000;
    },
    get subAgents() {
      return subAgentsOf(current);
    },
    get maxWorkstreams() {
      return current.server.maxWorkstreams;
    },
    get visibility() {
      return current.workstreams.visibility;
    },
    get heartbeatMs() {
      return current.heartbeatMinutes * 60_000;
    },
    get cron() {
      return cronOf(current, environment);
    },
    get budgets() {
      return current.budgets ?? {};
    },
    get session() {
      return sessionOf(current, environment);
    },
    get judge() {
      return judgeOf(current, environment);
    },
    get checkpoints() {
      return current.checkpoints;
    },
    get memory() {
      return current.memory;
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
    get backgroundMaxSecs() {
      return current.tools.background.maxSecs;
    },
    get sandboxTier() {
      return current.tools.tier;
    },
    get diagnostics() {
      return current.tools.diagnostics;
    },
    get hooks() {
      return current.hooks;
    },
    get mcp() {
      return current.mcp;
    },
    get allowedHosts() {
      return current.tools.network.allow;
    },
    get privateHosts() {
      return current.egress.privateHosts;
    },
    get trustedFolders() {
      return current.agents.trusted;
    },
    get channels() {
      return channels;
    },
    get nodes() {
      return current.nodes;
    },
    whole: () => current,
    replace(next) {
      [channels, current] = [channelsOf(next, environment), next];
    },
  };
}

function changesBetween({ file, start }: Record<'file' | 'start', Config>, next: Config) {
  const applied = changedKeys(file, next).filter(isLive);
  return { applied, restart: changedKeys(start, next).filter((key) => !isLive(key)) };
}

/** When a change of a setting takes effect; `mixed`: some settings below it now, others after a restart. */
export function effectOf(key: string): 'now' | 'restart' | 'mixed' {
  if (isLive(key)) return 'now';
  return LIVE_KEYS.some((live) => live.startsWith(`${key}.`)) ? 'mixed' : 'restart';
}

const isLive = (key: string): boolean => LIVE_KEYS.some((live) => key === live || key.startsWith(`${live}.`));

type Environment = LiveConfigOptions['environment'];

/** Throws if a secret is missing from the environment, because its destination would then send unsigned messages. */
function webhooksOf(config: Config, environment: Environment): Map<string, WebhookDestination> {
  const missing = missingSecrets(config, environment).map(({ path, message }) => `${path}: ${message}`);
  if (missing.length > 0) throw new StartError(missing.join('; '));
  const named = Object.entries(config.channels.webhook).map(([name, webhook]) => {
    return [name, { url: webhook.url, secret: secretOf(webhook, environment) }] as const;
  });
  return new Map(named);
}

const missingSecrets = ({ channels }: Config, environment: Environment): ConfigIssue[] =>
  Object.entries(channels.webhook)
    .filter(([, webhook]) => secretOf(webhook, environment) === '')
    .map(([name, { secretEnv }]) => ({
      path: `channels.webhook.${name}.secretEnv`,
      message: `the environment has no ${secretEnv}`,
    }));

const channelsOf = (config: Config, environment: Environment): ChannelSettings => ({
  webhooks: webhooksOf(config, environment),
  telegram: config.channels.telegram && telegramSettingsOf(config.channels.telegram, environment),
  whatsapp: config.channels.whatsapp && whatsAppSettingsOf(config.channels.whatsapp, environment),
  push: pushSettingsOf(config.channels, { webhooks: webhooksOf(config, environment), environment }),
  transcribe: config.channels.transcribe,
});

/** At a start, the channel reports it instead, because a daemon without its bot is still of use. */
function missingTokens({ channels: { telegram, whatsapp, ntfy } }: Config, environment: Environment): ConfigIssue[] {
  const named = [
    ...Object.entries(ntfy).map(([name, { tokenEnv }]) => [`ntfy.${name}.tokenEnv`, tokenEnv] as const),
    ['telegram.botTokenEnv', telegram?.botTokenEnv],
    ['whatsapp.accessTokenEnv', whatsapp?.accessTokenEnv],
    ['whatsapp.appSecretEnv', whatsapp?.appSecretEnv],
    ['whatsapp.verifyTokenEnv', whatsapp?.verifyTokenEnv],
  ] as const;
  return named.flatMap(([place, name]) =>
    name === undefined || environment[name]
      ? []
      : [{ path: `channels.${place}`, message: `the environment has no ${name}` }],
  );
}

type Webhook = Config['channels']['webhook'][string];

/** Empty if the environment lacks it. */
const secretOf = ({ secret, secretEnv = '' }: Webhook, environment: Environment): string =>
  secret ?? environment[secretEnv] ?? '';

/** The paths of all values that differ. */
export function changedKeys(before: unknown, after: unknown, path = ''): string[] {
  if (!isRecord(before) || !isRecord(after)) {
    return JSON.stringify(before) === JSON.stringify(after) ? [] : [path];
  }
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) => changedKeys(before[key], after[key], path === '' ? key : `${path}.${key}`));
}
