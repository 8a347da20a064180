import { existsSync } from 'node:fs';
import { createGuardedEgress } from '../../../egress/guarded-egress.ts';
import type { Surroundings } from '../../../home/home-path.ts';
import { UsageError } from '../../../start-error.ts';
import { readVersion } from '../../../version.ts';
import { askNewest, isNewer } from '../../upgrade/newest-version.ts';

export interface UpgradeFlags {
  check?: boolean;
  registry?: string;
  json?: boolean;
}

const NPM = 'https://registry.npmjs.org';
const PATIENCE_MS = 15_000;

interface UpgradeCommand {
  flags: UpgradeFlags;
  around: Surroundings;
  root: URL;
}

/** Asks a registry for the newest version and prints how to install it. Changes nothing. */
export async function upgrade({ flags, around, root }: UpgradeCommand): Promise<void> {
  const { environment } = around;
  if (!flags.check) throw new UsageError('Headgate does not replace itself. Run: headgate upgrade --check');
  const registry = toAddress(flags.registry ?? (environment.npm_config_registry || NPM));
  // The person named the registry, so it may be in the person's own network.
  const { fetch } = createGuardedEgress({ privateHosts: () => [new URL(registry).hostname], environment });
  const current = await readVersion(root);
  const newest = await askNewest({ fetch, registry, signal: AbortSignal.timeout(PATIENCE_MS) });
  const available = isNewer(newest.version, current);
  if (flags.json) {
    say([JSON.stringify({ current, latest: newest.version, available }, null, 2)]);
  } else if (available) {
    const isClone = existsSync(new URL('.git', root));
    say([
      `Headgate ${newest.version} is available; this is ${current}.${newest.node === undefined ? '' : ` It needs Node ${newest.node}.`}`,
      'To upgrade, make a backup, install it, and restart the daemon:',
      '  headgate backup',
      isClone ? '  git pull && npm ci' : `  npm install --global headgate@${newest.version}`,
      '  headgate restart',
    ]);
  } else {
    say([`Headgate ${current} is the newest version.`]);
  }
}

const say = (lines: readonly string[]): void => void process.stdout.write(`${lines.join('\n')}\n`);

function toAddress(text: string): string {
  const protocol = URL.parse(text)?.protocol ?? '';
  if (!['http:', 'https:'].includes(protocol))
    throw new UsageError('The address of the registry must begin with http:// or https://.');
  return text;
}
