import { isRecord } from '../../../protocol/is-record.ts';
import type { MigrationPlan } from '../../gateway/store/schema/schema-version.ts';

/**
 * What the two processes of a hand-over tell each other over their channel. Their versions may differ, so unknown messages
 * are ignored, and a message may get further fields, but never fewer.
 */
export type FromSuccessor = Checked | { type: 'refused'; why: string } | { type: 'serving' };

/** The successor could start everything that can be tried out beside its predecessor. */
export interface Checked {
  type: 'checked';
  version: string;
  /** The versions of the database's tables, if the start will migrate them, and the lowest one that may use them then. */
  migration: MigrationPlan | null;
}

/** `begin`: the predecessor stops from now on; `go`: it has stopped; `leave`: its process ends, and the successor goes on. */
export interface FromPredecessor {
  type: 'begin' | 'go' | 'leave';
}

/** Undefined for what this version does not know. */
export function toSuccessorMessage(message: unknown): FromSuccessor | undefined {
  if (!isRecord(message)) return undefined;
  const { type, version, migration, why } = message;
  if (type === 'serving') return { type };
  if (type === 'refused') return { type, why: String(why) };
  if (type !== 'checked' || typeof version !== 'string') return undefined;
  return { type, version, migration: toMigration(migration) };
}

function toMigration(value: unknown): Checked['migration'] {
  if (!isRecord(value)) return null;
  const { from, to, usableFrom = to } = value;
  return typeof from === 'number' && typeof to === 'number' && typeof usableFrom === 'number'
    ? { from, to, usableFrom }
    : null;
}

/** Undefined for what this version does not know. */
export function toPredecessorMessage(message: unknown): FromPredecessor | undefined {
  if (!isRecord(message)) return undefined;
  const { type } = message;
  return type === 'begin' || type === 'go' || type === 'leave' ? { type } : undefined;
}

/** Where the successor finds the listening socket: the first descriptor after the standard ones, as with systemd. */
export const SOCKET_DESCRIPTOR = 3;

/** Tells a process that it is a successor: the address that its predecessor was asked to listen on, as JSON. */
export const HANDOVER_VARIABLE = 'HEADGATE_HANDOVER';

/** An address as flags, environment and configuration name it. Port 0 is any free port. */
export interface AskedAddress {
  host: string;
  port: number;
}
