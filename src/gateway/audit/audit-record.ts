import { type AuditEvent, AuditEvent as AuditSchema } from '../../../protocol/methods/accounts/audit.ts';
import type { AuditTable } from '../store/schema/user-schema.ts';

/** What is recorded; the number is given when it is stored. */
export type AuditRecord = Omit<AuditEvent, 'seq'>;

/** What a handler adds to the record of its call. */
export interface AuditDetail {
  /** What was acted on, if neither the params nor the result name it. */
  id?: string;
  /** The action. Default: that of the row. */
  as?: `${string}.${string}`;
  /** What else is known. Never a secret. */
  [key: string]: unknown;
}

const Record = AuditSchema.omit({ seq: true });

/** Undefined for a text that is no record. */
export function readRecord(json: string): AuditRecord | undefined {
  try {
    return Record.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined; // not JSON
  }
}

/** The record's columns for filters repeat what it says. */
export const isConsistent = (row: AuditTable, record: AuditRecord | undefined): boolean =>
  record !== undefined && record.atMs === row.at_ms && record.action === row.action && record.userId === row.user_id;
