import path from 'node:path';
import type { HealthSummary } from '../../protocol/methods/health.ts';
import type { Finding } from '../finding.ts';
import type { Surroundings } from '../home/home-path.ts';
import { checkConfig } from './checkup/config-check.ts';
import { askModel, toModelFinding } from './checkup/model-check.ts';
import { checkTools } from './checkup/tool-checks.ts';
import { resolveOptions } from './config/options.ts';

/** What a daemon that is started now would make of its settings and of this machine. */
export interface Checkup {
  settings: Finding[];
  /** Where it would listen. Throws StartError where the settings do not go together. */
  address(): { host: string; port: number };
  /** `health`: of the daemon that runs and knows already. */
  model(health: HealthSummary | undefined): Promise<Finding>;
  /** `folder`: one that exists. */
  tools(folder: string): Promise<Finding[]>;
}

export async function openCheckup(home: string, around: Surroundings): Promise<Checkup> {
  const { environment } = around;
  const { config, findings } = await checkConfig(home);
  return {
    settings: findings,
    address: () => resolveOptions({}, config, around),
    model: async (health) => (health ? toModelFinding(health) : askModel(config, environment)),
    async tools(folder) {
      const workdir = resolveOptions({}, config, around).workdir ?? path.join(home, 'workspace');
      return checkTools({ folder, workdir, config, environment });
    },
  };
}
