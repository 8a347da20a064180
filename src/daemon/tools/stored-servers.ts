import type { Notice } from '../../../protocol/notice.ts';
import { check } from '../../../protocol/parse.ts';
import type { McpAdmin } from '../../gateway/mcp/mcp-noun.ts';
import { type CheckedConfig, StoredServers } from '../../gateway/mcp/stored-servers.ts';
import type { Vault } from '../../gateway/secrets/vault.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { ServerConfig } from '../config/mcp-config.ts';
import type { DaemonOptions } from '../daemon-options.ts';

interface StoredServersParts extends Pick<DaemonOptions, 'clock' | 'ids' | 'log'> {
  live: Pick<LiveConfig, 'mcp'>;
  vault: Vault;
  learn(values: readonly string[]): void;
  /** The daemon's own requests. */
  fetch: typeof fetch;
}

/** The tool servers of the database, and what their administration needs. */
export async function openStoredServers({ live, vault, learn, fetch, clock, ids, log }: StoredServersParts) {
  const notices: Notice[] = [];
  const onNotice = (notice: Notice) => notices.push(notice);
  const stored = new StoredServers({ vault, live, check: checkConfig, learn, onNotice, clock, ids, log });
  await stored.load();
  const admin: McpAdmin = { stored, check: checkConfig, registryUrl: () => live.mcp.registryUrl, fetch };
  return { stored, admin, notices };
}

/** Checks the settings of a tool server by the rules of config.json. */
function checkConfig(settings: unknown): CheckedConfig {
  const result = check(ServerConfig, settings);
  if (result.success) return { kind: 'fits', config: result.data };
  const issues = result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  return { kind: 'wrong', issues };
}
