import type { ServerStatus } from '../tool-servers.ts';

/** How many tool servers there are, and what they offer besides tools, as they said last. */
export interface ServerFigures {
  /** Those that are not disabled. */
  servers: number;
  /** Those of them that cannot be used now. */
  failed: number;
  resources: number;
  prompts: number;
}

export function figuresOf(listed: readonly Pick<ServerStatus, 'state' | 'catalog'>[]): ServerFigures {
  const servers = listed.filter(({ state }) => state !== 'disabled');
  return {
    servers: servers.length,
    failed: servers.filter(({ state }) => state === 'failed').length,
    resources: servers.reduce((sum, { catalog }) => sum + catalog.resources.length, 0),
    prompts: servers.reduce((sum, { catalog }) => sum + catalog.prompts.length, 0),
  };
}
