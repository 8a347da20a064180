import { z } from 'zod';
import { MachineLabels } from '../../../protocol/cluster/machine-labels.ts';

/** Whether it is the address of a PostgreSQL database. */
export function isStoreAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, username, password } = new URL(text);
  return /^postgres(?:ql)?:$/.test(protocol) && pathname.length > 1 && [username, password, pathname].every(isEncoded);
}

/** Whether every percent sign begins an encoded character. */
function isEncoded(part: string): boolean {
  try {
    decodeURIComponent(part);
    return true;
  } catch {
    return false;
  }
}

/** What the address of a database looks like, for messages about one that cannot be used. */
export const STORE_ADDRESS =
  'must be like postgresql://user:password@host:5432/database, with special characters encoded (%25 for %)';

/** Whether daemons can be reached at it: a path would be left out. */
export const isMachineUrl = (text: string): boolean =>
  /^https?:\/\//.test(text) && URL.parse(text)?.origin === text.replace(/\/$/, '');

/** What the address of a machine looks like, for messages about one that cannot be used. */
export const MACHINE_URL = 'must be an address without a path, like http://10.0.0.5:7717';

/** Whether it is the address of a NATS server. */
export function isBusAddress(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password } = new URL(text);
  return /^(?:nats|tls):$/.test(protocol) && hostname !== '' && [username, password].every(isEncoded);
}

/** What the address of a NATS server looks like, for messages about one that cannot be used. */
export const BUS_ADDRESS = 'must be like nats://user:password@host:4222, or tls:// for an encrypted connection';

export const StoreConfig = z.object({
  url: z
    .string()
    .max(2_000)
    .refine(isStoreAddress, STORE_ADDRESS)
    .optional()
    .describe(
      'The PostgreSQL database that stores everything, with the files of messages. Without it, everything is in the home.',
    ),
  machineUrl: z
    .string()
    .max(2_000)
    .refine(isMachineUrl, MACHINE_URL)
    .optional()
    .describe('Where the other daemons of the database reach this one. Without it: where it listens.'),
  machineLabels: MachineLabels.optional().describe(
    'What this machine has, such as gpu or eu. A workstream that needs labels gets a machine that has all of them.',
  ),
  retrySecs: z
    .int()
    .min(0)
    .max(600)
    .default(30)
    .describe('How many seconds runs and calls wait when the connection to the database is lost, before they fail.'),
  bus: z
    .string()
    .max(2_000)
    .refine(isBusAddress, BUS_ADDRESS)
    .optional()
    .describe('The NATS server through which the active daemon gives work to the workers of the database.'),
  balance: z
    .boolean()
    .default(true)
    .describe('Workstreams that nobody uses move by themselves, so that workers have about as many.'),
  worker: z
    .boolean()
    .optional()
    .describe('Run workstreams for the active daemon, beside it, instead of being refused.'),
  standby: z
    .boolean()
    .optional()
    .describe('Wait while another daemon uses the database, and take over when it ends, instead of being refused.'),
});
