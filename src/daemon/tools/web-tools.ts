import type { OutputGuard } from '../../agent/guard/output-guard.ts';
import type { CommandAudit } from '../../agent/tools/shell/bash-arguments.ts';
import { createWebFetchTool } from '../../agent/tools/web/web-fetch.ts';
import { createCheckedGet } from '../../egress/web/checked-get.ts';
import type { LiveConfig } from '../config/live-config.ts';
import type { DaemonOptions } from '../daemon-options.ts';

type WebOptions = Pick<DaemonOptions, 'environment' | 'clock' | 'ids' | 'assets'> & {
  live: Pick<LiveConfig, 'allowedHosts'>;
  commandAudit: CommandAudit;
  guard: OutputGuard;
};

/** The tools that reach the web. `outputs`: the folder for pages that are too long to show. */
export const createWebTools = (
  { environment, clock, ids, assets, live, commandAudit, guard }: WebOptions,
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
];
