import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { readPrivateFile } from '../../home/private-file.ts';
import { replaceFile } from '../../home/replace-file.ts';

/** Its name in the home. */
export const AUDIT_HEAD_FILE = 'audit-head.json';

/** Checks a head that was read from a file. */
export const AuditHead = z.strictObject({
  /** The first record that is kept, and the digest before it. */
  firstSeq: z.int().min(1),
  before: z.string(),
  /** The last record that was signed, and its digest; 0 if there was none. */
  seq: z.int().min(0),
  digest: z.string(),
});

/** Where the trail begins and ends. */
export type AuditHead = z.infer<typeof AuditHead>;

const Signed = z.strictObject({ ...AuditHead.shape, signature: z.string() });

/** The signed head of the audit trail, in a file beside the database. */
export interface AuditHeadFile {
  /** Undefined: nothing was signed yet. `invalid`: somebody else wrote it. */
  read(): Promise<AuditHead | undefined | 'invalid'>;
  write(head: AuditHead): Promise<void>;
  /** Recognizes a text again without telling it: of short texts, a digest without a key could be guessed. */
  digestOf(text: string): string;
}

/** `secret`: in hex. */
export function createAuditHeadFile({ path, secret }: { path: string; secret: string }): AuditHeadFile {
  const key = Buffer.from(secret, 'hex');
  const sign = ({ firstSeq, before, seq, digest }: AuditHead): string =>
    createHmac('sha256', key).update([firstSeq, before, seq, digest].join('\n')).digest('hex');
  return {
    async read() {
      const text = await readPrivateFile(path);
      if (text === undefined) return undefined;
      const { signature, ...head } = toSigned(text) ?? { signature: '', firstSeq: 1, before: '', seq: 0, digest: '' };
      return isSame(signature, sign(head)) ? head : 'invalid';
    },
    digestOf: (text) => createHmac('sha256', key).update(`text\n${text}`).digest('hex'),
    write: (head) => replaceFile(path, `${JSON.stringify({ ...head, signature: sign(head) })}\n`),
  };
}

function toSigned(text: string): z.infer<typeof Signed> | undefined {
  try {
    return Signed.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined; // not JSON
  }
}

const isSame = (one: string, other: string): boolean =>
  one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other));
