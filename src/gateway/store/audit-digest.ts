import { hash } from 'node:crypto';
import type { DatabaseSync } from 'node:sqlite';

/** Chains a record to the one before it: SHA-256 in hex of the digest before, the number and the record, in lines. */
export const auditDigest = (before: string, seq: number, body: string): string =>
  hash('sha256', `${before}\n${seq}\n${body}`);

/** Defines the SQL function `audit_digest`, because only the database knows which record is the last one. */
export function defineAuditDigest(database: DatabaseSync): void {
  database.function('audit_digest', { deterministic: true, directOnly: true }, (before, seq, body) =>
    auditDigest(String(before), Number(seq), String(body)),
  );
}
