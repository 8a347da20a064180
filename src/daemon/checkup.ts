import { realpath } from 'node:fs/promises';
import path from 'node:path';
import type { HealthSummary } from '../../protocol/methods/health.ts';
import type { Clock } from '../clock.ts';
import type { Surroundings } from '../home/home-path.ts';
import { checkBus } from './checkup/bus-check.ts';
import { checkConfig } from './checkup/config-check.ts';
import type { Finding } from './checkup/finding.ts';
import { askModel, toModelFinding } from './checkup/model-check.ts';
import { checkSandboxParts } from './checkup/sandbox-checks.ts';
import { checkSecrets } from './checkup/secret-checks.ts';
import { checkClocks, checkSameSecrets, checkSchema, checkStore } from './checkup/store-check.ts';
import { checkTools } from './checkup/tool-checks.ts';
import { busUrlOf, resolveOptions, storeUrlOf } from './config/options.ts';

/** Checks the settings and the machine as a daemon that starts now would see them. */
export interface Checkup {
  settings: Finding[];
  /** What the secrets of the home contain. */
  secrets(): Promise<Finding[]>;
  /** Where it would listen. Throws StartError if the settings contradict each other. */
  address(): { host: string; port: number };
  /** `health`: from the running daemon, which knows its model's state. */
  model(health: HealthSummary | undefined): Promise<Finding>;
  /** The database of `store.url`; undefined: everything is in a file of the home. */
  store(): Promise<Finding> | undefined;
  /** Whether `store.url` names a database, so that a file of the home is a former one. */
  hasServer: boolean;
  /** What the machines of the database need to work together. */
  machines(clock: Pick<Clock, 'now' | 'monotonic'>): Promise<Finding[]>;
  /** What keeps a daemon of this version from using a file of a home; undefined: nothing. `all` reads the file. */
  schema: typeof checkSchema;
  /** `folder` must exist. */
  tools(folder: string): Promise<Finding[]>;
  /** Tries every part of the sandbox. `folder` must exist. */
  sandbox(folder: string): Promise<Finding[]>;
}

export async function openCheckup(home: string, around: Surroundings): Promise<Checkup> {
  const { environment } = around;
  const { config, findings } = await checkConfig(home);
  const hasServer = namesServer(config, environment);
  const workdir = () => resolveOptions({}, config, around).workdir ?? path.join(home, 'workspace');
  return {
    settings: findings,
    secrets: () => checkSecrets({ home, environment, hasServer }),
    address: () => resolveOptions({}, config, around),
    model: async (health) => (health ? toModelFinding(health) : askModel(config, environment)),
    store() {
      const url = storeUrlOf(config, environment);
      return url === undefined ? undefined : checkStore(url);
    },
    hasServer,
    async machines(clock) {
      const [storeUrl, busUrl] = [storeUrlOf(config, environment), busUrlOf(config, environment)];
      const secrets = storeUrl === undefined ? [] : await checkSameSecrets({ home, environment }, storeUrl);
      const clocks = storeUrl === undefined ? [] : await checkClocks(storeUrl, clock);
      return [...secrets, ...clocks, ...(busUrl === undefined ? [] : [await checkBus(busUrl)])];
    },
    schema: checkSchema,
    tools: (folder) => checkTools({ folder, workdir: workdir(), config, environment }),
    async sandbox(folder) {
      const avoid = [await realpath(workdir()).catch(() => workdir())]; // the first start creates it
      return checkSandboxParts({ folder, config, environment, avoid });
    },
  };
}

function namesServer(...settings: Parameters<typeof storeUrlOf>): boolean {
  try {
    return storeUrlOf(...settings) !== undefined;
  } catch {
    return true; // what is wrong with the address is a finding of its own
  }
}
