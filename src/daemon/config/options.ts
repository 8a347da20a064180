import { isIP } from 'node:net';
import { MachineLabels, toLabels } from '../../../protocol/cluster/machine-labels.ts';
import { checkOnce } from '../../../protocol/parse.ts';
import type { Overrides } from '../../gateway/configuration/setting-rows.ts';
import { present, resolveFolder, type Surroundings } from '../../home/home-path.ts';
import { StartError, UsageError } from '../../start-error.ts';
import {
  BUS_ADDRESS,
  isBusAddress,
  isMachineUrl,
  isStoreAddress,
  MACHINE_URL,
  STORE_ADDRESS,
} from '../store/store-config.ts';
import type { Config } from './config.ts';
import { oidcOverridesOf } from './oidc-config.ts';
import { DEFAULT_ADDRESS } from './server-config.ts';

/** The flags of `start` as the command line gives them. */
export interface StartFlags {
  port?: string | undefined;
  host?: string | undefined;
  home?: string | undefined;
  workdir?: string | undefined;
  model?: string | undefined;
  /** False for `--no-auth`. */
  auth?: boolean | undefined;
  newSecrets?: boolean | undefined;
  standby?: boolean | undefined;
  worker?: boolean | undefined;
}

/** Which database the settings name, and for whom. */
interface StoreNaming {
  store: Partial<Pick<Config['store'], 'url' | 'machineUrl' | 'machineLabels' | 'bus' | 'standby' | 'worker'>>;
}

export interface Options {
  host: string;
  port: number;
  workdir?: string;
  model?: string;
  /** The PostgreSQL database in place of a file of the home. */
  storeUrl?: string;
  /** Where the other daemons of the database reach this one. */
  machineUrl?: string;
  /** What this machine has, for workstreams that need it. */
  machineLabels: string[];
  /** The NATS server through which the daemons of the database work together. */
  busUrl?: string;
  /** Waits while another daemon is active. */
  isStandby: boolean;
  /** Does work for the active daemon. */
  isWorker: boolean;
  authEnabled: boolean;
}

/** Resolves the settings: flags win over the environment, then config.json, then the defaults. */
export function resolveOptions(
  flags: StartFlags,
  config: Pick<Config, 'server' | 'workdir'> & StoreNaming,
  around: Surroundings,
): Options {
  const environment = present(around.environment);
  const host = toHost(flags.host ?? environment.HEADGATE_HOST ?? config.server.host ?? DEFAULT_ADDRESS.host);
  const authEnabled = toAuthEnabled(flags.auth, environment.SERVICE_AUTH_ENABLED);
  if (!authEnabled && !isLoopback(host)) {
    throw new StartError(
      `Without authentication, Headgate listens only on a loopback address, not on ${host}. Remove --no-auth (or SERVICE_AUTH_ENABLED=0), or use --host 127.0.0.1.`,
    );
  }
  const workdir = flags.workdir ?? environment.HEADGATE_WORKDIR ?? config.workdir;
  const model = flags.model ?? environment.HEADGATE_MODEL;
  const storeUrl = storeUrlOf(config, environment);
  const machineUrl = machineUrlOf(config, environment);
  const busUrl = busUrlOf(config, environment);
  return {
    host,
    port:
      toPort({ '--port': flags.port, HEADGATE_PORT: environment.HEADGATE_PORT }) ??
      config.server.port ??
      DEFAULT_ADDRESS.port,
    ...(workdir !== undefined && { workdir: resolveFolder(workdir, around) }),
    ...(model !== undefined && { model }), // `createModels` reads defaultModel of config.json
    ...(storeUrl !== undefined && { storeUrl }),
    ...(machineUrl !== undefined && { machineUrl }),
    machineLabels: machineLabelsOf(config, environment),
    ...(busUrl !== undefined && { busUrl }),
    isStandby: isStandbyWanted(flags, config, environment),
    isWorker: isWorkerWanted(flags, config, environment),
    authEnabled,
  };
}

/** The settings of config.json that a flag or a variable can replace. */
const REPLACEABLE: { key: string; name: keyof Options; flag?: keyof StartFlags; variable: string }[] = [
  { key: 'server.host', name: 'host', flag: 'host', variable: 'HEADGATE_HOST' },
  { key: 'server.port', name: 'port', flag: 'port', variable: 'HEADGATE_PORT' },
  { key: 'workdir', name: 'workdir', flag: 'workdir', variable: 'HEADGATE_WORKDIR' },
  { key: 'defaultModel', name: 'model', flag: 'model', variable: 'HEADGATE_MODEL' },
  { key: 'store.url', name: 'storeUrl', variable: 'HEADGATE_STORE_URL' },
  { key: 'store.machineUrl', name: 'machineUrl', variable: 'HEADGATE_STORE_MACHINE_URL' },
  { key: 'store.machineLabels', name: 'machineLabels', variable: 'HEADGATE_STORE_MACHINE_LABELS' },
  { key: 'store.bus', name: 'busUrl', variable: 'HEADGATE_STORE_BUS' },
  { key: 'store.worker', name: 'isWorker', flag: 'worker', variable: 'HEADGATE_STORE_WORKER' },
  { key: 'store.standby', name: 'isStandby', flag: 'standby', variable: 'HEADGATE_STORE_STANDBY' },
];

/** What a variable with the value 1 sets. */
const SWITCHED: { key: string; value: unknown; variable: string }[] = [
  { key: 'cron.enabled', value: false, variable: 'HEADGATE_SKIP_CRON' },
  { key: 'session.titles', value: 'message', variable: 'HEADGATE_SKIP_TITLES' },
  { key: 'judge.useModel', value: false, variable: 'HEADGATE_SKIP_JUDGE_MODEL' },
];

/** The settings whose value in config.json has no effect, because a flag or the environment wins. */
export function overridesOf(flags: StartFlags, options: Options, around: Pick<Surroundings, 'environment'>): Overrides {
  const environment = present(around.environment);
  const overrides = new Map<string, { value: unknown; source: 'flag' | 'environment' }>();
  for (const { key, name, flag, variable } of REPLACEABLE) {
    const value = options[name];
    if (flag !== undefined && flags[flag] !== undefined) overrides.set(key, { value, source: 'flag' });
    else if (environment[variable] !== undefined) overrides.set(key, { value, source: 'environment' });
  }
  for (const [key, value] of oidcOverridesOf(around.environment))
    overrides.set(`oidc.${key}`, { value, source: 'environment' });
  for (const { key, value, variable } of SWITCHED) {
    if (environment[variable] === '1') overrides.set(key, { value, source: 'environment' });
  }
  return overrides;
}

function toHost(text: string): string {
  const host = text.replace(/^\[(.*)\]$/, '$1');
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/i.test(host)) {
    throw new UsageError(`"${text}" is not a host. Use an address or a name, such as 127.0.0.1.`);
  }
  return host;
}

/** The PostgreSQL database in place of a file of the home; undefined: there is none. */
export function storeUrlOf(config: StoreNaming, environment: Surroundings['environment']): string | undefined {
  const text = present(environment).HEADGATE_STORE_URL;
  if (text === undefined) return config.store.url;
  if (isStoreAddress(text)) return text;
  throw new UsageError(`HEADGATE_STORE_URL ${STORE_ADDRESS}`);
}

/** Where the other daemons of the database reach this one; undefined: where it listens. */
function machineUrlOf(config: StoreNaming, environment: Surroundings['environment']): string | undefined {
  const text = present(environment).HEADGATE_STORE_MACHINE_URL;
  if (text === undefined) return config.store.machineUrl;
  if (isMachineUrl(text)) return text;
  throw new UsageError(`HEADGATE_STORE_MACHINE_URL ${MACHINE_URL}`);
}

/** In the variable, they are separated by commas or spaces. */
function machineLabelsOf(config: StoreNaming, environment: Surroundings['environment']): string[] {
  const text = present(environment).HEADGATE_STORE_MACHINE_LABELS;
  if (text === undefined) return toLabels(config.store.machineLabels ?? []);
  const labels = toLabels(text.split(/[\s,]+/).filter((label) => label !== ''));
  const [problem] = checkOnce(MachineLabels, labels).error?.issues ?? [];
  if (problem === undefined) return labels;
  const [place] = problem.path;
  const which = typeof place === 'number' ? `"${labels[place]}" ` : '';
  throw new UsageError(`HEADGATE_STORE_MACHINE_LABELS: ${which}${problem.message}.`);
}

/** The NATS server between the daemons of the database; undefined: there is none. */
export function busUrlOf(config: StoreNaming, environment: Surroundings['environment']): string | undefined {
  const text = present(environment).HEADGATE_STORE_BUS;
  if (text === undefined) return config.store.bus;
  if (isBusAddress(text)) return text;
  throw new UsageError(`HEADGATE_STORE_BUS ${BUS_ADDRESS}`);
}

function isWorkerWanted(flags: StartFlags, config: StoreNaming, environment: Surroundings['environment']): boolean {
  if (flags.worker) return true;
  const { HEADGATE_STORE_WORKER: variable } = environment;
  return variable === undefined ? config.store.worker === true : isOn('HEADGATE_STORE_WORKER', variable);
}

function isStandbyWanted(flags: StartFlags, config: StoreNaming, environment: Surroundings['environment']): boolean {
  if (flags.standby) return true;
  const { HEADGATE_STORE_STANDBY: variable } = environment;
  return variable === undefined ? config.store.standby === true : isOn('HEADGATE_STORE_STANDBY', variable);
}

function isOn(variable: string, text: string): boolean {
  const word = text.toLowerCase();
  if (!ON.includes(word) && !OFF.includes(word)) throw new UsageError(`${variable} must be 1 or 0, not "${text}".`);
  return ON.includes(word);
}

const ON = ['1', 'true', 'yes', 'on'];
const OFF = ['0', 'false', 'no', 'off'];

function toAuthEnabled(flag: boolean | undefined, variable: string | undefined): boolean {
  if (flag === false) return false;
  return isOn('SERVICE_AUTH_ENABLED', variable ?? '1');
}

function isLoopback(host: string): boolean {
  return host === '::1' || host.toLowerCase() === 'localhost' || (isIP(host) === 4 && host.startsWith('127.'));
}

/** The port from the first of the named texts that is given. */
function toPort(texts: Record<string, string | undefined>): number | undefined {
  const [name, text] = Object.entries(texts).find(([, given]) => given !== undefined) ?? [];
  if (text === undefined) return undefined;
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535) {
    throw new UsageError(`${name} must be a whole number from 0 to 65535 (0 takes any free port), not "${text}".`);
  }
  return Number(text);
}
