import { hostname } from 'node:os';
import { urlOf } from '../../listen.ts';

const ANY = new Set(['0.0.0.0', '::']);

/** Where the other daemons of the database reach this one: as configured, or where it listens. */
export const machineUrlOf = ({ host, port }: { host: string; port: number }, machineUrl: string | undefined): string =>
  machineUrl ?? urlOf({ host: ANY.has(host) ? hostname() : host, port, publicUrl: undefined });
