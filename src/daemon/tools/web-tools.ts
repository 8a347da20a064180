import type { OutputGuard } from '../../agent/guard/output-guard.ts';
import type { CommandAudit } from '../../agent/tools/shell/bash-arguments.ts';
import { createWebSearchTool } from '../../agent/tools/web/search/web-search.ts';
import { createWebFetchTool } from '../../agent/tools/web/web-fetch.ts';
import { createCheckedGet, createCheckedSend } from '../../egress/web/checked-get.ts';
import type { LiveConfig } from '../config/live-config.ts';
import { toSearchSettings } from '../config/search-config.ts';
import type { DaemonOptions } from '../daemon-options.ts';

type WebOptions = Pick<DaemonOptions, 'environment' | 'clock' | 'ids' | 'assets' | 'config'> & {
  live: Pick<LiveConfig, 'allowedHosts'>;
  commandAudit: CommandAudit;
  guard: OutputGuard;
};

/** The tools that reach the web. `outputs`: the folder for pages that are too long to show. */
export const createWebTools = (
  { environment, clock, ids, assets, config, live, commandAudit, guard }: WebOptions,
  outputs: string,
) => [
  createWebFetchTool({
    get: createCheckedGet({ environment }),
    live,
    audit: commandAudit,
    workerUrl: assets.pageWorkerUrl,
    outputs,
    guard,
    clock,
    ids,
  }),
  createWebSearchTool({
    settings: toSearchSettings(config.tools.search, environment),
    send: createCheckedSend({ environment }),
    live,
    audit: commandAudit,
    guard,
    clock,
  }),
];
