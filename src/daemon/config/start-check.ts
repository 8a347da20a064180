import { isDeepStrictEqual } from 'node:util';
import type { ConfigIssue } from '../../../protocol/methods/config.ts';
import { wordsOf } from '../../../protocol/words-of.ts';
import { chooseDefault } from '../../agent/providers/model-choice.ts';
import { resolveWorkdir } from '../../gateway/workstreams/workdir.ts';
import { requireAddress } from '../../listen.ts';
import type { DaemonOptions } from '../daemon-options.ts';
import { policyOf } from '../workdirs.ts';
import type { Config } from './config.ts';
import { resolveOptions } from './options.ts';

/** `port`: that of this daemon, which the next one finds free. */
type StartCheckDeps = Pick<DaemonOptions, 'home' | 'userHome' | 'uid' | 'authEnabled' | 'environment' | 'port'>;

/**
 * Why the next start would refuse what is new in a configuration, by the checks of the start and in its words. What is as
 * before is not checked again: it must not stop a change of something else.
 */
export type StartCheck = (next: Config, before: Config | undefined) => Promise<ConfigIssue[]>;

export function createStartCheck(deps: StartCheckDeps): StartCheck {
  return async (next, before) => {
    const isNew = ({ reads }: Check) => before === undefined || !isDeepStrictEqual(reads(next), reads(before));
    const issues = CHECKS.filter(isNew).map(async ({ path, run }): Promise<ConfigIssue[]> => {
      try {
        await run(next, deps);
        return [];
      } catch (error) {
        return [{ path, message: wordsOf(error) }];
      }
    });
    return (await Promise.all(issues)).flat();
  };
}

interface Check {
  /** The setting that a problem is told about. */
  path: string;
  /** Everything that the check depends on. */
  reads(config: Config): unknown;
  /** Throws what the start throws. */
  run(config: Config, deps: StartCheckDeps): unknown;
}

const CHECKS: readonly Check[] = [
  {
    path: 'server.host',
    reads: ({ server }) => server.host,
    run: (config, deps) => requireAddress({ host: optionsOf(config, deps).host, port: 0 }),
  },
  {
    path: 'server.port',
    reads: ({ server }) => server.port,
    async run(config, deps) {
      const { port } = optionsOf({ server: { ...config.server, host: ANY_HOST } }, deps);
      // If the host is wrong, the other check says so.
      if (port !== deps.port) await requireAddress({ host: ANY_HOST, port });
    },
  },
  {
    path: 'workdir',
    reads: ({ workdir }) => workdir,
    async run({ workdir, server }, deps) {
      if (workdir === undefined) return;
      const asked = optionsOf({ workdir, server: { ...server, host: ANY_HOST } }, deps);
      await resolveWorkdir(await policyOf(deps, asked.workdir));
    },
  },
  {
    path: 'defaultModel',
    reads: ({ defaultModel, models }) => [defaultModel, models],
    run: (config, { environment }) => chooseDefault({ config, environment, localUrl: undefined }),
  },
];

const ANY_HOST = '127.0.0.1';

/** As the next start without flags reads them. */
const optionsOf = (config: Pick<Config, 'server' | 'workdir'>, { home, userHome, authEnabled }: StartCheckDeps) =>
  resolveOptions({ auth: authEnabled }, { ...config, store: {} }, { environment: {}, userHome, cwd: home });
