import { randomBytes } from 'node:crypto';
import { nanoid } from 'nanoid';

/** Makes identifiers; a test passes one that counts. */
export interface Ids {
  /** 32 hex characters: a workstream. */
  wsId(): string;
  /** A short unguessable id with a readable prefix: `run_…`, `apr_…`. */
  id(prefix: string): string;
  /** `bytes` random bytes as hex: a secret. */
  secret(bytes: number): string;
}

export const randomIds: Ids = {
  wsId: () => randomBytes(16).toString('hex'),
  id: (prefix) => `${prefix}_${nanoid(16)}`,
  secret: (bytes) => randomBytes(bytes).toString('hex'),
};
