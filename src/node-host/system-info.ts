import { arch, cpus, freemem, hostname, loadavg, platform, release, totalmem, uptime } from 'node:os';
import { z } from 'zod';
import type { LentCommand } from './lent-command.ts';

/** Facts about this machine. Memory in bytes, `load` of the last 1, 5 and 15 minutes. */
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

/** The kind of this machine, such as `linux x64`. */
export const machineKind = `${platform()} ${arch()}`;
