import type { Surroundings } from '../../home/home-path.ts';
import type { Log } from '../../log.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { createLiveConfig } from '../config/live-config.ts';
import { type Options, resolveOptions, type StartFlags } from '../config/options.ts';
import { createStartCheck } from '../config/start-check.ts';

/** What config.json, flags and the environment say. */
export interface Settings {
  config: Config;
  options: Options;
}

interface LaterSettingsDeps {
  home: string;
  flags: StartFlags;
  around: Surroundings;
  uid: number | undefined;
  log: Log & { level: string };
}

/**
 * Reads config.json again for each later daemon of a process, because it may have changed since the process started. One
 * that cannot be used leaves the settings as they were. The address and the database belong to the process: others wait
 * for it there.
 */
export function createLaterSettings(first: Settings, deps: LaterSettingsDeps): () => Promise<Settings> {
  let latest = first;
  return async () => {
    try {
      latest = await readLater(latest, deps);
    } catch (err) {
      deps.log.error({ err }, 'config.json cannot be used now, so the daemon goes on with the settings it had before');
    }
    return latest;
  };
}

async function readLater(former: Settings, { home, flags, around, uid, log }: LaterSettingsDeps): Promise<Settings> {
  const { environment, userHome } = around;
  const { config: read, warnings } = await loadConfig(home);
  const { host, port } = former.config.server;
  const config = { ...read, server: { ...read.server, host, port }, store: former.config.store };
  const options = resolveOptions(flags, config, around);
  const { authEnabled } = options;
  const check = createStartCheck({ home, userHome, uid, authEnabled, environment, port: options.port });
  const issues = await check(config, former.config);
  if (issues.length > 0) throw new Error(issues.map(({ path, message }) => `${path}: ${message}`).join('; '));
  createLiveConfig({ config, environment, setLogLevel: () => undefined }); // throws where a secret is missing
  for (const warning of warnings) log.warn({}, warning);
  log.level = config.logLevel;
  return { config, options };
}
