import { arch, cpus, freemem, hostname, loadavg, platform, release, totalmem, uptime } from 'node:os';
import { z } from 'zod';
import type { LentCommand } from './lent-command.ts';

/** How this machine is. Memory in bytes, `load` of the last 1, 5 and 15 minutes. */
export const systemInfo: LentCommand = {
  name: 'system.info',
  params: z.strictObject({}),
  run: async () => ({
    host: hostname(),
    platform: platform(),
    release: release(),
    arch: arch(),
    cpus: cpus().length,
    memory: { total: totalmem(), free: freemem() },
    load: loadavg(),
    uptimeSeconds: Math.floor(uptime()),
  }),
};

/** What kind of machine this is, as a node says it of itself: `linux x64`. */
export const machineKind = `${platform()} ${arch()}`;
